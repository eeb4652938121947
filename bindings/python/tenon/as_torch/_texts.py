"""Texts that name PyTorch: dtypes, sizes, types of tensors."""

import functools

import tenon
from tenon import _C


def _with_torch(method):
    """The text of a method with `torch.` for `tenon.`."""

    @functools.wraps(method)
    def text(self, *args, **kwargs):
        return method(self, *args, **kwargs).replace("tenon.", "torch.")

    return text


def install():
    for cls in (_C.dtype, _C.layout, _C.memory_format, _C.Size, _C.UntypedStorage, tenon.TypedStorage):
        cls.__repr__ = _with_torch(cls.__repr__)
        if "__str__" in vars(cls):
            cls.__str__ = _with_torch(cls.__str__)
    for cls in (_C.dtype, _C.layout, _C.memory_format, _C.Size, _C.device, _C.Generator):
        cls.__module__ = "torch"
