"""Errors and warnings that programs look at: their classes and words are PyTorch's."""

import warnings

import numpy as np
import pytest


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda lib: lib.frombuffer([1, 2], dtype=lib.int32), ValueError, "does not implement Python buffer protocol"),
        (
            lambda lib: lib.frombuffer(bytearray(), dtype=lib.int32),
            ValueError,
            r"both buffer length \(0\) and count \(-1\)",
        ),
        (
            lambda lib: lib.frombuffer(bytearray(4), dtype=lib.int32, count=0),
            ValueError,
            r"and count \(0\) must not be 0",
        ),
        (
            lambda lib: lib.frombuffer(bytearray(4), dtype=lib.int32, count=2),
            ValueError,
            r"requested buffer length \(2 \* 4 bytes",
        ),
        (
            lambda lib: lib.frombuffer(bytearray(4), dtype=lib.int32, offset=4),
            ValueError,
            r"offset \(4 bytes\) must be non-neg",
        ),
        (lambda lib: lib.frombuffer(bytearray(5), dtype=lib.int32), ValueError, "must be a multiple of element size"),
        (
            lambda lib: lib.nonzero(lib.ones(2), as_tuple=True, out=lib.empty(0)),
            RuntimeError,
            "does not support the out kwarg",
        ),
        (
            lambda lib: lib.nonzero(lib.ones(2), out=lib.empty(0)),
            RuntimeError,
            "to have scalar type Long but got scalar type",
        ),
        (
            lambda lib: lib.diff(lib.ones(2, 2), prepend=lib.ones(1)),
            RuntimeError,
            "diff expects prepend or append to be the same",
        ),
        (lambda lib: lib.logspace(0, 1j, 5, dtype=lib.float32), RuntimeError, r"torch.logspace\(\): inferred dtype"),
        (lambda lib: lib.einsum("", []), ValueError, "at least one operand"),
        (lambda lib: lib.einsum("i,j"), ValueError, "at least one operand"),
        (
            lambda lib: lib.promote_types(1, lib.int8),
            TypeError,
            r"argument 'type1' \(position 1\) must be torch.dtype, not int",
        ),
        (
            lambda lib: lib.promote_types(lib.int8, 1),
            TypeError,
            r"argument 'type2' \(position 2\) must be torch.dtype, not int",
        ),
        (
            lambda lib: lib.use_deterministic_algorithms(1),
            TypeError,
            r"argument 'mode' \(position 1\) must be bool, not int",
        ),
        (
            lambda lib: lib.ones(2).map_(lib.ones(2, requires_grad=True), max),
            RuntimeError,
            r"Can't call map_\(\) on Variable",
        ),
        (
            lambda lib: lib.linalg.vector_norm(lib.ones(0), float("inf")),
            RuntimeError,
            "cannot compute the inf norm on an empty",
        ),
        (
            lambda lib: lib.zeros(3, dtype=lib.int64).index_put_((lib.tensor([0, 1]),), lib.ones(3)),
            RuntimeError,
            "shape mismatch",
        ),
    ],
)
def test_errors(lib, call, error, words):
    with pytest.raises(error, match=words):
        call(lib)


_FUNCTIONS = ("vjp", "jvp", "vhp", "hvp", "jacobian", "hessian")


@pytest.mark.parametrize("name", _FUNCTIONS)
def test_derivatives_of_what_is_no_tensor(lib, name):
    function = getattr(lib.autograd.functional, name)
    x = lib.ones(2)
    given = () if name in ("jacobian", "hessian") else (x,)
    with pytest.raises(
        TypeError, match=f"The inputs given to {name} must be either a Tensor or a tuple of Tensors but the given"
    ):
        function(lambda x: x.sum(), 3, *given)
    with pytest.raises(
        TypeError, match=rf"The inputs given to {name} must be .* but the value at index 1 has type <class 'int'>"
    ):
        function(lambda x, y: x.sum(), (x, 3), *given)
    with pytest.raises(
        TypeError, match=f"The outputs of the user-provided function given to {name} must be either a Tensor"
    ):
        function(lambda x: 3, x, *given)


def test_derivatives_by_vmap_of_what_is_no_tensor(lib):
    with pytest.raises(TypeError, match="The outputs of the user-provided function given to jacobian must be either"):
        lib.autograd.functional.jacobian(lambda x: 3, lib.ones(2), vectorize=True)


def test_v_that_is_no_tensor(lib):
    with pytest.raises(TypeError, match="The v given to vjp must be either a Tensor"):
        lib.autograd.functional.vjp(lambda x: x, lib.ones(2), 3)


def _warnings_of(function):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function()
    return [str(warning.message) for warning in caught]


def test_a_resized_out_warns_unless_it_is_empty(lib):
    x = lib.ones(2, 3)
    for call in (
        lambda out: lib.add(x, x, out=out),
        lambda out: lib.mm(x, x.t(), out=out),
        lambda out: lib.sum(x, 0, out=out),
    ):
        assert any("was resized since it had shape [5]" in text for text in _warnings_of(lambda: call(lib.empty(5))))
        assert not _warnings_of(lambda: call(lib.empty(0)))


