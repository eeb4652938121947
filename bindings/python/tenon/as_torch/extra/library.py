"""Registrations for operators that are not there: of a library that was built for PyTorch, which Tenon cannot load.

They are mentions. The use of such an operator raises.
"""

import functools

from tenon import _C
from tenon.as_torch._missing import missing


def _is_there(qualname):
    return (
        not isinstance(qualname, str)
        or "::" not in qualname
        or _C._find_operator(qualname.partition(".")[0]) is not None
    )


def _mention(qualname):
    missing("torch.ops." + qualname.replace("::", "."))


def _of_known_operators(register):
    """The function; for an operator that is not there a mention, and a decorator that gives the function back."""

    @functools.wraps(register)
    def registering(op, *args, **kwargs):
        if _is_there(op):
            return register(op, *args, **kwargs)
        _mention(op)
        given = [value for value in (*args, *kwargs.values()) if callable(value)]
        return given[0] if given else lambda function: function

    return registering


def install(library):
    """Changes the functions of tenon.library for this process."""
    for name in (
        "impl",
        "register_autograd",
        "register_autocast",
        "register_fake",
        "register_kernel",
        "impl_abstract",
        "register_vmap",
    ):
        if name in vars(library):
            setattr(library, name, _of_known_operators(getattr(library, name)))
    own = library.Library.impl

    @functools.wraps(own)
    def impl(self, op_name, fn, *args, **kwargs):
        qualname = op_name if not isinstance(op_name, str) or "::" in op_name else f"{self.ns}::{op_name}"
        if _is_there(qualname):
            return own(self, op_name, fn, *args, **kwargs)
        return _mention(qualname)

    library.Library.impl = impl
