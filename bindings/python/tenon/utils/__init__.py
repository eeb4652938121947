"""Activation checkpointing, data sets and loaders."""

from tenon.utils import checkpoint  # noqa: F401


def __getattr__(name):
    if name == "data":
        import importlib

        return importlib.import_module("tenon.utils.data")
    raise AttributeError(f"module 'tenon.utils' has no attribute '{name}'")
