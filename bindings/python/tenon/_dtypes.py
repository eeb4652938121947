"""finfo and iinfo: what numbers a dtype holds."""

from tenon import _C

# Bits of the exponent and of the fraction, and the exponent of the largest number.
_FLOATS = {
    "float64": (64, 52, -1022, 1024),
    "float32": (32, 23, -126, 128),
    "float16": (16, 10, -14, 16),
    "bfloat16": (16, 7, -126, 128),
    "complex128": (64, 52, -1022, 1024),
    "complex64": (32, 23, -126, 128),
    "float8_e5m2": (8, 2, -14, 16),
    "float8_e4m3fn": (8, 3, -6, 9),
    "float8_e5m2fnuz": (8, 2, -15, 16),
    "float8_e4m3fnuz": (8, 3, -7, 8),
}
_INTEGERS = {
    "uint8": (8, False),
    "int8": (8, True),
    "int16": (16, True),
    "int32": (32, True),
    "int64": (64, True),
    "uint16": (16, False),
    "uint32": (32, False),
    "uint64": (64, False),
}


def _name(dtype):
    return repr(dtype).split(".")[1]


class finfo:
    """Limits of a floating-point dtype: bits, eps, max, min, tiny, smallest_normal, resolution."""

    def __init__(self, dtype=None):
        dtype = (
            _C.get_default_dtype() if dtype is None else {float: _C.float64, complex: _C.complex128}.get(dtype, dtype)
        )
        if not isinstance(dtype, _C.dtype) or _name(dtype) not in _FLOATS:
            raise TypeError(f"tenon.finfo() requires a floating point input type. Use tenon.iinfo to handle '{dtype}'")
        self.dtype = _name(dtype).replace("complex128", "float64").replace("complex64", "float32")
        self.bits, fraction, low, high = _FLOATS[_name(dtype)]
        self.eps = 2.0**-fraction
        # 2**high itself is no float64.
        self.max = (2.0 - self.eps) * 2.0 ** (high - 1)
        if self.dtype == "float8_e4m3fn":
            self.max = 448.0  # the bits of 480 are NaN
        self.min = -self.max
        self.tiny = self.smallest_normal = 2.0**low
        self.resolution = {"float64": 1e-15, "float32": 1e-6, "float16": 1e-3, "bfloat16": 1e-2}.get(self.dtype, 1.0)

    def __repr__(self):
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, eps={self.eps:g}, "
            f"smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, dtype={self.dtype})"
        )

    def __eq__(self, other):
        return isinstance(other, finfo) and self.dtype == other.dtype

    def __hash__(self):
        return hash(self.dtype)


class iinfo:
    """Limits of an integer dtype: bits, max, min."""

    def __init__(self, dtype):
        dtype = _C.int64 if dtype is int else dtype
        if not isinstance(dtype, _C.dtype) or _name(dtype) not in _INTEGERS:
            raise TypeError(f"tenon.iinfo() requires an integer input type. Use tenon.finfo to handle '{dtype}'")
        self.dtype = _name(dtype)
        self.bits, signed = _INTEGERS[self.dtype]
        self.max = 2 ** (self.bits - 1) - 1 if signed else 2**self.bits - 1
        self.min = -(2 ** (self.bits - 1)) if signed else 0

    def __repr__(self):
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"

    def __eq__(self, other):
        return isinstance(other, iinfo) and self.dtype == other.dtype

    def __hash__(self):
        return hash(self.dtype)
