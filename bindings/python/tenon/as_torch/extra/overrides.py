"""Functions of classes with a __torch_function__."""

import functools

from tenon.overrides import handle_torch_function, has_torch_function


def has_torch_function_unary(tensor):
    """has_torch_function() of one object."""
    return has_torch_function((tensor,))


def has_torch_function_variadic(*args):
    """has_torch_function() of its arguments."""
    return has_torch_function(args)


def wrap_torch_function(dispatcher):
    """A decorator: classes with a __torch_function__ take the function's calls. dispatcher(*args, **kwargs) gives the objects to ask."""

    def decorator(func):
        @functools.wraps(func)
        def wrapped(*args, **kwargs):
            relevant = tuple(dispatcher(*args, **kwargs))
            if has_torch_function(relevant):
                return handle_torch_function(wrapped, relevant, *args, **kwargs)
            return func(*args, **kwargs)

        return wrapped

    return decorator


def resolve_name(f):
    """The name of a function, as text."""
    return f"{f.__module__}.{getattr(f, '__qualname__', f.__name__)}"
