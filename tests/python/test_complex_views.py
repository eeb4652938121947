"""Views of complex numbers as real ones and of pairs of real numbers as complex ones; beside PyTorch where it is installed."""

import pytest
import tenon

# What is done to x, a tensor with history, and what comes of it. Complex: z, [2, 3].
OF_COMPLEX = {
    "the base changes": lambda lib, z: change(z, lambda v: lib.view_as_real(v), lambda z, v: z.mul_(2 + 1j)),
    "the base changes, select": lambda lib, z: change(z, lambda v: v.imag, lambda z, v: z.mul_(z.clone())),
    "a part of the base changes": lambda lib, z: change(z, lambda v: v.real, lambda z, v: z[:, 1].mul_(1j)),
    "the view changes": lambda lib, z: change(z, lambda v: lib.view_as_real(v), lambda z, v: v.mul_(3)),
    "a view of the view changes": lambda lib, z: change(
        z, lambda v: lib.view_as_real(v)[..., 0], lambda z, v: v.mul_(v.clone())
    ),
    "a saved result": lambda lib, z: change(z, lambda v: v.real, lambda z, v: v.exp_()),
    "zeros": lambda lib, z: change(z, lambda v: v.real, lambda z, v: v.zero_()),
    "one view from another": lambda lib, z: change(z, lambda v: v.real, lambda z, v: v.mul_(z.imag.clone())),
    "a row": lambda lib, z: change(z, lambda v: v[1].imag, lambda z, v: v.copy_(z[0].real * 2)),
    "a transposed base": lambda lib, z: change(z.t().clone(), lambda v: v.t()[:, ::2].imag, lambda z, v: v.mul_(5)),
    "there and back": lambda lib, z: change(
        z, lambda v: lib.view_as_complex(lib.view_as_real(v)[1]), lambda z, v: v.mul_(1j)
    ),
}
# Real: x, [3, 2].
OF_PAIRS = {
    "the base changes": lambda lib, x: change(x, lib.view_as_complex, lambda x, v: x.mul_(x.clone())),
    "the view changes": lambda lib, x: change(x, lib.view_as_complex, lambda x, v: v.mul_(2j)),
    "a view of the view changes": lambda lib, x: change(
        x, lambda v: lib.view_as_complex(v)[1:], lambda x, v: v.mul_(v.clone())
    ),
    "a part of the base": lambda lib, x: change(x, lambda v: lib.view_as_complex(v[1:]), lambda x, v: x[:, 0].exp_()),
    "its imaginary part": lambda lib, x: change(x, lambda v: lib.view_as_complex(v).imag, lambda x, v: v.exp_()),
}


def change(base, view, step):
    early = view(base)
    step(base, early)
    return base * base, early * 2, view(base)


def sample(lib, sizes, dtype):
    count = 2 * 3 * (2 if dtype.is_complex else 1)
    numbers = (lib.arange(1.0, count + 1, dtype=lib.float64) * 0.7).sin()
    numbers = lib.view_as_complex(numbers.view(*sizes, 2)) if dtype.is_complex else numbers.view(sizes)
    return numbers.clone().requires_grad_()


@pytest.mark.parametrize("name", OF_COMPLEX)
def test_gradients_of_real_views(lib, name):
    check_gradients(lib, OF_COMPLEX[name], sample(lib, (2, 3), lib.complex128))


@pytest.mark.parametrize("name", OF_PAIRS)
def test_gradients_of_complex_views(lib, name):
    check_gradients(lib, OF_PAIRS[name], sample(lib, (3, 2), lib.float64))


def check_gradients(lib, run, x):
    def f(x):
        return run(lib, x * 1)

    assert lib.autograd.gradcheck(f, x, check_forward_ad=True)
    assert lib.autograd.gradgradcheck(f, x)


