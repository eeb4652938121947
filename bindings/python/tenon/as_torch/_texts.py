"""What objects of Tenon answer as PyTorch's: texts that name it, and questions of kinds of tensors that Tenon does not have."""

import functools

import tenon
from tenon import _C, _tensor, futures


def _replaced(method, old, new):
    @functools.wraps(method)
    def text(self, *args, **kwargs):
        result = method(self, *args, **kwargs)
        return result.replace(old, new) if isinstance(result, str) else result

    return text


def _with_torch(method):
    """The text of a method with `torch.` for `tenon.`."""
    return _replaced(method, "tenon.", "torch.")


def _with_dtype(method):
    """The text of a tensor, whose elements say nothing of Tenon."""
    return _replaced(_replaced(method, "dtype=tenon.", "dtype=torch."), "layout=tenon.", "layout=torch.")


# No tensor of Tenon is one.
_KINDS = ("ipu", "maia", "mkldnn", "mps", "mtia", "nested", "quantized", "vulkan", "xla", "xpu")


def _function_of_tensors(own):
    """Tensor.__torch_function__, which classes of programs call for Tensor itself: it computes."""

    def torch_function(cls, func, types, args=(), kwargs=None):
        if cls is not tenon.Tensor:
            return own(cls, func, types, args, kwargs)
        if not all(issubclass(cls, kind) for kind in types):
            return NotImplemented
        with _C._DisableTorchFunctionSubclass():
            return func(*args, **({} if kwargs is None else kwargs))

    return classmethod(torch_function)


def pin_memory(self, device=None):
    """RuntimeError: memory for transfers to a GPU is not pinned."""
    raise RuntimeError("Cannot access accelerator device when none is available.")


def _is_all_true(self):
    return self.all()


def _is_any_true(self):
    return self.any()


def swapaxes_(self, axis0, axis1):
    return self.transpose_(axis0, axis1)


def swapdims_(self, dim0, dim1):
    return self.transpose_(dim0, dim1)


def install():
    tenon.Tensor.__torch_function__ = _function_of_tensors(_tensor._torch_function)
    for method in (pin_memory, _is_all_true, _is_any_true, swapaxes_, swapdims_):
        if not hasattr(tenon.Tensor, method.__name__):
            setattr(tenon.Tensor, method.__name__, method)
    for kind in _KINDS:
        if not hasattr(tenon.Tensor, f"is_{kind}"):
            setattr(tenon.Tensor, f"is_{kind}", property(lambda self: False, doc="False."))
    types = (tenon._tensor_types.tensortype, tenon._tensor_types._StorageType)
    for cls in (_C.dtype, _C.layout, _C.memory_format, _C.Size, _C.UntypedStorage, tenon.TypedStorage, *types):
        cls.__repr__ = _with_torch(cls.__repr__)
    futures._NAME = "torch.futures.Future"
    tenon.Tensor.__repr__ = _with_dtype(tenon.Tensor.__repr__)
    _C._plain_repr = _with_dtype(_C._plain_repr)
    _C._name_operators_as_pytorch(True)
    tenon.TypedStorage.type = _with_torch(tenon.TypedStorage.type)
    _tensor.typename = tenon.typename = _with_torch(_tensor.typename)
    for cls in (_C.dtype, _C.layout, _C.memory_format, _C.Size, _C.device, _C.Generator):
        cls.__module__ = "torch"
