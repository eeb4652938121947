"""What tests compare and make tensors with.

Example:

    tenon.testing.assert_close(actual, expected)
    x = tenon.testing.make_tensor((3, 4), dtype=tenon.float32, device="cpu", low=-1, high=1)
"""

import cmath
import collections.abc
import math
import numbers
import sys
import warnings

import tenon
from tenon import _C

__all__ = ["assert_allclose", "assert_close", "make_tensor"]

# Relative and absolute tolerance; of other dtypes none.
_TOLERANCES = {
    _C.float16: (1e-3, 1e-5),
    _C.bfloat16: (1.6e-2, 1e-5),
    _C.float32: (1.3e-6, 1e-5),
    _C.float64: (1e-7, 1e-7),
    _C.complex64: (1.3e-6, 1e-5),
    _C.complex128: (1e-7, 1e-7),
}
_NUMBERS = {bool: _C.bool, int: _C.int64, float: _C.float64, complex: _C.complex128}


class _Difference(Exception):
    """What differs, and where: the keys that lead to it."""

    def __init__(self, text, path=(), error=AssertionError):
        self.text, self.path, self.error = text, path, error

    def __str__(self):
        where = "".join(f"[{key!r}]" for key in self.path)
        return f"{self.text}\n\nThe failure occurred for item {where}" if where else self.text


