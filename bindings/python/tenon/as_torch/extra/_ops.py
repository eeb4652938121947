"""torch.ops: the packets and overloads of tenon.ops, under PyTorch's names."""

import tenon
from tenon import _ops
from tenon._ops import OpOverload, OpOverloadPacket  # noqa: F401
from tenon.as_torch._missing import missing

_ops._module = "torch._ops"


# PyTorch's own, of which any operator may be mentioned.
_NAMESPACES = {
    "_c10d_functional", "aten", "c10d", "higher_order", "inductor", "mkldnn", "onednn", "prim", "prims", "profiler", "quantized"
}  # fmt: skip


class _OpNamespace:
    """The operators of a namespace. One of PyTorch's that Tenon lacks may be mentioned."""

    def __init__(self, name):
        self.__name__ = name

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            packet = getattr(getattr(tenon.ops, self.__name__), name)
        except AttributeError:
            if self.__name__ in _NAMESPACES:
                return missing(f"torch.ops.{self.__name__}.{name}")
            raise AttributeError(f"'_OpNamespace' '{self.__name__}' object has no attribute '{name}'") from None
        setattr(self, name, packet)
        return packet

    def __dir__(self):
        return dir(getattr(tenon.ops, self.__name__))


class _Ops:
    """torch.ops.NAMESPACE.NAME"""

    loaded_libraries = frozenset()

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        namespace = _OpNamespace(name)
        setattr(self, name, namespace)
        return namespace

    @staticmethod
    def load_library(path):
        """OSError for what is no library of Tenon's: one that was built for PyTorch needs PyTorch's own libraries."""
        try:
            tenon.ops.load_library(path)
        except RuntimeError as error:
            raise OSError(str(error)) from None


ops = _Ops()