def test_memory_that_is_not_writable_warns(lib):
    array = np.arange(3)
    array.setflags(write=False)
    texts = _warnings_of(lambda: lib.frombuffer(b"abcd", dtype=lib.int32))
    # PyTorch says each once in a process.
    assert texts == [] or "The given buffer is not writable" in texts[0]
    texts = _warnings_of(lambda: lib.from_numpy(array))
    assert texts == [] or "The given NumPy array is not writable" in texts[0]


def test_the_old_order_of_embedding_bag(lib):
    weight, rows, offsets = lib.arange(6.0).view(3, 2), lib.tensor([1, 2]), lib.tensor([0])
    expected = lib.nn.functional.embedding_bag(rows, weight, offsets)
    texts = _warnings_of(lambda: lib.nn.functional.embedding_bag(weight, rows, offsets))
    assert "Argument order of nn.functional.embedding_bag was changed" in texts[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert lib.equal(lib.nn.functional.embedding_bag(weight, rows, offsets), expected)


def test_addr_takes_no_boolean_numbers(lib):
    x = lib.ones(2, 2)
    for name in ("beta", "alpha"):
        with pytest.raises(RuntimeError, match=f"Boolean {name} only supported for Boolean results."):
            lib.addr(x, x[0], x[1], **{name: True})


def test_lists_of_tensors_and_arrays_of_one_element(lib):
    assert lib.tensor([lib.tensor([1]), lib.tensor([[2]]), 3]).tolist() == [1, 2, 3]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mixed = lib.tensor(((7, np.array(5)), (np.array(9), 5.0)))
    assert mixed.dtype == lib.float32 and mixed.tolist() == [[7, 5], [9, 5]]
    loop = [0]
    loop.append(loop)
    with pytest.raises(TypeError, match="self-referential lists are incompatible"):
        lib.tensor(loop)


def test_integers_of_numpy(lib):
    assert lib.ones(2, dtype=lib.int64).numpy().dtype.type is np.int64
    assert lib.ones(2, dtype=lib.uint64).numpy().dtype.type is np.uint64


def test_small_concentrations_give_no_nan(lib):
    for dtype in (lib.float32, lib.float64):
        draws = lib.distributions.Beta(lib.tensor([1e-6], dtype=dtype), lib.tensor([1e-6], dtype=dtype)).sample((5,))
        assert bool(((draws > 0) & (draws <= 1)).all())


def test_gradients_of_gradients_of_non_contiguous_ones(lib):
    x = lib.tensor([0.3, 0.7], dtype=lib.float64, requires_grad=True)
    assert lib.autograd.gradgradcheck(lambda x: x.sin() * x, (x,), gen_non_contig_grad_outputs=True)
    assert lib.autograd.gradcheck(lambda x: x.sin() * x, (x,), check_forward_ad=True, check_batched_forward_grad=True)


def test_the_level_of_forward_mode(lib):
    forward_ad = lib.autograd.forward_ad
    assert forward_ad._current_level == -1
    with forward_ad.dual_level():
        assert forward_ad._current_level == 0
    assert forward_ad._current_level == -1


def test_casts_of_storages(lib):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        storage = lib.arange(3.0).storage()
        for name in ("double", "int", "long", "complex_float"):
            cast = getattr(storage, name)()
            assert (
                cast.tolist() == storage.tolist()
                and cast.dtype == getattr(lib.arange(3.0), name.replace("complex_", "c"))().dtype
            )
        with pytest.raises(NotImplementedError, match="Not available for 'meta' device type"):
            lib.ones(3, device="meta").storage()[0]


def test_a_closure_without_a_gradient_ends_lbfgs(lib):
    x = lib.zeros(2, requires_grad=True)
    optimizer = lib.optim.LBFGS([x])

    def closure():
        optimizer.zero_grad()
        loss = (x * 0).sum()
        loss.backward()
        return loss

    assert float(optimizer.step(closure)) == 0


def test_the_largest_of_empty_bags_is_differentiable(lib):
    weight = lib.arange(6.0).view(3, 2).requires_grad_()
    rows, offsets = lib.tensor([1, 1]), lib.tensor([0, 1])
    result = lib.nn.functional.embedding_bag(rows, weight, offsets, mode="max", padding_idx=1)
    result.sum().backward()
    assert result.tolist() == [[0, 0], [0, 0]] and weight.grad.tolist() == [[0, 0]] * 3


def test_rows_of_a_largest_norm_are_not_above_it(lib):
    lib.manual_seed(0)
    weight = lib.randn(50, 5)
    rows = lib.nn.functional.embedding(lib.arange(50), weight, max_norm=1.0)
    assert bool((rows.norm(dim=1) <= 1).all())
    with pytest.raises(RuntimeError, match="Expected idx >= 0 && idx < num_embeddings"):
        lib.nn.functional.embedding_bag(lib.tensor([50]), weight, lib.tensor([0]), mode="max")


def test_forward_jacobians_of_numbers(lib):
    x = lib.tensor(3.0)
    assert float(lib.autograd.functional.jacobian(lambda x: x * x, x, strategy="forward-mode", vectorize=True)) == 6
    with pytest.raises(RuntimeError, match="The given v should contain a single Tensor"):
        lib.autograd.functional.vjp(lambda x: x, lib.ones(2), (lib.ones(2), lib.ones(2)))
