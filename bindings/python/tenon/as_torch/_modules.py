"""The modules `torch` and `torch.*`: Tenon's, the same objects, with what only programs for PyTorch ask for.

A name is looked up in Tenon's module, then in the module of the same path in `extra`, then among PyTorch's names: one of
these that Tenon lacks gives a placeholder. What PyTorch does not have either raises AttributeError.
"""

import functools
import importlib
import importlib.machinery
import os
import sys
import types
import typing

import tenon
from tenon.as_torch import _names
from tenon.as_torch._missing import MissingMember, missing

_EXTRA = "tenon.as_torch.extra"
# Modules whose `extra` changes objects of Tenon's own; the others are loaded when a name is asked for.
_CHANGED = {"torch.distributed", "torch.library", "torch.nn.functional", "torch.nn.modules"}


def _own(name):
    """Tenon's module under a name of PyTorch's, or None."""
    return _imported(name.replace("torch", "tenon", 1)) if name.startswith("torch") else None


def _imported(name):
    """The module, or None if there is none of the name."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not (name + ".").startswith(error.name + "."):
            raise
        return None


@functools.cache
def _extra(module):
    """The module of `extra` that holds what Tenon's own module lacks, or None."""
    path = module.removeprefix("torch").removeprefix(".") or "_root"
    extra = _imported(f"{_EXTRA}.{path}")
    for value in vars(extra).values() if extra else ():
        if isinstance(value, (type, types.FunctionType)) and value.__module__ == extra.__name__:
            value.__module__ = module  # where pickles look for it
    return extra


def _of_parents(module, name):
    """What is defined in a file of PyTorch that Tenon has not, from the package that passes it on: nn for nn.modules.conv."""
    package = module
    while "." in package:
        package = package.rpartition(".")[0]
        if _names.names(package).get(name, (None,))[0] == module:
            found = vars(tenon if package == "torch" else _module(package)).get(name)
            if found is not None:
                return found
    return None


def _in_parts(module, name):
    """What PyTorch defines in one file, if Tenon has a package there: from one of its files."""
    if _names.names(module).get(name, (None,))[0] != module:
        return None
    package = module.replace("torch", "tenon", 1) + "."
    for part, loaded in list(sys.modules.items()):
        if part.startswith(package):
            found = vars(loaded).get(name)
            if isinstance(found, (type, types.FunctionType)) and found.__module__ == part:
                return found
    return None


def _from_home(module, name):
    """What a file of PyTorch imports from another one."""
    home = _names.names(module).get(name, (module,))[0]
    if home == module or not _names.is_module(home):
        return None
    if home == "torch":
        return getattr(tenon, name, None)
    for there in (_module(home), _extra(home)):
        if there is not None and name in vars(there):
            return vars(there)[name]
    return _of_parents(home, name)


def _asks_for_itself():
    """Whether Tenon's own code asks, to which a placeholder is no answer."""
    asking = sys._getframe(3).f_globals.get("__name__", "")
    return asking.startswith("tenon.") and not asking.startswith("tenon.as_torch")


# {(module, name): whether it is callable} of placeholders that were asked for.
_lacking = {}


def _lookup(module, name, own_getattr):
    """A name that the module's dict does not have."""
    child = f"{module}.{name}"
    if (module, name) in _lacking and not _asks_for_itself():
        return missing(child, _lacking[module, name])
    if name == "__all__" and not _asks_for_itself():
        return _public(module)
    if name.startswith("__") and not _names.is_module(child):
        raise AttributeError(f"module '{module}' has no attribute '{name}'")
    if _names.is_listed(child) or _names.is_module(child) and not _names.is_opaque(module):
        return importlib.import_module(child)
    if own_getattr is not None:
        try:
            return own_getattr(name)
        except AttributeError:
            pass
    extra = _extra(module)
    if extra is not None and name in vars(extra):
        return vars(extra)[name]
    found = _of_parents(module, name)
    if found is None:
        found = _from_home(module, name)
    if found is None:
        found = _in_parts(module, name)
    if found is not None:
        return found
    if not _asks_for_itself():
        if _names.has(module, name):
            _lacking[module, name] = _names.names(module).get(name, (None, False))[1]
            return missing(child, _lacking[module, name])
        if hasattr(typing, name):  # a file's own import, which programs take from there
            return getattr(typing, name)
    raise AttributeError(f"module '{module}' has no attribute '{name}'")


def _public(module):
    """What `from torch import *` gives: PyTorch's public names, and no modules."""
    values = vars(tenon if module == "torch" else sys.modules[module])
    own = {name for name, value in values.items() if not isinstance(value, types.ModuleType)}
    return sorted(name for name in own | set(_names.names(module)) if not name.startswith("_"))


def _hook(module, name):
    own = vars(module).get("__getattr__")

    def __getattr__(attribute):
        return _lookup(name, attribute, own)

    def __dir__():
        return sorted({*vars(module), *_names.names(name), *_names.children(name)})

    module.__getattr__, module.__dir__ = __getattr__, __dir__


