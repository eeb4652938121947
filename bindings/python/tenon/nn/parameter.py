"""The tensors that a module owns."""

import tenon
from tenon import Tensor, _C


class Parameter(Tensor):
    """A tensor that becomes a parameter of the module it is assigned to. It shares the memory of `data`."""

    __torch_function__ = _C._disabled_torch_function_impl  # what is computed from it is a plain Tensor

    def __new__(cls, data, requires_grad=True):
        return _C._make_subclass(cls, data, requires_grad)

    def __repr__(self):
        text = _C._plain_repr(self) if self.__class__ is Parameter else f"Parameter({super().__repr__()})"
        return "Parameter containing:\n" + text


class Buffer(Tensor):
    """A tensor that becomes a buffer of the module it is assigned to, saved with it if `persistent`."""

    __torch_function__ = _C._disabled_torch_function_impl

    def __new__(cls, data, *, persistent=True):
        buffer = _C._make_subclass(cls, data, data.requires_grad)
        buffer.persistent = persistent
        return buffer

    def __repr__(self):
        return _C._plain_repr(self) if self.__class__ is Buffer else super().__repr__()


def parameter(shape, options):
    """An uninitialised parameter of a layer."""
    return Parameter(tenon.empty(shape, **options))


def options_of(device, dtype):
    """A layer's arguments as those of a factory."""
    return {name: value for name, value in (("device", device), ("dtype", dtype)) if value is not None}
