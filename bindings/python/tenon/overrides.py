"""What classes with a __torch_function__, and functions that heed it, are written with. The protocol is PyTorch's."""

import functools
import inspect

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


def overridable(function, leaves=lambda args: args, as_given=False):
    """The function, whose calls classes with a __torch_function__ take: parameters with defaults come to them by name.

    leaves(args): the arguments that are asked, if they are not all: those in a list.
    as_given: the arguments come to them as they were given, as from a function that is not written in Python.
    """
    parameters = list(inspect.signature(function).parameters.values())
    positional = sum(
        p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty for p in parameters
    )
    names = [p.name for p in parameters if p.kind is not p.VAR_POSITIONAL]
    defaults = {p.name: p.default for p in parameters if p.default is not p.empty}
    takes_many = len(names) != len(parameters)

    @functools.wraps(function)
    def checked(*args, **kwargs):
        asked = leaves(args)
        if kwargs:
            asked = (*asked, *kwargs.values())
        if not _C._has_torch_function(asked):
            return function(*args, **kwargs)
        if takes_many:
            kwargs = {**defaults, **kwargs}
        elif not as_given:
            kwargs = {**defaults, **dict(zip(names, args)), **kwargs}
            args = tuple(kwargs.pop(name) for name in names[:positional] if name in kwargs)
            kwargs = {name: kwargs[name] for name in names if name in kwargs}
        return handle_torch_function(checked, tuple(asked), *args, **kwargs)

    return checked
