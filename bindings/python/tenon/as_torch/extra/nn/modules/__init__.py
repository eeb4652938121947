"""Bases of layers under PyTorch's private names."""

from tenon import nn
from tenon.as_torch import _names


def common_base(*layers):
    """The class from which these layers of tenon.nn are derived, and no others of another kind; None if there is none."""
    classes = [getattr(nn, layer) for layer in layers]
    for base in classes[0].__mro__[1:]:
        if (
            base is nn.Module
            or not issubclass(base, nn.Module)
            or issubclass(nn.Linear, base)
            or issubclass(nn.Identity, base)
        ):
            continue
        if all(issubclass(cls, base) for cls in classes):
            return base
    return None


def bases(module, **named):
    """Gives the module the bases that exist."""
    for name, layers in named.items():
        found = common_base(*layers)
        if found is not None:
            module[name] = found


def install(modules):
    """`from torch.nn.modules import *` gives the lazy layers too, which Tenon loads when one is asked for."""
    lazy = [name for name in _names.names("torch.nn.modules") if name.startswith("Lazy") and name != "LazyModuleMixin"]
    modules.__all__ = [*modules.__all__, *lazy]
