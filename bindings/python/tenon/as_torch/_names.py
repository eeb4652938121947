"""What PyTorch has, by _torch_names.py: whether there is a module of a name, and which names are in it."""

import builtins
import functools

from tenon.as_torch import _torch_names

#: The release whose behaviour Tenon keeps, and this Tenon.
VERSION = "2.15.0+tenon0.2"
#: Where it is said what is missing.
PAGE = "docs/as_torch.md"


@functools.cache
def _rows():
    rows, row = {}, []
    for line in _torch_names.NAMES.strip().splitlines():
        if line.startswith(" "):
            row.append(line)
        else:
            row = rows[line] = []
    return rows


@functools.cache
def _opaque():
    return frozenset(_torch_names.OPAQUE.split())


def is_opaque(module):
    """Whether any name may be in the module, and any module below it."""
    opaque = _opaque()
    if module == "functorch" or module.startswith("functorch."):  # PyTorch installs it as well
        return True
    return module in opaque or any(module.startswith(one + ".") for one in opaque)


def is_listed(module):
    """Whether it is a module whose name is listed, with or without the names in it."""
    return module in _opaque() or module in _rows() and module != "torch.Tensor"


@functools.cache
def _exceptions():
    found, base = {}, None
    for word in _torch_names.EXCEPTIONS.split():
        if word.endswith(":"):
            base = getattr(builtins, word[:-1])
        else:
            found[word] = base
    return found


def exception_base(name):
    """The builtin class that an exception or warning of PyTorch derives from, by its own name; None of other names."""
    return _exceptions().get(name)


@functools.cache
def _packages():
    return {name.rpartition(".")[0] for name in (*_rows(), *_opaque())}


def is_package(module):
    """Whether there are modules below it."""
    return module in _packages() or is_opaque(module)


def is_module(name):
    return name in _rows() and name != "torch.Tensor" or is_opaque(name)


@functools.cache
def _children():
    found = {}
    for name in (*_rows(), *_opaque()):
        parent, _, child = name.rpartition(".")
        if not child.startswith("_") and name != "torch.Tensor":
            found.setdefault(parent, set()).add(child)
    return found


def children(module):
    """The names of the public modules in a module."""
    return _children().get(module, set())


@functools.cache
def names(module):
    """{name: (the module of PyTorch that defines it, whether it is a class or function)}"""
    found, home = {}, module
    for line in _rows().get(module, ()):
        if not line.startswith("  "):
            home = module
        for word in line.split():
            if word.endswith(":"):
                home = word[:-1]
            else:
                found[word.rstrip("=")] = home, not word.endswith("=")
    return found


def has(module, name):
    return name in names(module) or is_opaque(module) and not name.startswith("__")
