"""Messages that say which argument is wrong; beside PyTorch where it is installed."""

import pytest


def test_an_element_of_a_list_that_is_no_tensor_is_named(lib):
    for items, place, kind in (([None], 1, "NoneType"), ([3], 1, "int"), ([lib.ones(1), "a"], 2, "str")):
        with pytest.raises(TypeError, match=f"expected Tensor as element {place} in argument 0, but got {kind}"):
            lib.cat([lib.ones(1), *items])


def test_absolute_values_in_place_of_complex_numbers(lib):
    z = lib.tensor([3 + 4j])
    with pytest.raises(RuntimeError, match="In-place abs is not supported for complex tensors."):
        z.abs_()
    assert z.tolist() == [3 + 4j] and z.abs().tolist() == [5]


def test_out_of_another_dtype(lib):
    x = lib.ones(2, dtype=lib.float64)
    for name in ("complex", "polar"):
        message = "Expected object of scalar type ComplexDouble but got scalar type ComplexFloat for argument 'out'"
        with pytest.raises(RuntimeError, match=message):
            getattr(lib, name)(x, x, out=lib.empty(2, dtype=lib.complex64))
        with pytest.raises(NotImplementedError, match="Expected both inputs to be Half, Float or Double"):
            getattr(lib, name)(x, x.int())
        out = lib.empty(0, dtype=lib.complex128)
        assert getattr(lib, name)(x, x, out=out) is out and out.tolist() == getattr(lib, name)(x, x).tolist()
    with pytest.raises(RuntimeError, match="multinomial expects Long tensor out, got: Double"):
        lib.multinomial(x, 1, out=x.clone())
    out = lib.empty(0, dtype=lib.int64)
    assert lib.multinomial(lib.tensor([0.0, 1.0]), 3, True, out=out) is out and out.tolist() == [1, 1, 1]


def test_weights_of_draws_with_replacement(lib):
    for weights, what in (([1, -1.0], "< 0"), ([1, float("inf")], "= infinity or NaN"), ([1, float("nan")], "< 0")):
        with pytest.raises(
            RuntimeError, match=f"invalid multinomial distribution .encountering probability entry {what}"
        ):
            lib.multinomial(lib.tensor(weights), 2, True)


def test_multi_margin_loss(lib):
    loss, x, y = lib.nn.functional.multi_margin_loss, lib.ones(3, 4), lib.tensor([1, 0, 3])
    for error, text, call in (
        (ValueError, "only p == 1 and p == 2 supported", lambda: loss(x, y, p=3)),
        (ValueError, "weight must be one-dimensional", lambda: loss(x, y, weight=lib.ones(2, 2))),
        (RuntimeError, r"inconsistent weight size, expected 4 but got \[3\]", lambda: loss(x, y, weight=lib.ones(3))),
        (RuntimeError, r"Expected target size \[3\], but got \[2\]", lambda: loss(x, y[:2])),
        (RuntimeError, "expected scalar type Long but found Float", lambda: loss(x, y.float())),
        (RuntimeError, r"start \(0\) \+ length \(-1\) exceeds dimension size \(3\)", lambda: x.narrow_copy(0, 0, -1)),
    ):
        with pytest.raises(error, match=text):
            call()
