"""Mixed precision by its former names."""

import functools
import warnings

import tenon.amp

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]

custom_fwd = functools.partial(tenon.amp.custom_fwd, device_type="cuda")
custom_bwd = functools.partial(tenon.amp.custom_bwd, device_type="cuda")


class GradScaler(tenon.amp.GradScaler):
    def __init__(self, init_scale=2.0**16, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000, enabled=True):
        warnings.warn(
            "tenon.cuda.amp.GradScaler(args...) is deprecated. Please use tenon.amp.GradScaler('cuda', args...) instead.",
            FutureWarning,
            stacklevel=2,
        )
        super().__init__("cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled)


class autocast(tenon.amp.autocast):
    def __init__(self, enabled=True, dtype=tenon.float16, cache_enabled=True):
        warnings.warn(
            "tenon.cuda.amp.autocast(args...) is deprecated. Please use tenon.amp.autocast('cuda', args...) instead.",
            FutureWarning,
            stacklevel=2,
        )
        super().__init__("cuda", dtype, enabled, cache_enabled)

    def clone(self):
        return tenon.amp.autocast(*self._arguments)
