"""Handles of hooks."""

from tenon.nn.modules.module import RemovableHandle as RemovableHandle


def unserializable_hook(f):
    """Marks a hook that is not saved."""
    f.__torch_unserializable__ = True
    return f
