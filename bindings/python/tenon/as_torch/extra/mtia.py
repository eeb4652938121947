"""Devices that Tenon does not serve."""

from tenon.as_torch.extra._decorators import answer

is_available = answer("is_available", False, "False.")
is_initialized = answer("is_initialized", False, "False.")
device_count = answer("device_count", 0, "0.")
