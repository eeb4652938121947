"""Forward mode: tangents that are computed beside the values, within a dual_level()."""

import collections

from tenon import _C

UnpackedDualTensor = collections.namedtuple("UnpackedDualTensor", "primal tangent")

_level = None
# The number of the level, -1 outside of one.
_current_level = -1


def enter_dual_level():
    """Begins a level and gives its number, which is 0: levels do not nest."""
    global _level, _current_level
    scope = _C._DualLevelScope()
    scope.__enter__()
    _level, _current_level = scope, 0
    return 0


def exit_dual_level(*, level=None):
    """Ends the level: what is left of it has no tangents."""
    global _level, _current_level
    if _level is None or level not in (None, 0):
        raise RuntimeError(
            "Trying to exit a forward AD level that was not the last one that was created. This is not supported."
        )
    scope, _level, _current_level = _level, None, -1
    scope.__exit__(None, None, None)


class dual_level:
    """with dual_level(): dual = make_dual(x, v); unpack_dual(f(dual)).tangent"""

    def __enter__(self):
        return enter_dual_level()

    def __exit__(self, *exception):
        exit_dual_level()


def make_dual(tensor, tangent, *, level=None):
    """A tensor with the data of `tensor`, and the tangent."""
    if level not in (None, 0):
        raise RuntimeError(f"make_dual: there is level 0 alone, got level {level}")
    for name, value in (("tensor", tensor), ("tangent", tangent)):
        if not isinstance(value, _C.Tensor):
            raise TypeError(f"make_dual(): argument '{name}' must be Tensor, not {value.__class__.__name__}")
    return _C._make_dual(tensor, tangent)


def unpack_dual(tensor, *, level=None):
    """The tensor without its tangent, and the tangent; None for zero."""
    if level not in (None, 0):
        raise RuntimeError(f"unpack_dual: there is level 0 alone, got level {level}")
    if not isinstance(tensor, _C.Tensor):
        return UnpackedDualTensor(tensor, None)
    return UnpackedDualTensor(*_C._unpack_dual(tensor))
