"""Names: of functions and types as a program writes them, and of values in generated code."""

import builtins
import inspect
import keyword
import re
import sys
import types
import typing

import tenon


def root_name():
    """The package's name in programs: torch if tenon.as_torch has put Tenon in its place."""
    root = sys.modules.get("torch")
    return "torch" if getattr(root, "__file__", None) == tenon.__file__ else "tenon"


def as_written(module):
    """A module's name, as programs know it."""
    root = root_name()
    if root == "torch" and (module == "tenon" or module.startswith("tenon.")):
        module = root + module[len("tenon") :]
    return module


# What torch.nn.functional passes on from torch._C._nn, where PyTorch's programs find it.
_OF_NN = {
    "avg_pool2d", "avg_pool3d", "elu_", "gelu", "hardtanh_", "leaky_relu_", "linear", "log_sigmoid", "one_hot",
    "scaled_dot_product_attention", "softplus", "softshrink",
}  # fmt: skip


def _module_of(function):
    module = getattr(function, "__module__", None)
    if module is None:
        name = function.__name__
        for guess in (tenon, tenon.nn.functional):
            if getattr(guess, name, None) is function:
                return as_written(guess.__name__)
        raise RuntimeError(f"cannot find module for {function}")
    if module.startswith("tenon._") and getattr(tenon, function.__name__, None) is function:
        module = "tenon"
    module = as_written(module)
    if (
        module == f"{root_name()}.nn.functional"
        and not isinstance(function, types.FunctionType)
        and function.__name__ in _OF_NN
    ):
        module = f"{root_name()}._C._nn"
    return module


def qualified_name(function):
    """module.name of a function or class, by which generated code finds it."""
    name = getattr(function, "__name__", None)
    if name is not None and getattr(builtins, name, None) is function:
        return name
    if name is not None and getattr(tenon.Tensor, name, None) is function:
        return f"{root_name()}.Tensor.{name}"
    if isinstance(function, (types.MethodDescriptorType, types.WrapperDescriptorType)):
        owner = function.__objclass__
        return f"{owner.__module__}.{owner.__name__}.{name}"
    if name == "<lambda>":
        try:
            name = inspect.getsource(function).split("=")[0].strip()
        except OSError:
            raise RuntimeError("Unable to represent lambda") from None
    if name is None:
        raise RuntimeError(f"cannot find the name of {function}: a call_function node needs one")
    return f"{_module_of(function)}.{name}"


def type_name(obj):
    """A type, as an annotation writes it."""
    if isinstance(obj, type) and not isinstance(obj, types.GenericAlias):
        if obj.__module__ == "builtins":
            return obj.__qualname__
        return f"{as_written(obj.__module__)}.{obj.__qualname__}"
    origin, arguments = typing.get_origin(obj), typing.get_args(obj)
    if arguments and not isinstance(obj, types.UnionType) and origin is not typing.Union:
        outer = repr(obj).split("[")[0] if getattr(obj, "__module__", None) == "typing" else type_name(origin)
        if outer.startswith("typing.Callable") or not all(isinstance(a, type) or a is ... for a in arguments):
            inner = ", ".join(_argument_name(a) for a in arguments)
        else:
            inner = ", ".join(type_name(a) for a in arguments)
        return f"{outer}[{inner}]"
    if origin is typing.Union and len(arguments) == 2 and type(None) in arguments:
        return f"typing.Optional[{type_name(next(a for a in arguments if a is not type(None)))}]"
    if origin is typing.Union:
        return f"typing.Union[{', '.join(type_name(a) for a in arguments)}]"
    if obj is ...:
        return "..."
    if isinstance(obj, types.FunctionType):
        return obj.__name__
    if isinstance(obj, types.ModuleType):
        return obj.__name__
    return repr(obj)


def _argument_name(obj):
    return "NoneType" if obj is type(None) else type_name(obj)


