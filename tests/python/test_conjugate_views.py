"""Views with a conjugate or negative bit; beside PyTorch where it is installed."""

import copy
import io
import pickle

import pytest
import tenon


def numbers(lib, dtype=None):
    return lib.tensor([[1 + 2j, 3 - 1j, 0.5j], [-2 + 1j, 4, 1 - 1j]], dtype=dtype or lib.complex128)


CONJUGATES = [[1 - 2j, 3 + 1j, -0.5j], [-2 - 1j, 4, 1 + 1j]]


def test_conj_is_a_view_with_a_bit(lib):
    z = numbers(lib)
    c = z.conj()
    assert c.is_conj() and lib.is_conj(c) and not z.is_conj() and not c.is_neg()
    assert c._is_view() and c._base is z and c.data_ptr() == z.data_ptr() and c.stride() == z.stride()
    assert c.tolist() == CONJUGATES and c[0, 1].item() == 3 + 1j
    back = c.conj()
    assert not back.is_conj() and back.data_ptr() == z.data_ptr() and lib.equal(back, z)
    assert lib.ones(2).conj().is_conj() is False
    x = lib.ones(2)
    assert x.conj() is x or x.conj().data_ptr() == x.data_ptr()
    assert lib.conj_physical(x).data_ptr() == x.data_ptr()
    assert not lib.conj_physical(z).is_conj() and lib.conj_physical(z).tolist() == CONJUGATES


def test_views_keep_the_bit(lib):
    c = numbers(lib).conj()
    views = {
        "t": lambda t: t.t(),
        "mT": lambda t: t.mT,
        "row": lambda t: t[1],
        "slice": lambda t: t[:, ::2],
        "reshape": lambda t: t.reshape(6),
        "expand": lambda t: t.unsqueeze(0).expand(2, 2, 3),
        "as_strided": lambda t: t.as_strided((2,), (3,), 1),
        "detach": lambda t: t.detach(),
        "contiguous": lambda t: t.contiguous(),
        "to": lambda t: t.to(t.dtype),
        "unbind": lambda t: t.unbind(0)[1],
        "view_as": lambda t: t.view(3, 2),
        "diagonal": lambda t: t.diagonal(),
        "narrow": lambda t: t.narrow(1, 1, 2),
        "select": lambda t: t.select(1, 2),
    }
    for name, view in views.items():
        found, plain = view(c), view(c.resolve_conj())
        assert found.is_conj(), name
        assert found.data_ptr() >= c.data_ptr() and found.untyped_storage().data_ptr() == c.data_ptr(), name
        assert found.tolist() == plain.tolist(), name


def test_mH_and_adjoint(lib):
    z = numbers(lib)
    for h in (z.mH, z.H, z.adjoint(), lib.adjoint(z)):
        assert h.is_conj() and h.data_ptr() == z.data_ptr() and h.shape == (3, 2)
        assert h.tolist() == [[1 - 2j, -2 - 1j], [3 + 1j, 4], [-0.5j, 1 + 1j]]


def test_real_and_imag_of_a_conjugate_view(lib):
    z = numbers(lib)
    c = z.conj()
    assert not c.real.is_neg() and c.real.data_ptr() == z.data_ptr() and c.real.tolist() == z.real.tolist()
    imag = c.imag
    assert imag.is_neg() and lib.is_neg(imag) and not imag.is_conj()
    assert imag.data_ptr() == z.imag.data_ptr() and imag.tolist() == (-z.imag).tolist()
    assert (imag + 1).tolist() == (1 - z.imag).tolist() and not (imag + 1).is_neg()
    plain = imag.resolve_neg()
    assert not plain.is_neg() and plain.data_ptr() != z.imag.data_ptr() and lib.equal(plain, imag)
    imag.mul_(2)
    assert z.tolist() == [[1 + 4j, 3 - 2j, 1j], [-2 + 2j, 4, 1 - 2j]]
    c.imag = 1
    assert z.imag.tolist() == [[-1] * 3] * 2


def test_neg_view(lib):
    x = lib.tensor([1.5, -2.0, 0.0])
    n = lib._neg_view(x)
    assert n.is_neg() and n.data_ptr() == x.data_ptr() and n.tolist() == [-1.5, 2.0, 0.0]
    assert lib._neg_view(n).is_neg() is False and lib._neg_view(n).tolist() == x.tolist()
    n.add_(1)
    assert n.tolist() == [-0.5, 3.0, 1.0] and x.tolist() == [0.5, -3.0, -1.0]
    i = lib._neg_view(lib.tensor([3, -4]))
    assert i.tolist() == [-3, 4] and repr(i) == "tensor([-3,  4])" and i.sum().item() == 1
    both = lib._neg_view(numbers(lib).conj())
    assert both.is_neg() and both.is_conj() and (both + 0).tolist() == (-numbers(lib).conj_physical()).tolist()
    assert both.resolve_conj().is_neg() is False and lib.equal(both.clone(), both)