class _Comparison:
    """How assert_close() compares."""

    def __init__(self, rtol, atol, equal_nan, allow_subclasses, check_device, check_dtype, check_layout, check_stride):
        if (rtol is None) != (atol is None):
            raise ValueError(
                "Both 'rtol' and 'atol' must be either specified or omitted, but got no "
                f"{'rtol' if rtol is None else 'atol'}."
            )
        for name, value in (("rtol", rtol), ("atol", atol)):
            if value is not None and not (isinstance(value, numbers.Real) and value >= 0):
                raise ValueError(f"assert_close(): {name} must be a number that is not negative, got {value!r}")
        self.rtol, self.atol, self.equal_nan, self.allow_subclasses = rtol, atol, equal_nan, allow_subclasses
        self.check_device, self.check_dtype = check_device, check_dtype
        self.check_layout, self.check_stride = check_layout, check_stride

    def tolerances(self, *dtypes):
        if self.rtol is not None:
            return self.rtol, self.atol
        known = [_TOLERANCES.get(dtype, (0.0, 0.0)) for dtype in dtypes]
        return max(rtol for rtol, _ in known), max(atol for _, atol in known)

    def compare(self, actual, expected, path):
        actual, expected = _number_of(actual), _number_of(expected)
        if actual is None or expected is None:
            if actual is not expected:
                raise _Difference(f"None mismatch: {actual} is not {expected}", path)
        elif _is_sequence(actual) and _is_sequence(expected):
            self.compare_sequences(actual, expected, path)
        elif isinstance(actual, collections.abc.Mapping) and isinstance(expected, collections.abc.Mapping):
            self.compare_mappings(actual, expected, path)
        elif isinstance(actual, bool) and isinstance(expected, bool):
            if actual is not expected:
                raise _Difference(f"Booleans mismatch: {actual} is not {expected}", path)
        elif isinstance(actual, tuple(_NUMBERS)) and isinstance(expected, tuple(_NUMBERS)):
            self.compare_numbers(actual, expected, path)
        elif self.may_be_tensors(actual, expected):
            self.compare_tensors(_as_tensor(actual), _as_tensor(expected), path)
        else:
            raise _Difference(
                f"No comparison pair was able to handle inputs of type {type(actual)} and {type(expected)}.",
                path,
                TypeError,
            )

    def may_be_tensors(self, actual, expected):
        related = isinstance(actual, type(expected)) or isinstance(expected, type(actual))
        if not self.allow_subclasses:
            related = type(actual) is type(expected)
        return related and (isinstance(actual, _C.Tensor) or _is_array(actual))

    def compare_sequences(self, actual, expected, path):
        if len(actual) != len(expected):
            raise _Difference(f"The length of the sequences mismatch: {len(actual)} != {len(expected)}", path)
        for i in range(len(actual)):
            self.compare(actual[i], expected[i], (*path, i))

    def compare_mappings(self, actual, expected, path):
        missing, additional = set(expected) - set(actual), set(actual) - set(expected)
        if missing or additional:
            raise _Difference(
                "The keys of the mappings do not match:\n"
                f"Missing keys in the actual mapping: {sorted(missing, key=str)}\n"
                f"Additional keys in the actual mapping: {sorted(additional, key=str)}",
                path,
            )
        for key in _sorted_keys(actual):
            self.compare(actual[key], expected[key], (*path, key))

    def compare_numbers(self, actual, expected, path):
        kinds = type(actual), type(expected)
        if self.check_dtype and kinds[0] is not kinds[1]:
            raise _Difference(f"The (d)types do not match: {kinds[0]} != {kinds[1]}.", path)
        rtol, atol = self.tolerances(*(_NUMBERS[next(k for k in _NUMBERS if issubclass(kind, k))] for kind in kinds))
        _raise_unless_close(actual, expected, rtol, atol, self.equal_nan, path)

    def compare_tensors(self, actual, expected, path, name="Tensor-likes"):
        self.compare_properties(actual, expected, path)
        if actual.is_meta:
            return
        rtol, atol = self.tolerances(actual.dtype, expected.dtype)
        actual, expected = actual.detach().to(expected.device), expected.detach()
        if actual.dtype != expected.dtype:
            dtype = _C.promote_types(actual.dtype, expected.dtype)
            actual, expected = actual.to(dtype), expected.to(dtype)
        if actual.layout != expected.layout:
            actual, expected = actual.to_dense(), expected.to_dense()
        if actual.layout != _C.strided:
            return self.compare_sparse(actual, expected, path)
        if _C.isclose(actual, expected, rtol=rtol, atol=atol, equal_nan=self.equal_nan).all():
            return
        if actual.dim() == 0:
            _raise_unless_close(actual.item(), expected.item(), rtol, atol, self.equal_nan, path)
        raise _Difference(_text_of_tensors(actual, expected, rtol, atol, self.equal_nan, name), path)

    def compare_sparse(self, actual, expected, path):
        """The parts of two sparse tensors of one layout: indices are equal, values close."""
        from tenon._sparse import names_of_parts, parts_of

        kind = str(actual.layout).rpartition("_")[2].upper()
        counts = {f"specified values in sparse {kind} tensors": lambda t: t._nnz()}
        if kind == "COO":
            counts = {"sparse dimensions in sparse COO tensors": lambda t: t.sparse_dim()} | counts
        for what, of in counts.items():
            if of(actual) != of(expected):
                raise _Difference(f"The number of {what} does not match: {of(actual)} != {of(expected)}", path)
        names = [f"Sparse {kind} {name}" for name in names_of_parts(actual)]
        (*indices, values), (*expected_indices, expected_values) = parts_of(actual), parts_of(expected)
        for name, mine, other in zip(names, indices, expected_indices):
            if not _C.equal(mine, other.to(mine.dtype)):
                raise _Difference(_text_of_tensors(mine, other, 0, 0, False, name), path)
        self.compare_tensors(values, expected_values, path, names[-1])

    def compare_properties(self, actual, expected, path):
        def check(name, of, wanted=True):
            if wanted and of(actual) != of(expected):
                raise _Difference(
                    f"The values for attribute '{name}' do not match: {of(actual)} != {of(expected)}.", path
                )

        check("shape", lambda t: t.shape)
        check("layout", lambda t: t.layout, self.check_layout)
        check("device", lambda t: t.device, self.check_device or actual.is_meta != expected.is_meta)
        check("dtype", lambda t: t.dtype, self.check_dtype)
        check("stride()", lambda t: t.stride(), self.check_stride)


