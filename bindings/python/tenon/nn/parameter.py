"""The tensors that a module owns."""

import copy

import tenon
from tenon import _C, Tensor


class _ParameterMeta(type(Tensor)):
    """A tensor of another subclass is a parameter by its attribute `_is_param`, and stays of its class."""

    def __instancecheck__(cls, instance):
        if super().__instancecheck__(instance):
            return True
        return cls is Parameter and isinstance(instance, Tensor) and getattr(instance, "_is_param", False)


class Parameter(Tensor, metaclass=_ParameterMeta):
    """A tensor that becomes a parameter of the module it is assigned to. It shares the memory of `data`."""

    __torch_function__ = _C._disabled_torch_function_impl  # what is computed from it is a plain Tensor

    def __new__(cls, data=None, requires_grad=True):
        if data is None:
            data = tenon.empty(0)
        if type(data) is Tensor or type(data) is Parameter:
            return _C._make_subclass(cls, data, requires_grad)
        parameter = data.detach().requires_grad_(requires_grad)
        if type(parameter) is not type(data):
            raise RuntimeError(
                f"Creating a Parameter from an instance of type {type(data).__name__} requires that detach() returns an "
                f"instance of the same type, but return type {type(parameter).__name__} was found instead."
            )
        parameter._is_param = True
        return parameter

    def __deepcopy__(self, memo):
        if id(self) not in memo:
            result = type(self)(self.data.clone(memory_format=tenon.preserve_format), self.requires_grad)
            memo[id(self)] = result
            if self.__dict__:
                result.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return memo[id(self)]

    def __repr__(self):
        text = _C._plain_repr(self) if self.__class__ is Parameter else f"Parameter({super().__repr__()})"
        return "Parameter containing:\n" + text


class _BufferMeta(type(Tensor)):
    def __instancecheck__(cls, instance):
        if super().__instancecheck__(instance):
            return True
        return cls is Buffer and isinstance(instance, Tensor) and getattr(instance, "_is_buffer", False)


class Buffer(Tensor, metaclass=_BufferMeta):
    """A tensor that becomes a buffer of the module it is assigned to, saved with it if `persistent`: one with attributes that say so."""

    def __new__(cls, data=None, *, persistent=True):
        if data is None:
            data = tenon.empty(0)
        buffer = data.detach().requires_grad_(data.requires_grad)
        buffer.persistent = persistent
        buffer._is_buffer = True
        return buffer

    def __repr__(self):
        return _C._plain_repr(self) if self.__class__ is Buffer else super().__repr__()


def parameter(shape, options):
    """An uninitialised parameter of a layer."""
    return Parameter(tenon.empty(shape, **options))


def options_of(device, dtype):
    """A layer's arguments as those of a factory."""
    return {name: value for name, value in (("device", device), ("dtype", dtype)) if value is not None}
