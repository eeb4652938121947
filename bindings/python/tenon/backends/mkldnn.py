"""oneDNN, which computes large matrix products and convolutions on CPUs where the build has it."""

from tenon import _C

__all__ = ["is_available"]


def is_available():
    """Whether the build has oneDNN."""
    return _C._has["onednn"]
