"""Automatic mixed precision."""

from tenon.amp.autocast_mode import autocast, is_autocast_available
from tenon.amp.grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast", "is_autocast_available"]
