"""oneDNN, which computes large matrix products and convolutions on CPUs where the build has it."""

import contextlib
import sys

from tenon import _C

from ._switches import Switches

__all__ = ["flags", "is_available"]


def is_available():
    """Whether the build has oneDNN."""
    return _C._has["onednn"]


@contextlib.contextmanager
def flags(enabled=False, deterministic=False, allow_tf32=True, fp32_precision="none"):
    """Within, the switches have these values. They have no effect: Tenon chooses by sizes."""
    module = sys.modules[__name__]
    given = {"enabled": enabled, "deterministic": deterministic, "allow_tf32": allow_tf32}
    before = {name: getattr(module, name) for name in given}
    try:
        for name, value in given.items():
            setattr(module, name, value)
        yield
    finally:
        for name, value in before.items():
            setattr(module, name, value)


Switches(__name__, {"enabled": _C._has["onednn"], "deterministic": False, "allow_tf32": True})
