"""OpenMP, with whose threads operators compute."""

from tenon import _C

__all__ = ["is_available"]


def is_available():
    """Whether the build has OpenMP."""
    return _C._has["openmp"]
