"""Automatic mixed precision: products in a shorter dtype, what needs it in float32.

Example:

    with tenon.autocast("cpu"):
        loss = loss_of(model(x), y)
    loss.backward()
"""

import warnings

from tenon import _C
from tenon.autograd.grad_mode import _Mode

__all__ = ["autocast", "is_autocast_available"]


def is_autocast_available(device_type):
    """Whether autocast works on this kind of device."""
    return device_type in ("cpu", "cuda")


class autocast(_Mode):
    """A context manager and decorator. dtype: bfloat16 on the CPU and float16 on CUDA unless given."""

    def __init__(self, device_type, dtype=None, enabled=True, cache_enabled=None):
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        if not is_autocast_available(device_type):
            raise RuntimeError(f"autocast: the device_type must be cpu or cuda, got {device_type!r}")
        if enabled and dtype not in (None, _C.bfloat16, _C.float16):
            warnings.warn(
                f"autocast: the dtype must be bfloat16 or float16, got {dtype}. Autocast is disabled.", stacklevel=2
            )
            dtype, enabled = None, False
        self._arguments = (device_type, dtype, enabled, cache_enabled)
        self._scopes = []

    def __enter__(self):
        device_type, dtype, enabled, cache_enabled = self._arguments
        cache = _C.is_autocast_cache_enabled() if cache_enabled is None else cache_enabled
        self._scopes.append(_C._open_autocast(device_type, dtype, enabled, cache))
        return self

    def __exit__(self, *exception):
        self._scopes.pop().close()

    def clone(self):
        return self.__class__(*self._arguments)
