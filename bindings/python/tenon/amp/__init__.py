"""Automatic mixed precision."""

from tenon.amp.autocast_mode import autocast, is_autocast_available
from tenon.amp.custom_function import custom_bwd, custom_fwd
from tenon.amp.grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]
