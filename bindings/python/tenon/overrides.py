"""What classes with a __torch_function__, and functions that heed it, are written with. The protocol is PyTorch's."""

import functools

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


def overridable(function, leaves=None, as_given=False):
    """The function, whose calls classes with a __torch_function__ take: parameters with defaults come to them by name.

    leaves(args): the arguments that are asked, if they are not all: those in a list.
    as_given: the arguments come to them as they were given, as from a function that is not written in Python.
    """

    @functools.wraps(function)
    def checked(*args, **kwargs):
        asked = args if leaves is None else leaves(args)
        if kwargs:
            asked = (*asked, *kwargs.values())
        if not _C._has_torch_function(asked):
            return function(*args, **kwargs)
        if not as_given:
            args, kwargs = _by_name(function, args, kwargs)
        return handle_torch_function(checked, asked, *args, **kwargs)

    return checked


def _by_name(function, args, kwargs):
    """The arguments with defaults: those of parameters that have one by name, the others by place."""
    import inspect

    parameters = inspect.signature(function).parameters.values()
    defaults = {p.name: p.default for p in parameters if p.default is not p.empty}
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return args, {**defaults, **kwargs}
    names = [p.name for p in parameters]
    given = {**defaults, **dict(zip(names, args)), **kwargs}
    positional = [
        p.name for p in parameters if p.default is p.empty and p.kind is not p.KEYWORD_ONLY and p.name in given
    ]
    return tuple(given[name] for name in positional), {
        name: given[name] for name in names if name in given and name not in positional
    }
