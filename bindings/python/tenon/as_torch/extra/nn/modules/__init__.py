"""Names of torch.nn.modules."""

from tenon.as_torch import _names


def install(modules):
    """`from torch.nn.modules import *` gives the lazy layers too, which Tenon loads when one is asked for."""
    lazy = [name for name in _names.names("torch.nn.modules") if name.startswith("Lazy") and name != "LazyModuleMixin"]
    modules.__all__ = [*modules.__all__, *lazy]
