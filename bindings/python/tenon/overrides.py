"""What classes with a __torch_function__, and functions that heed it, are written with. The protocol is PyTorch's."""

from tenon import _C
from tenon._C import _DisableTorchFunctionSubclass as DisableTorchFunctionSubclass  # noqa: F401


def has_torch_function(relevant_args):
    """Whether the class of one of the objects, a tuple, takes the calls that they are passed to."""
    return _C._has_torch_function(relevant_args)


def handle_torch_function(public_api, relevant_args, *args, **kwargs):
    """The call public_api(*args, **kwargs) by the first class of `relevant_args` that takes it.

        def double(x):
            if has_torch_function((x,)):
                return handle_torch_function(double, (x,), x)
            return x + x

    TypeError if every __torch_function__ returns NotImplemented.
    """
    name = f"{public_api.__module__}.{public_api.__name__}"
    return _C._call_override(public_api, relevant_args, args, kwargs, name)


def is_tensor_like(obj):
    """Whether it is a tensor, or of a class with a __torch_function__."""
    return isinstance(obj, _C.Tensor) or hasattr(type(obj), "__torch_function__")


def get_default_nowrap_functions():
    """The functions whose results stay as they are when a subclass of Tensor has no __torch_function__ of its own."""
    from tenon._tensor import _nowrap

    return set(_nowrap)
