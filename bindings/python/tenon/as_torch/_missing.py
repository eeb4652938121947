"""Names of PyTorch that Tenon does not have. They may be mentioned; their use raises NotInTenon.

To mention is to import, to annotate with, to subclass, to compare, to ask isinstance() about: nothing is an instance.
To use is to call, to make an object, to enter, to iterate, to compute with, to change.
"""

import abc
import os
import sys

from tenon.as_torch._names import PAGE, exception_base

_FOLDER = os.path.dirname(__file__) + os.sep


class NotInTenon(NotImplementedError):
    """A program uses what PyTorch has and Tenon has not."""


class AttributeNotInTenon(NotInTenon, AttributeError):
    """The same for an attribute of an object."""


class _Record:
    """How often a name was mentioned and used, and where first."""

    def __init__(self):
        self.mentioned = self.used = 0
        self.mentioned_at = self.used_at = None


_records = {}


def _place():
    """file:line of the program's code that runs."""
    frame = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith((_FOLDER, "<frozen importlib")) and not file.endswith("importlib/__init__.py"):
            return f"{file}:{frame.f_lineno}"
        frame = frame.f_back
    return "?"


def _record(name):
    return _records.setdefault(name, _Record())


def use(name, what=None, error=NotInTenon):
    """Raises, and notes that the program used the name."""
    record, place = _record(name), _place()
    record.used += 1
    record.used_at = record.used_at or place
    raise error(f"{what or name} is not in Tenon. It is used at {place}. {PAGE} says what is missing.")


def _raising(method):
    def used(cls, *args, **kwargs):
        use(cls._torch_name, _described(cls))

    used.__name__ = method
    return used


def _described(cls):
    own = vars(cls).get("_torch_name")
    return own or f"{cls.__module__}.{cls.__qualname__}, a subclass of {cls._torch_name}, whose base"


class MissingType(abc.ABCMeta):
    """The class of placeholders. A subclass of a placeholder in a program has it as well."""

    def __instancecheck__(cls, instance):
        return "_torch_name" not in vars(cls) and super().__instancecheck__(instance)

    def __getattr__(cls, name):
        if name.startswith("_") or "_torch_name" not in vars(cls):
            raise AttributeError(f"type object '{cls.__name__}' has no attribute '{name}'")
        return missing(f"{cls._torch_name}.{name}")

    def __setattr__(cls, name, value):
        if "_torch_name" in vars(cls) and not name.startswith("_"):
            use(cls._torch_name)
        super().__setattr__(name, value)

    def __getitem__(cls, item):
        return cls  # in annotations

    def __bool__(cls):
        if not cls._is_callable:
            use(cls._torch_name)
        return True

    def __repr__(cls):
        if "_torch_name" in vars(cls) and not cls._is_callable:
            return cls._torch_name  # as that of a dtype
        return super().__repr__()


for _method in (
    "__call__", "__iter__", "__len__", "__enter__", "__exit__", "__contains__", "__next__", "__lt__", "__le__", "__gt__", "__ge__",
    "__add__", "__radd__", "__sub__", "__rsub__", "__mul__", "__rmul__", "__truediv__", "__rtruediv__", "__floordiv__", "__mod__",
    "__matmul__", "__pow__", "__neg__", "__int__", "__float__", "__index__", "__and__", "__xor__", "__invert__", "__setitem__",
):  # fmt: skip
    setattr(MissingType, _method, _raising(_method))

_placeholders = {}

# Classes that programs want to be modules: they ask issubclass() of what they derive from them.
_MODULES = {"torch.jit.ScriptModule", "torch.jit.RecursiveScriptModule", "torch.ScriptModule"}


def _bases(name):
    if name in _MODULES:
        from tenon.nn import Module

        return (Module,)
    # What `except` names is an exception, which nothing raises; what filters name is a warning.
    own = name.rpartition(".")[2]
    base = exception_base(own) or (RuntimeError if own.endswith(("Error", "Exception")) else None)
    return (base,) if base else ()


def missing(name, is_callable=True):
    """The placeholder of a name; the same object each time."""
    record = _record(name)
    record.mentioned += 1
    record.mentioned_at = record.mentioned_at or _place()
    if name not in _placeholders:
        module, _, own = name.rpartition(".")
        members = {
            "_torch_name": name,
            "_is_callable": is_callable,
            "__module__": module,
            "__qualname__": own,
            "__doc__": f"{name}, which is not in Tenon.",
            "__init_subclass__": classmethod(lambda cls, **kwargs: None),
        }
        _placeholders[name] = abc.ABCMeta.__new__(MissingType, own, _bases(name), members)
    return _placeholders[name]


class MissingMember:
    """A method or attribute of Tensor that Tenon lacks. A method may be mentioned; reading an attribute is a use."""

    def __init__(self, name, is_method):
        self.name, self.is_method = name, is_method

    def __get__(self, instance, owner=None):
        if instance is not None and not self.is_method:
            use(self.name, error=AttributeNotInTenon)
        return missing(self.name)


def report():
    """Two lists as text: the missing names that were used and those that were only mentioned."""
    lines = []
    for title, chosen, place in (
        ("used, which raised:", lambda r: r.used, "used_at"),
        ("mentioned only:", lambda r: not r.used, "mentioned_at"),
    ):
        found = sorted(name for name, record in _records.items() if chosen(record))
        lines.append(f"names of PyTorch that are not in Tenon, {title} {len(found)}")
        lines += [f"  {name}  {getattr(_records[name], place)}" for name in found]
    return "\n".join(lines)
