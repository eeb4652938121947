"""Exchange of memory with other libraries by DLPack."""

from tenon._C import _to_dlpack
from tenon._tensor import from_dlpack

__all__ = ["from_dlpack", "to_dlpack"]


def to_dlpack(tensor):
    """A capsule over the tensor's memory, which one consumer may take."""
    return _to_dlpack(tensor)
