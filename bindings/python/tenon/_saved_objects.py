"""What save() writes for objects of other classes than it knows, and what load() makes of them."""

import _compat_pickle
import builtins
import collections
import copyreg
import enum
import sys
import types

import tenon
from tenon import _C, nn
from tenon.nn.parameter import Parameter  # noqa: F401  taken from here by C++

# ---- names ----

# The layers that PyTorch has in files of other names than Tenon.
_LAYER_MODULES = {
    "activation": ("MultiheadAttention",),
    "linear": ("Identity", "Linear", "Bilinear"),
    "dropout": ("Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout", "FeatureAlphaDropout"),
    "flatten": ("Flatten", "Unflatten"),
    "sparse": ("Embedding", "EmbeddingBag"),
    "fold": ("Fold", "Unfold"),
    "distance": ("CosineSimilarity", "PairwiseDistance"),
    "pixelshuffle": ("PixelShuffle", "PixelUnshuffle"),
    "channelshuffle": ("ChannelShuffle",),
    "batchnorm": ("BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "SyncBatchNorm"),
    "instancenorm": ("InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d"),
}
_MODULE_OF_LAYER = {layer: module for module, layers in _LAYER_MODULES.items() for layer in layers}
_OWN = {
    "torch Tensor": tenon.Tensor,
    "torch.nn.parameter Parameter": Parameter,
    "torch.nn.modules.module Module": nn.Module,
}
_OWN_NAMES = {cls: name for name, cls in _OWN.items()}


def name_of(obj):
    """ "module name" of a class or function, as PyTorch's files have it."""
    if obj in _OWN_NAMES:
        return _OWN_NAMES[obj]
    module, name = getattr(obj, "__module__", None), getattr(obj, "__qualname__", None)
    if module is None or name is None or "." in name or getattr(sys.modules.get(module), name, None) is not obj:
        raise TypeError(
            f"[save] {obj!r} cannot be saved: a file names classes and functions by their place in a module, "
            "and it is not there"
        )
    if module.startswith("tenon.nn.modules.") and getattr(nn, name, None) is obj:
        file = _MODULE_OF_LAYER.get(name, module.rpartition(".")[2])
        return f"torch.nn.modules.{file} {name}"
    module, name = _compat_pickle.REVERSE_NAME_MAPPING.get((module, name), (module, name))
    return f"{_compat_pickle.REVERSE_IMPORT_MAPPING.get(module, module)} {name}"


def _modern(name):
    """The name that Python 3 has for what pickles of Python 2 name."""
    module, _, name = name.partition(" ")
    module, name = _compat_pickle.NAME_MAPPING.get((module, name), (module, name))
    return f"{_compat_pickle.IMPORT_MAPPING.get(module, module)} {name}"


def _dotted(name):
    return name.replace(" ", ".")


# ---- what is allowed ----

# What add_safe_globals() was given, by name.
allowed = {}

# These may be named, not called.
_PLAIN = ("bool", "dict", "float", "int", "list", "object", "str", "tuple")
# Made if weights_only is false: they hold data and do nothing.
_HARMLESS = {
    *(f"numpy.{core}.multiarray {name}" for core in ("core", "_core") for name in ("scalar", "_reconstruct")),
    "numpy ndarray",
    "numpy dtype",
    "collections defaultdict",
    "collections deque",
    *(f"builtins {name}" for name in _PLAIN),
    "argparse Namespace",
    "types SimpleNamespace",
    "datetime date",
    "datetime datetime",
    "datetime time",
    "datetime timedelta",
    "datetime timezone",
    "decimal Decimal",
    "fractions Fraction",
    "uuid UUID",
    *(
        f"{module} {name}"
        for module in ("pathlib", "pathlib._local")
        for name in ("PosixPath", "PurePosixPath", "PureWindowsPath")
    ),
}
_NOT_OF_PROGRAMS = sys.stdlib_module_names | {"numpy", "tenon", "torch"}
# A method is named as an attribute of its class.
_MEMBER = "builtins getattr"


def _layer(name):
    """The class of Tenon that a class of torch.nn is here."""
    module, _, name = name.partition(" ")
    cls = getattr(nn, name, None) if module == "torch.nn" or module.startswith("torch.nn.modules.") else None
    return cls if isinstance(cls, type) and issubclass(cls, nn.Module) else None


def _imported(name):
    module, _, name = name.partition(" ")
    return getattr(sys.modules.get(module), name, None)


def _find(name):
    """The class or function that a file names, if objects of it may be made; else None."""
    for known in (name, _modern(name)):
        if known in allowed:
            return allowed[known]
    name = _modern(name)
    if name in _HARMLESS:
        __import__(name.partition(" ")[0])
        return _imported(name)
    cls = _layer(name)
    if cls is None:
        cls = _imported(name)
        # Of the program's own modules those that it has imported: nothing is imported because a file says so.
        cls = (
            cls if isinstance(cls, type) and (issubclass(cls, (nn.Module, tenon.Tensor)) or _of_program(cls)) else None
        )
    return cls


def _of_program(cls):
    """Whether it is a class in Python, of a program or its libraries, whose objects do nothing when they are made or dropped."""
    heap_type = 1 << 9
    return (
        cls.__flags__ & heap_type
        and cls.__module__.partition(".")[0] not in _NOT_OF_PROGRAMS
        and (isinstance(cls.__new__, types.BuiltinFunctionType) or issubclass(cls, enum.Enum))
        and not hasattr(cls, "__del__")
    )


def may_make(name):
    """Whether load() with weights_only=False makes objects of the class, or calls the function, that a file names."""
    try:
        return name == _MEMBER or name == "__builtin__ getattr" or _find(name) is not None
    except ImportError:
        return False


def resolve(obj):
    """(name, object) of what add_safe_globals() is given: a class or function, such a thing with a name, or a name."""
    if isinstance(obj, tuple) and len(obj) == 2 and isinstance(obj[1], str):
        return obj[1], obj[0]
    if not isinstance(obj, str):
        return name_of(obj), obj
    module, _, name = obj.replace(" ", ".").rpartition(".")
    layer = _layer(f"{module} {name}")
    if layer is not None:
        return obj, layer
    try:
        __import__(module)
        return obj, getattr(sys.modules[module], name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ValueError(f"add_safe_globals(): there is no {obj!r} here: {error}") from None


# ---- saving ----


def attributes(tensor):
    """What a tensor has of its own: a dict, with slots a tuple of two dicts, or None."""
    slots = {name: getattr(tensor, name) for name in copyreg._slotnames(tensor.__class__) if hasattr(tensor, name)}
    if slots:
        return tensor.__dict__, slots
    return tensor.__dict__ or None


def _holder(obj):
    """The class that a function or class is in, if it is found there by its name."""
    path = getattr(obj, "__qualname__", None) or ""
    if "." not in path:
        return None
    holder = sys.modules.get(obj.__module__)
    for name in path.split(".")[:-1]:
        holder = getattr(holder, name, None)
    return holder if isinstance(holder, type) and getattr(holder, obj.__name__, None) is obj else None


def reduce(obj):
    """The name of a class or function; of another object what pickle would make it of:
    (name, args, by_new, elements, state)."""
    if isinstance(obj, (type, types.FunctionType, types.BuiltinFunctionType)):
        holder = _holder(obj)
        return name_of(obj) if holder is None else (_MEMBER, (holder, obj.__name__), False, None, None)
    try:
        made_by = copyreg.dispatch_table.get(obj.__class__)
        parts = obj.__reduce_ex__(2) if made_by is None else made_by(obj)
    except TypeError as error:
        raise TypeError(f"[save] an object of type {obj.__class__} cannot be saved: {error}") from None
    if isinstance(parts, str):
        return name_of(obj)
    function, args, state, items, entries = (*parts, None, None, None)[:5]
    elements = list(items or ()) or dict(entries or ()) or None
    by_new = function in (copyreg.__newobj__, copyreg.__newobj_ex__)
    if function is copyreg.__newobj_ex__:
        cls, positional, named = args
        if named:
            raise TypeError(
                f"[save] an object of type {obj.__class__} cannot be saved: it is made with arguments by name"
            )
        args = (cls, *positional)
    if by_new:
        function, *args = args
    return name_of(function), tuple(args), by_new, elements, state


# ---- loading ----


def _wanted(name, place, what):
    found = _find(name)
    if found is None:
        raise TypeError(
            f"[load] {place}{what} {_dotted(name)} has no counterpart here; add_safe_globals() can give it one"
        )
    return found


def layout_of(name, place):
    layout = getattr(_C, name.partition(".")[2], None)
    if not isinstance(layout, _C.layout):
        raise TypeError(f"[load] {place}the layout {name} has no counterpart here")
    return layout


def global_of(name, place):
    if name in _OWN:
        return _OWN[name]
    module, _, member = _modern(name).partition(" ")
    if module == "builtins" and member in ("set", "frozenset", "complex", "bytes", "bytearray", "slice", "range"):
        return getattr(builtins, member)
    if _modern(name) == "collections OrderedDict" or _modern(name) == "collections Counter":
        return _imported(_modern(name))
    return _wanted(name, place, "the class or function")


def _member(place, holder, name):
    """A method, a class within a class or a member of an Enum; the file cannot call it."""
    found = vars(holder).get(name) if isinstance(holder, type) and not name.startswith("__") else None
    if not isinstance(found, (type, types.FunctionType, enum.Enum)):
        raise TypeError(f"[load] {place}the file asks for {name!r} of {holder!r}, which is no method, class or member")
    return found


def as_class(name, place, tensor):
    cls = _wanted(name, place, "a tensor of class")
    if not issubclass(cls, tenon.Tensor):
        raise TypeError(f"[load] {place}{_dotted(name)} is no subclass of Tensor")
    return _C._make_subclass(cls, tensor.detach(), tensor.requires_grad)


def make(name, place, args, by_new):
    if _modern(name) == _MEMBER:
        return _member(place, *args)
    function = _wanted(name, place, "an object of class")
    if by_new:
        return function.__new__(function, *args)
    if (
        isinstance(function, type)
        and (issubclass(function, (nn.Module, tenon.Tensor)) or _of_program(function))
        and not issubclass(function, enum.Enum)
        and function not in allowed.values()
    ):
        raise TypeError(f"[load] {place}the file calls the class {_dotted(name)}; add_safe_globals() can allow that")
    if _modern(name).startswith("builtins ") or any(isinstance(arg, range) for arg in args):
        raise TypeError(
            f"[load] {place}the file calls {_dotted(name)}, which is not done"
        )  # a range is small, a list of it is large
    return function(*args)


def add_elements(obj, elements):
    """Of a list or dict by its class."""
    if not isinstance(obj, (collections.deque, dict, list)) and type(obj) not in allowed.values():
        raise TypeError(
            f"[load] the file puts elements into an object of {type(obj)}; add_safe_globals() can allow that"
        )
    if isinstance(elements, dict):
        for key, value in elements.items():
            obj[key] = value
    else:
        obj.extend(elements)


def set_attributes(obj, state):
    """What a file says of an object's attributes: a dict, or with slots a tuple of two."""
    plain, slots = state if isinstance(state, tuple) and len(state) == 2 else (state, None)
    if plain:
        obj.__dict__.update(plain)
    for name, value in (slots or {}).items():
        setattr(obj, name, value)


def _check_dtype(dtype, state):
    # numpy believes what a state says of sizes, and of where in an element pointers are.
    if len(state) < 8 or any(part is not None for part in state[2:5]) or state[5] not in (-1, dtype.itemsize):
        raise TypeError("[load] a structured dtype of numpy is not made unless add_safe_globals() allows numpy.dtype")


def set_state(obj, state):
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(obj, numpy.dtype) and numpy.dtype not in allowed.values():
        _check_dtype(obj, state)
    if hasattr(obj, "__setstate__"):
        obj.__setstate__(state)
    else:
        set_attributes(obj, state)