def test_real_and_imag_are_views(lib):
    x = lib.ones(2)
    assert x.real is x and lib.real(x) is x
    for imag in (lambda: x.imag, lambda: lib.imag(x)):
        with pytest.raises(TypeError, match="imag is not implemented for tensors with non-complex dtypes"):
            imag()
    z = lib.tensor([[1 + 2j, 3 - 1j]], dtype=lib.complex64).t()
    for number, part in enumerate((z.real, z.imag)):
        assert part._is_view() and part._base is z._base and part.dtype == lib.float32
        assert part.shape == (2, 1) and part.stride() == (2, 4) and part.storage_offset() == number
        assert part._version == z._version
    pairs = lib.view_as_real(z)
    assert pairs.shape == (2, 1, 2) and pairs.stride() == (2, 4, 1) and pairs.data_ptr() == z.data_ptr()
    z.real.zero_()
    z.imag += 1
    assert z.tolist() == [[3j], [0j]]
    z.real = 5
    z.imag = lib.tensor([[7.0], [8.0]])
    assert z.tolist() == [[5 + 7j], [5 + 8j]]
    x.real = lib.zeros(2)
    assert x.tolist() == [0, 0]
    with pytest.raises(TypeError):
        z.real = "a"
    with pytest.raises(TypeError):
        z.imag = None
    if lib is tenon:  # which ends the process in PyTorch
        with pytest.raises(TypeError, match="does not support deleting imag"):
            del z.imag


def test_a_change_of_a_part_of_complex_numbers(lib):
    w = lib.tensor([1 + 2j, 3 - 1j], dtype=lib.complex128, requires_grad=True)
    z = w * 1
    z.imag += 1
    z.real.mul_(3)
    assert z.tolist() == [3 + 3j, 9 + 0j]
    assert lib.autograd.grad(z.real.sum(), w, retain_graph=True)[0].tolist() == [3, 3]
    assert lib.autograd.grad(z.imag.sum(), w)[0].tolist() == [1j, 1j]


def names(node):
    found = []
    while node is not None:
        # Which overload of an operator has which number is each library's own affair.
        found.append(node.name().split("::")[-1].replace("MulBackward1", "MulBackward0"))
        node = node.next_functions[0][0] if node.next_functions else None
    return found


def test_the_graph_of_a_view_is_made_again(lib):
    x = lib.ones(2, 2, requires_grad=True)
    z = lib.view_as_complex(x) * 1
    part, pairs = z.imag, lib.view_as_real(z)
    assert names(part.grad_fn)[:3] == ["SelectBackward0", "ViewAsRealBackward0", "MulBackward0"]
    z.mul_(2)
    rest = ["MulBackward0", "MulBackward0", "ViewAsComplexBackward0", "AccumulateGrad"]
    assert names(part.grad_fn) == ["AsStridedBackward0", "ViewAsRealBackward0", *rest]
    assert names(pairs.grad_fn) == ["ViewAsRealBackward0", *rest]
    part.mul_(2)
    assert names(z.grad_fn) == ["CopySlices", *rest]
    assert names(part.grad_fn)[:3] == ["AsStridedBackward0", "ViewAsRealBackward0", "CopySlices"]
    y = x * 1
    numbers = lib.view_as_complex(y)
    with lib.no_grad():
        y.mul_(1)
    y.mul_(2)
    with lib.inference_mode() if lib is tenon else lib.no_grad():  # the former is an internal error of PyTorch's
        assert names(numbers.grad_fn) == ["ViewAsComplexBackward0", "MulBackward0", "MulBackward0", "AccumulateGrad"]


def test_a_base_comes_to_require_grad_through_a_part(lib):
    w = lib.ones(2, dtype=lib.float64, requires_grad=True)
    z = lib.zeros(2, dtype=lib.complex128)
    early = z.imag
    assert not early.requires_grad
    z.real.add_(w)
    assert z.requires_grad and early.requires_grad
    assert lib.autograd.grad((z * (2 + 1j)).imag.sum(), w)[0].tolist() == [1, 1]


