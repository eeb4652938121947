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
        text = _C._plain_repr(self) if self.__class__ is Parameter else super().__repr__()
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


# ---- without a shape yet ----


class UninitializedTensorMixin:
    """A parameter or buffer whose shape a lazy module will know: until materialize() it has a dtype and a device, and no elements."""

    #: What may be done with it before.
    _allowed = ("to", "cpu", "cuda", "half", "float", "double", "bfloat16", "requires_grad_", "detach", "__repr__")

    def materialize(self, shape, device=None, dtype=None):
        """Gives it elements, which are not defined yet, and makes it a plain parameter or tensor."""
        device = self.data.device if device is None else device
        dtype = self.data.dtype if dtype is None else dtype
        self.data = tenon.empty(shape, device=device, dtype=dtype)
        self.__class__ = self.cls_to_become

    @property
    def shape(self):
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in `load_state_dict` when "
            "trying to load an uninitialized parameter into an initialized one. Call `forward` to initialize the parameters before "
            "accessing their attributes."
        )

    def share_memory_(self):
        raise RuntimeError(
            "Can't share memory on an uninitialized parameter or buffer. Call `forward` to initialize the parameters before "
            "calling `module.share_memory()`."
        )

    def __repr__(self):
        return f"<{type(self).__name__}>"

    def __reduce_ex__(self, protocol):
        return type(self), (self.requires_grad,)

    def __deepcopy__(self, memo):
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.requires_grad, self.data.device, self.data.dtype)
        return memo[id(self)]


def is_lazy(param):
    """Whether it has no shape yet."""
    return isinstance(param, UninitializedTensorMixin)


class UninitializedParameter(UninitializedTensorMixin, Parameter):
    """A parameter that has no shape yet."""

    cls_to_become = Parameter

    def __new__(cls, requires_grad=True, device=None, dtype=None):
        return _C._make_subclass(cls, tenon.empty(0, device=device, dtype=dtype), requires_grad)


class UninitializedBuffer(UninitializedTensorMixin, Tensor):
    """A buffer that has no shape yet."""

    cls_to_become = Tensor

    def __new__(cls, requires_grad=False, device=None, dtype=None, persistent=True):
        buffer = _C._make_subclass(cls, tenon.empty(0, device=device, dtype=dtype), requires_grad)
        buffer.persistent, buffer._is_buffer = persistent, True
        return buffer
