"""Mixed precision on the CPU under its name of before."""

import warnings

from tenon import amp


class autocast(amp.autocast):
    """tenon.autocast("cpu", ...)"""

    def __init__(self, enabled=True, dtype=None, cache_enabled=True):
        warnings.warn(
            "`torch.cpu.amp.autocast(args...)` is deprecated. Please use `torch.amp.autocast('cpu', args...)` instead.",
            FutureWarning,
            stacklevel=2,
        )
        super().__init__("cpu", dtype=dtype, enabled=enabled, cache_enabled=cache_enabled)

    def clone(self):
        return amp.autocast(*self._arguments)


class GradScaler(amp.GradScaler):
    """tenon.amp.GradScaler("cpu", ...)"""

    def __init__(self, *args, **kwargs):
        super().__init__("cpu", *args, **kwargs)