OPERATORS = {
    "add": lambda lib, a, b: a + b,
    "mul": lambda lib, a, b: a * b,
    "rsub": lambda lib, a, b: 1 - a,
    "mm": lambda lib, a, b: a @ b.mT,
    "mm of adjoints": lambda lib, a, b: a.mH @ b,
    "addmm": lambda lib, a, b: lib.addmm(b.mT @ b, a.mH, b),
    "bmm": lambda lib, a, b: lib.bmm(a.unsqueeze(0), b.mT.unsqueeze(0)),
    "mv": lambda lib, a, b: a @ b[0],
    "dot": lambda lib, a, b: lib.dot(a[0], b[1]),
    "vdot": lambda lib, a, b: lib.vdot(a[0], b[1]),
    "einsum": lambda lib, a, b: lib.einsum("ij,kj->ik", a, b),
    "sum": lambda lib, a, b: a.sum(1),
    "prod": lambda lib, a, b: a.prod(0),
    "abs": lambda lib, a, b: a.abs(),
    "exp": lambda lib, a, b: a.exp(),
    "cat": lambda lib, a, b: lib.cat([a, b]),
    "stack": lambda lib, a, b: lib.stack([b, a]),
    "index": lambda lib, a, b: a[lib.tensor([1, 0])],
    "where": lambda lib, a, b: lib.where(a.real > 0, a, b),
    "eq": lambda lib, a, b: a == b,
    "fft": lambda lib, a, b: lib.fft.fft(a),
    "inv": lambda lib, a, b: lib.linalg.inv(a[:, :2]),
    "angle": lambda lib, a, b: a.angle(),
    "complex64": lambda lib, a, b: a.to(lib.complex64),
    "float": lambda lib, a, b: a.real.float(),
    "zeros_like": lambda lib, a, b: lib.zeros_like(a),
    "flip": lambda lib, a, b: a.flip(0),
    "cumsum": lambda lib, a, b: a.cumsum(1),
    "out": lambda lib, a, b: lib.add(a, b, out=lib.empty(2, 3, dtype=a.dtype)),
    "foreach": lambda lib, a, b: lib._foreach_add([a, b], 1)[0],
}


@pytest.mark.parametrize("name", OPERATORS)
def test_operators_compute_with_the_conjugates(lib, name):
    run, z = OPERATORS[name], numbers(lib)
    w = z * (0.5 + 1j)
    for a, b in ((z.conj(), w), (w, z.conj()), (z.conj(), w.conj()), (lib._neg_view(z), w.conj())):
        found, wanted = run(lib, a, b), run(lib, a.clone(), b.clone())
        assert found.shape == wanted.shape
        assert lib.allclose(found, wanted) and found.dtype == wanted.dtype


def test_a_view_is_written_through(lib):
    z = numbers(lib)
    c, version = z.conj(), z._version
    assert c.mul_(1j) is c
    assert c.is_conj() and z._version > version
    assert c.tolist() == [[v * 1j for v in row] for row in CONJUGATES]
    assert z.conj_physical().tolist() == c.tolist()
    c.zero_()
    assert z.abs().sum() == 0
    c.copy_(numbers(lib))
    assert z.tolist() == CONJUGATES
    c[0] = 2 + 1j
    assert z[0].tolist() == [2 - 1j] * 3
    c.fill_(1j)
    assert z.tolist() == [[-1j] * 3] * 2
    z.copy_(numbers(lib))
    z.copy_(z.conj())
    assert z.tolist() == CONJUGATES
    real = lib.zeros(2, 3, dtype=lib.float64)
    real.copy_(z.conj().imag)
    assert real.tolist() == (-z.imag).tolist()
    lib.add(z.clone(), 1, out=z.conj())
    assert z.tolist() == [[v + 1 for v in row] for row in numbers(lib).tolist()]
    single = lib.empty(2, 3, dtype=lib.complex64).conj()
    single.copy_(numbers(lib))
    assert single.tolist() == numbers(lib).tolist() and single.conj().tolist() == CONJUGATES
    one_row = lib.empty(2, 3, dtype=lib.complex128)
    one_row.copy_(numbers(lib)[0].conj())
    assert one_row.tolist() == [CONJUGATES[0]] * 2