def test_rules_for_changes_in_place_hold_for_parts(lib):
    z = lib.ones(2, dtype=lib.complex64, requires_grad=True)
    with pytest.raises(
        RuntimeError, match="a view of a leaf Variable that requires grad is being used in an in-place operation"
    ):
        z.real.zero_()
    y = z * 1
    with pytest.raises(
        RuntimeError,
        match="is a view and is being modified inplace|is the output of a function that returns multiple views",
    ):
        lib.view_as_real(y).unbind(-1)[0].mul_(2)
    with lib.no_grad():
        part = y.imag
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode"):
        part.mul_(2)
    part, saved = y.real, y.real * y.real
    y.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        saved.sum().backward()


def test_what_cannot_be_seen_as_pairs(lib):
    ones = lib.ones
    with pytest.raises(TypeError, match="view_as_real is only supported for complex tensors"):
        lib.view_as_real(ones(2))
    with pytest.raises(NotImplementedError, match="but got a tensor of scalar type: Int"):
        lib.view_as_complex(ones(2, dtype=lib.int32))
    for x, message in {
        "must have one or more dimensions": ones(()),
        "must have a last dimension of size 2": ones(2, 3),
        "must have a last dimension with stride 1": ones(2, 4)[:, ::2],
        "must have a stride divisible by 2 for all but last dimension": ones(3, 3)[:, :2],
        "must have a storage_offset divisible by 2": ones(9)[1:].view(4, 2),
    }.items():
        with pytest.raises(RuntimeError, match=x):
            lib.view_as_complex(message)


def test_parts_of_meta_tensors(lib):
    z = lib.empty(2, 3, dtype=lib.complex64, device="meta")
    assert z.imag.device.type == "meta" and z.imag.stride() == (6, 2) and z.imag.storage_offset() == 1
    assert lib.view_as_complex(lib.view_as_real(z)).stride() == (3, 1) and lib.angle(z).dtype == lib.float32


def test_forward_mode_of_parts_in_place(lib):
    fwd = lib.autograd.forward_ad
    z = lib.tensor([1 + 2j, 3 - 1j], dtype=lib.complex128)
    with fwd.dual_level():
        dual = fwd.make_dual(z.clone(), lib.tensor([1j, 2 + 0j], dtype=lib.complex128))
        part = dual.imag
        part.mul_(3)
        assert fwd.unpack_dual(dual).tangent.tolist() == [3j, 2]
        dual.mul_(1j)
        assert fwd.unpack_dual(part).tangent.tolist() == [0, 2]
        plain = lib.zeros(2, dtype=lib.complex128)
        plain.real.copy_(fwd.make_dual(lib.ones(2, dtype=lib.float64), lib.full((2,), 4.0, dtype=lib.float64)))
        assert fwd.unpack_dual(plain).tangent.tolist() == [4, 4]


def test_a_split_part_is_a_tensor_of_its_own(lib):
    """unsafe_split and its like: parts may be changed in place where those of split() must not be."""
    x = lib.arange(4.0, requires_grad=True)
    for split in (
        lambda t: lib.unsafe_split(t, 2),
        lambda t: t.unsafe_split_with_sizes([1, 3]),
        lambda t: lib.unsafe_chunk(t, 2),
    ):
        y = x * 1
        first, second = split(y)
        assert (
            not first._is_view() and first.data_ptr() == y.data_ptr() and first.grad_fn.name().startswith("UnsafeSplit")
        )
        first.mul_(5)
        assert first._version == 1 and y._version == 0 and second._version == 0
        expected = [5] * len(first) + [1] * len(second)
        assert lib.autograd.grad(first.sum() + second.sum(), x)[0].tolist() == expected
    for split in (lambda t: lib.split(t, 2), lambda t: t.chunk(2)):
        with pytest.raises(RuntimeError, match="the output of a function that returns multiple views"):
            split(x * 1)[0].mul_(5)
    assert lib.autograd.grad(lib.unsafe_split(x * 1, 3)[1].sum(), x)[0].tolist() == [0, 0, 0, 1]
    for wrong in (
        lambda: lib.unsafe_split(x, -1),
        lambda: lib.unsafe_split_with_sizes(x, [1, 2]),
        lambda: lib.unsafe_chunk(x, 0),
    ):
        with pytest.raises(RuntimeError, match="non-negative|sum exactly to 4|greater than 0, got: 0"):
            wrong()
