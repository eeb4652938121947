"""tenon.amp for GPUs, under its old names."""

from tenon import amp as _amp

__all__ = ["autocast"]


class autocast(_amp.autocast):
    """tenon.autocast("cuda", ...)."""

    def __init__(self, enabled=True, dtype=None, cache_enabled=True):
        super().__init__("cuda", dtype, enabled, cache_enabled)
