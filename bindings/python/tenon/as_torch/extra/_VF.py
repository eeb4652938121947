"""Functions of operators, under a private name."""

import tenon
from tenon import _C


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(_C if hasattr(_C, name) else tenon, name)
