"""Padding."""

from tenon.nn import functional as F
from tenon.nn.modules.module import Module


class _Pad(Module):
    """F.pad: (before, after) of the last dimension, then of the one before it; one number is all of them."""

    mode = "constant"
    dims: int  # spatial ones of the input

    def __init__(self, padding):
        super().__init__()
        self.padding = tuple(padding) if isinstance(padding, (tuple, list)) else (padding,) * (2 * self.dims)

    def forward(self, input):
        return F.pad(input, self.padding, self.mode)

    def extra_repr(self):
        return str(self.padding)


class _ConstantPad(_Pad):
    def __init__(self, padding, value):
        super().__init__(padding)
        self.value = value

    def forward(self, input):
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self):
        return f"padding={self.padding}, value={self.value}"


class ZeroPad1d(_Pad):
    dims = 1


class ZeroPad2d(_Pad):
    dims = 2


class ZeroPad3d(_Pad):
    dims = 3


class ConstantPad1d(_ConstantPad):
    dims = 1


class ConstantPad2d(_ConstantPad):
    dims = 2


class ConstantPad3d(_ConstantPad):
    dims = 3


class _ReflectionPad(_Pad):
    mode = "reflect"


class ReflectionPad1d(_ReflectionPad):
    dims = 1


class ReflectionPad2d(_ReflectionPad):
    dims = 2


class ReflectionPad3d(_ReflectionPad):
    dims = 3


class _ReplicationPad(_Pad):
    mode = "replicate"


class ReplicationPad1d(_ReplicationPad):
    dims = 1


class ReplicationPad2d(_ReplicationPad):
    dims = 2


class ReplicationPad3d(_ReplicationPad):
    dims = 3


class _CircularPad(_Pad):
    mode = "circular"


class CircularPad1d(_CircularPad):
    dims = 1


class CircularPad2d(_CircularPad):
    dims = 2


class CircularPad3d(_CircularPad):
    dims = 3
