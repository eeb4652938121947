"""What pickles of subclasses of Tensor name."""

from tenon import _C


def _rebuild_from_type_v2(func, new_type, args, state):
    """func(*args) as an object of the class, with its attributes."""
    plain = func(*args)
    result = plain if type(plain) is new_type else _C._make_subclass(new_type, plain.detach(), plain.requires_grad)
    if hasattr(new_type, "__setstate__") and new_type.__setstate__ is not getattr(object, "__setstate__", None):
        result.__setstate__(state)
    else:
        names, slots = state if isinstance(state, tuple) else (state, None)
        for name, value in {**(names or {}), **(slots or {})}.items():
            setattr(result, name, value)
    return result


def _rebuild_from_type(func, type, args, dict):
    """The same, as pickles of before have it."""
    return _rebuild_from_type_v2(func, type, args, dict)
