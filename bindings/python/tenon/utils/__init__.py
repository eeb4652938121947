"""Activation checkpointing, data sets and loaders."""

from tenon.utils import checkpoint, dlpack  # noqa: F401


def __getattr__(name):
    if name == "data":
        import importlib

        return importlib.import_module("tenon.utils.data")
    if name == "cmake_prefix_path":  # what CMAKE_PREFIX_PATH must name for find_package(Tenon)
        from tenon import _build_paths

        if _build_paths.CMAKE_PREFIX is None:
            raise AttributeError(
                "tenon.utils.cmake_prefix_path: Tenon is used from its build tree; `cmake --install` it"
            )
        return _build_paths.CMAKE_PREFIX
    raise AttributeError(f"module 'tenon.utils' has no attribute '{name}'")