def is_own(obj):
    """Whether it is Tenon's, so that generated code names it with its module."""
    module = getattr(obj, "__module__", None)
    if module is None:
        name = getattr(obj, "__name__", None)
        return name is not None and any(getattr(guess, name, None) is obj for guess in (tenon, tenon.nn.functional))
    return module.partition(".")[0] in {root_name(), "tenon"} and not module.startswith(
        ("torch._dynamo", "torch._higher")
    )


class Builtin(typing.NamedTuple):
    """An object that generated code knows without a module, and the line that imports it."""

    import_str: str
    obj: typing.Any


_builtins = {}


def register_builtin(name, import_str, obj):
    """Makes the object known to generated code by the name."""
    _builtins[name] = Builtin(import_str, obj)


register_builtin("inf", "from math import inf", tenon.inf)
register_builtin("nan", "from math import nan", tenon.nan)
register_builtin("NoneType", "NoneType = type(None)", type(None))
register_builtin("tenon", "import tenon", tenon)


def builtins_of_code():
    """{name: Builtin}: those registered, and the package with what is in it."""
    root = root_name()
    from tenon.fx import _pytree as fx_pytree
    from tenon.utils import _pytree as pytree

    found = {name: builtin for name, builtin in _builtins.items() if name != "tenon" or root == "tenon"}
    found[root] = Builtin(f"import {root}", sys.modules[root])
    found["device"] = Builtin(f"from {root} import device", tenon.device)
    found["fx_pytree"] = Builtin(f"import {root}.fx._pytree as fx_pytree", fx_pytree)
    found["pytree"] = Builtin(f"import {root}.utils._pytree as pytree", pytree)
    return found


_RESERVED = {"inf", "nan", "NoneType", "torch", "device", "fx_pytree", "pytree", "tenon"}
_ILLEGAL = re.compile(r"[^0-9a-zA-Z_]+")
_NUMBERED = re.compile(r"(.+)_(\d+)$")


class Namespace:
    """Names that are Python's identifiers and differ: x, x_1, x_2."""

    def __init__(self):
        self._obj_to_name = {}
        self._used_names = set()
        self._base_count = {}

    def create_name(self, candidate, obj):
        """The name of the object, or, of None, a new one like the candidate."""
        if obj is not None and obj in self._obj_to_name:
            return self._obj_to_name[obj]
        candidate = _ILLEGAL.sub("_", candidate) or "_unnamed"
        if candidate[0].isdigit():
            candidate = f"_{candidate}"
        match = _NUMBERED.match(candidate)
        base, number = (match[1], int(match[2])) if match else (candidate, None)
        if candidate in self._used_names or self._is_illegal(candidate, obj):
            number = self._base_count.get(base, 0)
            while candidate in self._used_names or self._is_illegal(candidate, obj):
                number += 1
                candidate = f"{base}_{number}"
        self._used_names.add(candidate)
        if number is not None:
            self._base_count[base] = number
        if obj is not None:
            self._obj_to_name[obj] = candidate
        return candidate

    def associate_name_with_obj(self, name, obj):
        """Gives the object a name that is in use already."""
        self._obj_to_name.setdefault(obj, name)

    def _rename_object(self, obj, name):
        self._obj_to_name[obj] = name
        self._used_names.add(name)

    def _is_illegal(self, name, obj):
        if name in keyword.kwlist and name not in {"None", "True", "False"}:
            return True
        if name in vars(builtins) and name not in {"None", "True", "False"}:
            return vars(builtins)[name] is not obj
        if name in _RESERVED:
            found = builtins_of_code().get(name)
            return found is None or found.obj is not obj
        return False


def snake_case(text):
    """BatchNorm as batch_norm."""
    return re.sub(r"(?<=[a-z])([A-Z]+)", r"_\1", text).lower()


def is_magic(name):
    """Whether it is __name__."""
    return name.startswith("__") and name.endswith("__")
