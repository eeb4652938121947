"""How Tenon was built, for programs that ask how PyTorch was."""

import tenon
from tenon import _C


def show():
    """Text: what is in the build."""
    parts = ", ".join(f"{name}={value}" for name, value in sorted(_C._has.items()))
    return f"Tenon {tenon.__version__} built with: {parts}"


def parallel_info():
    """Text: the number of threads."""
    return f"Tenon: {tenon.get_num_threads()} threads"


def _cxx_flags():
    """Text: how Tenon's C++ was compiled; empty, the build does not keep it."""
    return ""
