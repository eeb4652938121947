"""How scaled_dot_product_attention() is computed: a choice that programs make and that changes no result."""

import contextlib
import enum

__all__ = ["SDPBackend", "sdpa_kernel"]


class SDPBackend(enum.IntEnum):
    """PyTorch's names of ways to compute attention."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


@contextlib.contextmanager
def sdpa_kernel(backends, set_priority=False):
    """Within, PyTorch uses one of the back ends. Tenon has one way for each device, which it uses: results are the same."""
    chosen = backends if isinstance(backends, list) else [backends]
    if not all(isinstance(backend, SDPBackend) for backend in chosen):
        raise AssertionError(
            f"Backend must be an instance of SDPBackend or a list of SDPBackend instances, got {backends!r}"
        )
    yield