def _is_sequence(value):
    return isinstance(value, collections.abc.Sequence) and not isinstance(value, (str, bytes))


def _is_array(value):
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.ndarray)


def _number_of(value):
    """A number of numpy's as one of Python's."""
    numpy = sys.modules.get("numpy")
    return value.item() if numpy is not None and isinstance(value, numpy.generic) else value


def _as_tensor(value):
    return value if isinstance(value, _C.Tensor) else tenon.as_tensor(value)


def _sorted_keys(mapping):
    try:
        return sorted(mapping)
    except TypeError:
        return list(mapping)


def _allowed(tolerance, exact):
    return "" if exact else f" (up to {tolerance} allowed)"


def _raise_unless_close(actual, expected, rtol, atol, equal_nan, path):
    """Compares two numbers: |actual - expected| <= atol + rtol |expected|."""
    difference = abs(actual - expected)
    nans = cmath.isnan(actual) and cmath.isnan(expected)
    finite = cmath.isfinite(actual) and cmath.isfinite(expected)
    if actual == expected or (nans and equal_nan) or (finite and difference <= atol + rtol * abs(expected)):
        return
    relative = difference / abs(expected) if expected != 0 else math.inf
    exact = rtol == 0 and atol == 0
    raise _Difference(
        f"Scalars are not {'equal' if exact else 'close'}!\n\n"
        f"Expected {expected} but got {actual}.\n"
        f"Absolute difference: {difference}{_allowed(atol, exact)}\n"
        f"Relative difference: {relative}{_allowed(rtol, exact)}",
        path,
    )


def _text_of_tensors(actual, expected, rtol, atol, equal_nan, name="Tensor-likes"):
    exact = rtol == 0 and atol == 0
    # What is close counts as no difference.
    close = _C.isclose(actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan)
    if not actual.dtype.is_floating_point and not actual.dtype.is_complex:
        actual, expected = actual.to(_C.int64), expected.to(_C.int64)
    absolute = (actual - expected).abs()
    relative = absolute / expected.abs()
    count, total = int((~close).sum()), close.numel()
    lines = [f"Mismatched elements: {count} / {total} ({count / total:.1%})"]
    for kind, values, tolerance in (("absolute", absolute, atol), ("relative", relative, rtol)):
        values = values.masked_fill(close, 0)
        place = int(values.argmax())
        index = []
        for n in reversed(values.shape):
            place, rest = divmod(place, n)
            index.insert(0, rest)
        index = tuple(index)
        lines.append(f"Greatest {kind} difference: {values[index].item()} at index {index}{_allowed(tolerance, exact)}")
    return f"{name} are not {'equal' if exact else 'close'}!\n\n" + "\n".join(lines)


def assert_close(
    actual,
    expected,
    *,
    allow_subclasses=True,
    rtol=None,
    atol=None,
    equal_nan=False,
    check_device=True,
    check_dtype=True,
    check_layout=True,
    check_stride=False,
    msg=None,
):
    """Raises AssertionError unless both are close: |actual - expected| <= atol + rtol |expected| for each element.

    actual, expected: tensors, arrays of numpy, numbers, None, or sequences and mappings of those.
    rtol, atol: both or neither; by default by the dtype, for float32 1.3e-6 and 1e-5, for integers 0.
    check_device, check_dtype, check_layout, check_stride: whether these must be the same too.
    msg: what the error says, or a function of what it would say.
    """
    comparison = _Comparison(
        rtol, atol, equal_nan, allow_subclasses, check_device, check_dtype, check_layout, check_stride
    )
    try:
        comparison.compare(actual, expected, ())
    except _Difference as difference:
        text = str(difference)
        if difference.error is AssertionError and msg is not None:
            text = msg(text) if callable(msg) else msg
        error = difference.error(text)
    else:
        return
    raise error


