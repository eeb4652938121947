"""cuDNN, which Tenon does not use: its switches can be set, as programs do, and have no effect."""

import contextlib
import sys

from ._switches import Switches


def is_available():
    """False."""
    return False


def version():
    """None."""
    return None


@contextlib.contextmanager
def flags(enabled=False, benchmark=False, benchmark_limit=10, deterministic=False, allow_tf32=True):
    """Within, the switches have these values."""
    module = sys.modules[__name__]
    given = {
        "enabled": enabled,
        "benchmark": benchmark,
        "benchmark_limit": benchmark_limit,
        "deterministic": deterministic,
        "allow_tf32": allow_tf32,
    }
    before = {name: getattr(module, name) for name in given}
    try:
        for name, value in given.items():
            if value is None:  # as it was
                continue
            setattr(module, name, value)
        yield
    finally:
        for name, value in before.items():
            setattr(module, name, value)


Switches(
    __name__,
    {"enabled": True, "benchmark": False, "benchmark_limit": 10, "deterministic": False, "allow_tf32": True},
)