# What is done to z, a tensor with history, and what comes of it.
CHANGES = {
    "no change": lambda lib, z: z.conj() * z.imag,
    "of a view": lambda lib, z: z.t().conj()[1] * 2,
    "imag": lambda lib, z: z.conj().imag * z.conj().real,
    "mm": lambda lib, z: z @ z.mH,
    "neg": lambda lib, z: lib._neg_view(z) * z.conj(),
    "the view changes": lambda lib, z: change(z, lambda v: v.conj(), lambda z, v: v.mul_(2 + 1j)),
    "the base changes": lambda lib, z: change(z, lambda v: v.conj(), lambda z, v: z.mul_(z.clone())),
    "a part of the view": lambda lib, z: change(z, lambda v: v.conj()[1], lambda z, v: v.mul_(v.clone())),
    "imag changes": lambda lib, z: change(z, lambda v: v.conj().imag, lambda z, v: v.mul_(v.clone())),
    "a saved result": lambda lib, z: change(z, lambda v: v.conj(), lambda z, v: v.exp_()),
    "zeros": lambda lib, z: change(z, lambda v: v[0].conj(), lambda z, v: v.zero_()),
    "copy": lambda lib, z: change(z, lambda v: v.mH, lambda z, v: v.copy_(z.clone().mT * 2j)),
}


def change(base, view, step):
    early = view(base)
    step(base, early)
    return base * base, early * 2, view(base)


@pytest.mark.parametrize("name", CHANGES)
def test_gradients(lib, name):
    z = numbers(lib).requires_grad_()
    assert lib.autograd.gradcheck(lambda z: CHANGES[name](lib, z * 1), z, check_forward_ad=True)
    assert lib.autograd.gradgradcheck(lambda z: CHANGES[name](lib, z * 1), z)


@pytest.mark.parametrize("name", CHANGES)
def test_gradients_of_a_base_with_bits(lib, name):
    z = numbers(lib).conj().detach().requires_grad_()
    assert lib.autograd.gradcheck(lambda z: CHANGES[name](lib, z.conj() * 1), z)


def test_gradients_are_those_of_pytorch(lib):
    z = numbers(lib).requires_grad_()
    (z.conj() * lib.arange(6.0).view(2, 3)).backward(lib.ones(2, 3, dtype=lib.complex128))
    assert z.grad.tolist() == lib.arange(6.0).view(2, 3).to(lib.complex128).tolist()
    w = numbers(lib).requires_grad_()
    w.conj().backward(numbers(lib))
    assert w.grad.tolist() == CONJUGATES
    assert [type(f).__name__ for f in (w.conj().grad_fn, lib._neg_view(w).grad_fn)] == [
        "ConjBackward0",
        "NegViewBackward0",
    ]


def test_vmap(lib):
    z = numbers(lib)
    seen = []

    def f(row):
        c = row.conj()
        # PyTorch has no rule for the imaginary part.
        imag = c.imag if lib is tenon else c.resolve_conj().imag
        seen.append(c.is_conj())
        return c * row, imag, c

    product, imag, c = lib.func.vmap(f)(z)
    assert seen == [True]
    assert product.tolist() == (z * z.conj_physical()).tolist() and imag.tolist() == (-z.imag).tolist()
    assert c.tolist() == CONJUGATES


def test_refusals(lib):
    z = numbers(lib)
    c, n = z.conj(), z.conj().imag
    for error, text, call in (
        (RuntimeError, "view_as_real doesn't work on unresolved conjugated tensors", lambda: lib.view_as_real(c)),
        (RuntimeError, r"conjugate bit set. Use tensor.resolve_conj\(\).numpy\(\) instead", c.numpy),
        (RuntimeError, r"negative bit set. Use tensor.resolve_neg\(\).numpy\(\) instead", n.numpy),
        (RuntimeError, "not supported for conjugate view tensors when", lambda: c.view(lib.float64)),
        (RuntimeError, "not supported for tensors with negative bit set when", lambda: n.view(lib.int64)),
        (BufferError, "Can't export tensors with the conjugate bit set", c.__dlpack__),
    ):
        with pytest.raises(error, match=text):
            call()
    assert c.numpy(force=True).tolist() == CONJUGATES
    assert lib.view_as_real(c.resolve_conj())[0, 0].tolist() == [1, -2]


