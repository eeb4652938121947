"""tenon.testing: what is close, what the errors say, and tensors for tests."""

import math
from importlib import import_module

import pytest
import tenon

CASES = {
    "values": ("[1.0, 2.0, 3.0]", "[1.0, 2.5, 3.0]"),
    "integers": ("[1, 2]", "[1, 3]"),
    "shapes": ("[1.0, 2.0]", "[1.0]"),
    "dtypes": ("[1.0]", "[1]"),
    "nan": ("[math.nan]", "[math.nan]"),
    "infinite": ("[1.0, math.inf]", "[1.0, 2.0]"),
    "zero": ("[1e-3]", "[0.0]"),
    "matrices": ("[[1.0, 2.0], [3.0, 4.0]]", "[[1.0, 2.0], [3.0, 5.0]]"),
    "booleans": ("[True]", "[False]"),
    "scalars": ("1.0", "2.0"),
}


def said(call, *arguments, **named):
    with pytest.raises((AssertionError, TypeError, ValueError)) as caught:
        call(*arguments, **named)
    return caught.type, str(caught.value)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("given", [{}, {"rtol": 0, "atol": 0}, {"rtol": 0.5, "atol": 0}], ids=str)
def test_tensors_are_compared_as_in_pytorch(case, given):
    torch = pytest.importorskip("torch")

    def outcome(library):
        actual, expected = (library.tensor(eval(text)) for text in CASES[case])
        try:
            import_module(f"{library.__name__}.testing").assert_close(actual, expected, **given)
        except AssertionError as error:
            return str(error).replace("torch.", "tenon.")
        return None

    assert outcome(tenon) == outcome(torch)


def test_numbers_sequences_and_mappings(lib):
    close = import_module(f"{lib.__name__}.testing").assert_close
    close([1, (2.0, None), {"a": True}], [1, (2.0 + 1e-9, None), {"a": True}])
    close(1, 1.0, check_dtype=False)
    close(math.nan, math.nan, equal_nan=True)
    close(lib.ones(2).numpy(), lib.ones(2).numpy())
    assert said(close, {"a": [1, 2]}, {"a": [1, 3]})[1].endswith("The failure occurred for item ['a'][1]")
    assert said(close, [1], [1, 2]) == (AssertionError, "The length of the sequences mismatch: 1 != 2")
    assert "Missing keys in the actual mapping: ['b']" in said(close, {"a": 1}, {"b": 1})[1]
    assert said(close, 1, 1.0) == (AssertionError, "The (d)types do not match: <class 'int'> != <class 'float'>.")
    assert said(close, None, 1) == (AssertionError, "None mismatch: None is not 1")
    assert said(close, 1.0, 1.1)[1].splitlines()[2] == "Expected 1.1 but got 1.0."
    assert said(close, "a", "a")[0] is TypeError
    assert said(close, 1, 2, rtol=1)[0] is ValueError


def test_a_message_may_be_given(lib):
    close = import_module(f"{lib.__name__}.testing").assert_close
    assert said(close, 1, 2, msg="no")[1] == "no"
    assert said(close, 1, 2, msg=lambda text: text.splitlines()[0] + "?")[1] == "Scalars are not equal!?"


def test_strides_devices_and_subclasses(lib):
    close = import_module(f"{lib.__name__}.testing").assert_close
    close(lib.ones(2, 3).t(), lib.ones(3, 2))
    assert "attribute 'stride()'" in said(close, lib.ones(2, 3).t(), lib.ones(3, 2), check_stride=True)[1]
    close(lib.nn.Parameter(lib.ones(2)), lib.ones(2))
    assert said(close, lib.nn.Parameter(lib.ones(2)), lib.ones(2), allow_subclasses=False)[0] is TypeError


DTYPES = ["float32", "float64", "float16", "bfloat16", "complex64", "int64", "int8", "uint8", "bool"]


@pytest.mark.parametrize("name", DTYPES)
def test_make_tensor(lib, name):
    make, dtype = import_module(f"{lib.__name__}.testing").make_tensor, getattr(lib, name)
    lib.manual_seed(0)
    x = make((30, 40), dtype=dtype, device="cpu")
    assert x.dtype is dtype and x.shape == (30, 40) and x.is_contiguous()
    real = lib.view_as_real(x) if dtype.is_complex else x
    low, high = (0, 2) if name == "bool" else (0, 9) if name == "uint8" else (-9, 9)
    assert real.double().min() >= low and real.double().max() <= high
    assert real.double().max() - real.double().min() > 0.8 * (high - low - 1)
    if name != "bool":
        narrow = make(100, low=1, high=3, dtype=dtype, device="cpu")
        narrow = (lib.view_as_real(narrow) if dtype.is_complex else narrow).double()
        assert narrow.min() >= 1 and narrow.max() <= 3
        assert (make(500, low=0, high=2, dtype=dtype, device="cpu", exclude_zero=True) != 0).all()
    assert not make(3, 4, dtype=dtype, device="cpu", noncontiguous=True).is_contiguous()
    differentiable = dtype.is_floating_point or dtype.is_complex
    if differentiable:
        assert make((), dtype=dtype, device="cpu", requires_grad=True).requires_grad
    else:
        assert said(make, 2, dtype=dtype, device="cpu", requires_grad=True)[0] is ValueError