def _rename(module, name):
    """Classes and functions name PyTorch's modules as their places: so do pickles, files and texts."""
    for attribute, (home, _) in _names.names(name).items():
        value = vars(module).get(attribute)
        if not isinstance(value, (type, types.FunctionType, types.BuiltinFunctionType)) or value.__name__ != attribute:
            continue
        if isinstance(value, type) and value.__doc__ is None:
            value.__doc__ = ""  # programs add to texts of PyTorch's
        if value.__module__ == "tenon" or value.__module__.startswith("tenon."):
            value.__module__ = home
            if home not in sys.modules and _own(home) is None:
                _prepare(home, types.ModuleType(home))


def _prepare(name, module):
    """Has the module, and the modules in it, stand under PyTorch's names."""
    sys.modules[name] = module
    if not hasattr(module, "__path__"):
        module.__path__ = []
    _hook(module, name)
    if name in _CHANGED:
        _extra(name).install(module)
    if module.__name__.startswith("tenon"):
        _rename(module, name)
        for attribute in list(vars(module)):
            # A function may have its file's name, multiprocessing.spawn(): a later import would put the file in its place.
            child, file = f"{name}.{attribute}", sys.modules.get(f"{module.__name__}.{attribute}")
            if file is not None and child not in sys.modules and _names.is_module(child):
                _prepare(child, file)
    return module


def _module(name):
    """The module that stands under a name of PyTorch's; a placeholder if Tenon has nothing of it."""
    if name in sys.modules:
        return sys.modules[name]
    module = _own(name)
    _prepare_loaded()
    if name in sys.modules:
        return sys.modules[name]
    if module is None:
        module = _extra(name)
    if module is None:
        module = types.ModuleType(name, f"{name}, of which Tenon has nothing.")
    return _prepare(name, module)


class _Loader:
    def create_module(self, spec):
        module = _module(spec.name)
        self.spec_before = module.__spec__
        return module

    def exec_module(self, module):
        if self.spec_before is not None:  # the module is Tenon's and stays so
            module.__spec__ = self.spec_before

    def get_code(self, name):
        """For `python -m torch.distributed.run`."""
        import importlib.util

        spec = importlib.util.find_spec(name.replace("torch", "tenon", 1))
        return spec.loader.get_code(spec.name)


class Finder:
    """Finds torch.* here, before any installed PyTorch."""

    def find_spec(self, name, path=None, target=None):
        if not name.startswith(("torch.", "functorch")) or not _names.is_module(name):
            return None
        file = os.path.join(os.path.dirname(tenon.__file__), *name.split(".")[1:]) + ".py"
        origin = file if os.path.exists(file) else None  # __file__ of a module that runs as a program
        return importlib.machinery.ModuleSpec(name, _Loader(), origin=origin, is_package=_names.is_package(name))


class Root(types.ModuleType):
    """The module `torch`: Tenon's names with PyTorch's version. What a program sets here is set in Tenon."""

    def __getattr__(self, name):
        value = _lookup("torch", name, lambda name: getattr(tenon, name))
        # Of a module that lacks names, asking for one would count as a mention.
        if "_torch_name" not in getattr(value, "__dict__", ()):
            self.__dict__[name] = value
        return value

    def __setattr__(self, name, value):
        if not name.startswith("__") and not isinstance(value, types.ModuleType):
            setattr(tenon, name, value)
        super().__setattr__(name, value)

    def __delattr__(self, name):
        if name in vars(tenon) and not name.startswith("__"):
            delattr(tenon, name)
        super().__delattr__(name)

    def __dir__(self):
        return sorted({*dir(tenon), *_names.names("torch"), *_names.children("torch")})


def _prepare_loaded():
    """Has what Tenon loaded under its own names stand under PyTorch's as well."""
    for name, module in list(sys.modules.items()):
        other = name.replace("tenon", "torch", 1)
        if not name.startswith("tenon.") or other in sys.modules or not _names.is_listed(other):
            continue
        if not getattr(module.__spec__, "_initializing", False):
            _prepare(other, module)


def install():
    """Puts the modules in their places."""
    root = Root("torch", tenon.__doc__)
    vars(root).update(
        {n: v for n, v in vars(tenon).items() if not n.startswith("__") and not isinstance(v, types.ModuleType)}
    )
    extra = _extra("torch")
    vars(root).update(
        __version__=extra.__version__,
        ops=extra.ops,
        torch=root,
        __file__=tenon.__file__,
        __path__=[],
        __package__="torch",
        __spec__=importlib.machinery.ModuleSpec("torch", _Loader(), is_package=True, origin=tenon.__file__),
        __loader__=tenon.__loader__,
    )
    sys.meta_path.insert(0, Finder())
    sys.modules["torch"] = root
    _rename(tenon, "torch")
    for name, (_, is_method) in _names.names("torch.Tensor").items():
        if not hasattr(tenon.Tensor, name):
            setattr(tenon.Tensor, name, MissingMember(f"torch.Tensor.{name}", is_method))
    _prepare_loaded()