def assert_allclose(actual, expected, rtol=None, atol=None, equal_nan=True, msg=""):
    """assert_close() under its old name: dtypes and devices may differ."""
    warnings.warn("tenon.testing.assert_allclose() is deprecated: use assert_close().", FutureWarning, stacklevel=2)
    if not isinstance(actual, _C.Tensor):
        actual = _C.tensor(actual)
    if not isinstance(expected, _C.Tensor):
        expected = _C.tensor(expected, dtype=actual.dtype)
    if rtol is None and atol is None:
        rtol, atol = _TOLERANCES.get(actual.dtype, (0.0, 0.0))
    assert_close(
        actual,
        expected,
        rtol=rtol,
        atol=atol,
        equal_nan=equal_nan,
        check_device=True,
        check_dtype=False,
        check_stride=False,
        msg=msg or None,
    )


def make_tensor(
    *shape,
    dtype,
    device,
    low=None,
    high=None,
    requires_grad=False,
    noncontiguous=False,
    exclude_zero=False,
    memory_format=None,
):
    """A tensor of random elements from [low, high).

    shape: sizes, or one sequence of them.
    low, high: by default -9 and 9, of bool 0 and 2, of uint8 0 and 9; beyond what the dtype holds they are its limits.
    noncontiguous: with every second element of twice the memory, where there are two elements or more.
    exclude_zero: the smallest positive number of the dtype, of integers 1, in the place of 0.
    ValueError: low > high, both noncontiguous and memory_format, or requires_grad of an integer dtype.
    """
    shape = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], collections.abc.Sequence) else shape
    if noncontiguous and memory_format is not None:
        raise ValueError(
            f"The parameters `noncontiguous` and `memory_format` are mutually exclusive, but got {noncontiguous=} and "
            f"{memory_format=}"
        )
    if requires_grad and not (dtype.is_floating_point or dtype.is_complex):
        raise ValueError(
            f"`requires_grad=True` is not supported for boolean and integral dtypes, but got dtype={dtype}"
        )
    low, high = _limits(dtype, low, high)
    result = _drawn(shape, dtype, device, low, high)
    if noncontiguous and result.numel() > 1:
        result = _C.repeat_interleave(result, 2, dim=-1)[..., ::2]
    elif memory_format is not None:
        result = result.clone(memory_format=memory_format)
    if exclude_zero:
        whole = not (dtype.is_floating_point or dtype.is_complex)
        result[result == 0] = 1 if whole else tenon.finfo(dtype).tiny
    return result.requires_grad_() if requires_grad else result


def _limits(dtype, low, high):
    low_default, high_default = (0, 2) if dtype == _C.bool else (0, 9) if dtype == _C.uint8 else (-9, 9)
    if dtype.is_floating_point or dtype.is_complex:
        smallest, largest = tenon.finfo(dtype).min, tenon.finfo(dtype).max
    elif dtype == _C.bool:
        smallest, largest = 0, 2
    else:
        smallest, largest = tenon.iinfo(dtype).min, tenon.iinfo(dtype).max
    low = low_default if low is None else low
    high = high_default if high is None else high
    if any(isinstance(value, float) and math.isnan(value) for value in (low, high)):
        raise ValueError(f"`low` and `high` cannot be NaN, but got {low=} and {high=}")
    if low > high or (low == high and dtype in (_C.bool,)):
        raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    low, high = max(low, smallest), min(high, largest)
    if not (dtype.is_floating_point or dtype.is_complex):
        low, high = math.ceil(low), math.ceil(high)
    return low, high


def _drawn(shape, dtype, device, low, high):
    if dtype == _C.bool or not (dtype.is_floating_point or dtype.is_complex):
        return _C.randint(low, max(high, low + 1), shape, dtype=dtype, device=device)
    if dtype.is_complex:
        real = {_C.complex64: _C.float32, _C.complex128: _C.float64}[dtype]
        return _C.view_as_complex(_drawn((*shape, 2), real, device, low, high)).detach().clone()
    wide = dtype if dtype in (_C.float32, _C.float64) else _C.float32
    return _C.rand(shape, dtype=wide, device=device).mul_(high - low).add_(low).to(dtype)
