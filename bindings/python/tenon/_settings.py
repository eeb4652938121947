"""Switches of the whole process."""

import warnings

from tenon import _C
from tenon._functional import (
    _as_given,
    are_deterministic_algorithms_enabled,
    is_deterministic_algorithms_warn_only_enabled,
    use_deterministic_algorithms,
)

_precision = "highest"
_warn_always = False
_MODES = {"default": 0, "warn": 1, "error": 2}


def set_float32_matmul_precision(precision):
    """Which products of float32 are exact enough: "highest", "high" or "medium". Tenon's are float32 throughout, and stay it."""
    global _precision
    if precision not in ("highest", "high", "medium"):
        warnings.warn(
            f"{precision} is not one of 'highest', 'high', or 'medium'; the current setting is unchanged.", stacklevel=2
        )
        return
    _precision = precision


def get_float32_matmul_precision():
    """What set_float32_matmul_precision() set, "highest" at first."""
    return _precision


def set_deterministic_debug_mode(debug_mode):
    """What operators without a deterministic algorithm do: 0 or "default" nothing, 1 or "warn", 2 or "error"."""
    if not isinstance(debug_mode, (int, str)):
        raise TypeError(f"debug_mode must be str or int, but got {type(debug_mode)}")
    if isinstance(debug_mode, str):
        if debug_mode not in _MODES:
            raise RuntimeError(
                f"invalid value of debug_mode, expected one of `default`, `warn`, `error`, but got {debug_mode}"
            )
        debug_mode = _MODES[debug_mode]
    if debug_mode not in (0, 1, 2):
        raise RuntimeError(f"invalid value of debug_mode, expected 0, 1, or 2, but got {debug_mode}")
    use_deterministic_algorithms(debug_mode > 0, warn_only=debug_mode == 1)


def get_deterministic_debug_mode():
    """0, 1 or 2: see set_deterministic_debug_mode()."""
    if not are_deterministic_algorithms_enabled():
        return 0
    return 1 if is_deterministic_algorithms_warn_only_enabled() else 2


def set_warn_always(b):
    """Whether warnings that are given once are given each time. Tenon's are Python's own, which its filters rule."""
    global _warn_always
    if not isinstance(b, bool):
        raise RuntimeError(f"setWarnOnlyOnce expects a bool, but got {b.__class__.__name__}")
    _warn_always = b


def is_warn_always_enabled():
    """What set_warn_always() set, False at first."""
    return _warn_always


def get_num_interop_threads():
    """1: operators run one after the other, each with get_num_threads() threads."""
    return 1


def set_num_interop_threads(n):
    """Operators run one after the other: any number of threads between them is taken and none is started."""
    if not isinstance(n, int) or isinstance(n, bool):
        raise RuntimeError(f"set_num_interop_threads expects an int, but got {n.__class__.__name__}")
    if n < 1:
        raise RuntimeError(f"Expected at least one thread, got {n}")


@_as_given
def is_inference(input):
    """Whether the tensor was made in inference_mode()."""
    return input.is_inference()


def is_storage(obj):
    """Whether the object is a storage."""
    from tenon.storage import TypedStorage

    return isinstance(obj, (_C.UntypedStorage, TypedStorage))