def test_texts(lib):
    z = lib.tensor([1 + 2j, 3 - 1j])
    assert repr(z.conj()) == repr(z.conj().clone()) == "tensor([1.-2.j, 3.+1.j])"
    assert repr(z.conj().imag) == "tensor([-2.,  1.])"


def test_copies_keep_values(lib):
    c = numbers(lib).conj()
    saved = io.BytesIO()
    lib.save({"c": c, "base": c.conj()}, saved)
    saved.seek(0)
    loaded = lib.load(saved)
    assert loaded["c"].is_conj() and loaded["c"].tolist() == CONJUGATES
    assert loaded["c"].data_ptr() == loaded["base"].data_ptr()
    imag = io.BytesIO()
    lib.save(c.imag, imag)
    imag.seek(0)
    assert lib.load(imag).is_neg() is True
    imag.seek(0)
    assert lib.load(imag).tolist() == c.imag.tolist()
    for t in (c, c.imag):
        for again in (pickle.loads(pickle.dumps(t)), copy.deepcopy(t)):
            assert again.tolist() == t.tolist()


def test_files_of_the_other_library():
    torch = pytest.importorskip("torch")
    for write, read in ((tenon, torch), (torch, tenon)):
        c = numbers(write).conj()
        file = io.BytesIO()
        write.save([c, numbers(write).conj().imag, c.conj()], file)
        file.seek(0)
        conj, imag, base = read.load(file)
        assert conj.is_conj() and imag.is_neg() and not base.is_conj()
        assert conj.tolist() == CONJUGATES and imag.tolist() == c.imag.tolist()
        assert conj.data_ptr() == base.data_ptr()


ROWS = {
    "softmax": lambda lib, x, y: lib.softmax(x, 1) * y,
    "log_softmax": lambda lib, x, y: x.log_softmax(0) * y,
    "layer_norm": lambda lib, x, y: lib.nn.functional.layer_norm(x, (3,), y[0], y[1]),
    "mse_loss": lambda lib, x, y: lib.nn.functional.mse_loss(x, y),
    "logsumexp": lambda lib, x, y: x.logsumexp(1),
    "var_mean": lambda lib, x, y: lib.stack(lib.var_mean(x * y, 1)),
    "exp": lambda lib, x, y: x.exp() * y,
    "where": lambda lib, x, y: lib.where(x > y, x, y),
    "norm": lambda lib, x, y: x.norm() + y.norm(),
    "max": lambda lib, x, y: lib.stack([x.amax(1), y.amin(1)]),
}


@pytest.mark.parametrize("name", ROWS)
def test_kernels_of_gradients_get_no_views_with_bits(lib, name):
    run, grads = ROWS[name], []
    for view in (lambda t: t.conj().imag, lambda t: -t.imag):
        z = numbers(lib).requires_grad_()
        result = run(lib, view(z), view(z.flip(0)) * 0.5)
        # Its gradient has a negative bit too.
        weights = lib._neg_view(lib.arange(1.0, 1 + result.numel(), dtype=lib.float64).view(result.shape))
        grads += lib.autograd.grad(result, z, weights)
    assert lib.allclose(*grads)


def test_what_a_view_shows_is_changed(lib):
    for change in (
        lambda t: t.t_(),
        lambda t: t.transpose_(0, 1),
        lambda t: t.unsqueeze_(0),
        lambda t: t.as_strided_((2, 2), (1, 2)),
        lambda t: t.resize_(2, 2),
        lambda t: t.resize_as_(lib.empty(1, 3)),
    ):
        z = numbers(lib)
        c, wanted = z.conj(), z.conj_physical()
        assert change(c) is c
        change(wanted)
        assert c.is_conj() and c.data_ptr() == z.data_ptr()
        assert c.shape == wanted.shape and c.tolist() == wanted.tolist()


def test_numbers_from_negative_views():
    lib = tenon  # PyTorch reads the numbers in memory
    x = lib.arange(6.0)
    indices = lib._neg_view(lib.tensor([-2, -3]))
    assert [part.tolist() for part in x.tensor_split(indices)] == [[0, 1], [2], [3, 4, 5]]
    assert (
        x[indices].tolist() == [2, 3]
        and x.repeat_interleave(lib._neg_view(lib.tensor([-1] * 6))).tolist() == x.tolist()
    )
    assert float(lib._neg_view(lib.tensor(2.5))) == -2.5 and [1, 2, 3][lib._neg_view(lib.tensor(-2))] == 3
    assert (1 - 2j) in numbers(lib).conj()
