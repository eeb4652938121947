"""The tensors that a module owns."""

import tenon
from tenon import Tensor, _C


class Parameter(Tensor):
    """A tensor that becomes a parameter of the module it is assigned to. It shares the memory of `data`."""

    __torch_function__ = _C._disabled_torch_function_impl  # what is computed from it is a plain Tensor

    def __new__(cls, data=None, requires_grad=True):
        return _C._make_subclass(cls, tenon.empty(0) if data is None else data, requires_grad)

    def __repr__(self):
        return "Parameter containing:\n" + super().__repr__()


class Buffer(Tensor):
    """A tensor that becomes a buffer of the module it is assigned to, saved with it if `persistent`."""

    __torch_function__ = _C._disabled_torch_function_impl

    def __new__(cls, data=None, *, persistent=True):
        data = tenon.empty(0) if data is None else data
        buffer = _C._make_subclass(cls, data, data.requires_grad)
        buffer.persistent = persistent
        return buffer


def parameter(shape, options):
    """An uninitialised parameter of a layer."""
    return Parameter(tenon.empty(shape, **options))


def options_of(device, dtype):
    """A layer's arguments as those of a factory."""
    return {name: value for name, value in (("device", device), ("dtype", dtype)) if value is not None}
