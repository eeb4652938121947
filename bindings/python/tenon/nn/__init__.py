"""Modules: trees of parameters with a forward(). Names, defaults, initial values and the keys of state dicts are PyTorch's."""

from tenon.nn import functional as functional, init as init, modules as modules, utils as utils
from tenon.nn._load_modules import load_modules as load_modules
from tenon.nn.functional.chunked_loss import LinearCrossEntropyOptions as LinearCrossEntropyOptions
from tenon.nn.modules import *  # noqa: F403
from tenon.nn.parameter import Buffer as Buffer, Parameter as Parameter


def __getattr__(name):
    if name in ("attention", "parallel"):
        import importlib

        return importlib.import_module(f"tenon.nn.{name}")
    if name.startswith("Lazy"):
        from tenon.nn.modules import lazy

        if hasattr(lazy, name) and name != "LazyModuleMixin":
            return getattr(lazy, name)
    if name == "DataParallel":
        from tenon.nn.parallel import DataParallel

        return DataParallel
    raise AttributeError(f"module 'tenon.nn' has no attribute '{name}'")
