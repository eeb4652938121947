"""What classes and modes with a __torch_function__, and functions that heed it, are written with. The protocol is PyTorch's."""

import contextlib
import functools

from tenon import _C
from tenon._C import (
    _DisableTorchFunction as DisableTorchFunction,  # noqa: F401
    _DisableTorchFunctionSubclass as DisableTorchFunctionSubclass,  # noqa: F401
)


def has_torch_function(relevant_args):
    """Whether the class of one of the objects, a tuple, takes the calls that they are passed to."""
    return _C._has_torch_function(relevant_args)


def handle_torch_function(public_api, relevant_args, *args, **kwargs):
    """The call public_api(*args, **kwargs) by the first class of `relevant_args` that takes it.

        def double(x):
            if has_torch_function((x,)):
                return handle_torch_function(double, (x,), x)
            return x + x

    TypeError if every __torch_function__ returns NotImplemented.
    """
    name = f"{public_api.__module__}.{public_api.__name__}"
    return _C._call_override(public_api, relevant_args, args, kwargs, name)


def is_tensor_like(inp):
    """Whether it is a tensor, or of a class with a __torch_function__."""
    return isinstance(inp, _C.Tensor) or hasattr(type(inp), "__torch_function__")


def get_default_nowrap_functions():
    """The functions whose results stay as they are when a subclass of Tensor has no __torch_function__ of its own."""
    from tenon._tensor import _nowrap

    return set(_nowrap)


def overridable(function, leaves=None, as_given=False):
    """The function, whose calls classes with a __torch_function__ take: parameters with defaults come to them by name.

    leaves(args): the arguments that are asked, if they are not all: those in a list.
    as_given: the arguments come to them as they were given, as from a function that is not written in Python.
    """

    code = function.__code__
    is_plain = code.co_argcount > 0 and not code.co_kwonlyargcount and not code.co_flags & _VARIADIC
    if is_plain and leaves is None and not as_given:
        return _of_parameters(function, code)

    @functools.wraps(function)
    def checked(*args, **kwargs):
        asked = args if leaves is None else leaves(args)
        if kwargs:
            asked = (*asked, *kwargs.values())
        if not _C._has_torch_function(asked):
            return function(*args, **kwargs)
        if not as_given:
            args, kwargs = _by_name(function, args, kwargs)
        return handle_torch_function(checked, asked, *args, **kwargs)

    return checked


# *args or **kwargs, among the flags of a code object.
_VARIADIC = 0x4 | 0x8


@functools.cache
def _checking(count):
    """Makes functions of so many parameters, which neither pack nor unpack their arguments."""
    names = ", ".join(f"p{i}" for i in range(count))
    scope = {}
    exec(  # noqa: S102
        f"def make(function, asks, take):\n"
        f"    def checked({names}):\n"
        f"        if asks(({names},)):\n"
        f"            return take(checked, ({names},))\n"
        f"        return function({names})\n"
        f"    return checked",
        scope,
    )
    return scope["make"]


def _of_parameters(function, code):
    checked = _checking(code.co_argcount)(function, _C._has_torch_function, _take)
    checked.__code__ = checked.__code__.replace(
        co_varnames=code.co_varnames[: code.co_argcount],
        co_name=code.co_name,
        co_posonlyargcount=code.co_posonlyargcount,
    )
    checked.__defaults__ = function.__defaults__
    return functools.update_wrapper(checked, function)


def _take(checked, values):
    names = checked.__code__.co_varnames
    required = len(names) - len(checked.__defaults__ or ())
    return handle_torch_function(checked, values, *values[:required], **dict(zip(names[required:], values[required:])))


def _by_name(function, args, kwargs):
    """The arguments with defaults: those of parameters that have one by name, the others by place."""
    import inspect

    parameters = inspect.signature(function).parameters.values()
    defaults = {p.name: p.default for p in parameters if p.default is not p.empty}
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return args, {**defaults, **kwargs}
    names = [p.name for p in parameters]
    given = {**defaults, **dict(zip(names, args)), **kwargs}
    positional = [
        p.name for p in parameters if p.default is p.empty and p.kind is not p.KEYWORD_ONLY and p.name in given
    ]
    return tuple(given[name] for name in positional), {
        name: given[name] for name in names if name in given and name not in positional
    }


# ---- modes ----


class TorchFunctionMode:
    """Sees the functions that the code inside of `with` calls, and methods and attributes of tensors; modes nest.

    While its __torch_function__(func, types, args, kwargs) runs, the mode is not active.
    """

    def __init__(self):
        pass

    def __torch_function__(self, func, types, args=(), kwargs=None):
        raise NotImplementedError

    def __enter__(self):
        _push_mode(self)
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        _pop_mode()

    @classmethod
    def push(cls, *args, **kwargs):
        """The mode cls(*args, **kwargs)."""
        return cls(*args, **kwargs)


class BaseTorchFunctionMode(TorchFunctionMode):
    """Passes all calls on."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def _push_mode(mode):
    _C._push_on_torch_function_stack(mode)


def _pop_mode():
    """Leaves the innermost mode, and gives it."""
    return _C._pop_torch_function_stack()


@contextlib.contextmanager
def _pop_mode_temporarily():
    """Without the innermost mode, which it gives."""
    mode = _pop_mode()
    try:
        yield mode
    finally:
        _push_mode(mode)


def enable_reentrant_dispatch():
    """For a __torch_dispatch__: in `with enable_reentrant_dispatch():` calls are recorded for gradients, as a program's are."""
    return _C._ReentrantDispatch()


def _get_current_function_mode():
    """The innermost mode, or None."""
    count = _C._len_torch_function_stack()
    return _C._get_function_stack_at(count - 1) if count else None


def _get_current_function_mode_stack():
    """The modes, the innermost last."""
    return [_C._get_function_stack_at(i) for i in range(_C._len_torch_function_stack())]


# ---- which functions can be overridden ----


def _is_attribute(value):
    import inspect

    return hasattr(type(value), "__get__") and hasattr(type(value), "__set__") and not inspect.isroutine(value)


@functools.cache
def _overridable():
    """{owner: functions} and {function: name}: what a class with __torch_function__ sees."""
    import inspect

    import tenon

    modules = [
        tenon,
        tenon.functional if hasattr(tenon, "functional") else None,
        tenon.nn.functional,
        tenon.linalg,
        tenon.fft,
        tenon.special,
    ]
    functions, names = {}, {}
    for module in filter(None, modules):
        for name in dir(module):
            value = None if name.startswith("_") else getattr(module, name, None)
            if not inspect.isroutine(value):
                continue
            if value not in _ignored():
                functions.setdefault(module, []).append(value)
            names.setdefault(value, f"{_C.Tensor.__module__}{module.__name__.removeprefix('tenon')}.{name}")
    for name in dir(_C.Tensor):
        value = inspect.getattr_static(_C.Tensor, name)
        if name in _NOT_OF_TENSORS or isinstance(value, (staticmethod, classmethod)):
            continue
        if inspect.isroutine(value):
            value = getattr(_C.Tensor, name)
            functions.setdefault(_C.Tensor, []).append(value)
            names.setdefault(value, f"{_text_of_tensor()}.{name}")
        elif _is_attribute(value):
            functions.setdefault(value, []).append(value.__get__)
            names.setdefault(value.__get__, f"{_text_of_tensor()}.{name}.__get__")
    return functions, names


# What Tensor has from object, and what makes tensors.
_NOT_OF_TENSORS = {
    *(
        "__class__",
        "__delattr__",
        "__dict__",
        "__dir__",
        "__getattribute__",
        "__init__",
        "__init_subclass__",
        "__new__",
    ),
    *("__setattr__", "__sizeof__", "__str__", "__subclasshook__", "__reduce__", "__torch_function__", "__hash__"),
    *("__torch_dispatch__", "__doc__", "__module__", "__weakref__", "_make_subclass", "_make_wrapper_subclass"),
}


def _text_of_tensor():
    return f"{_C.Tensor.__module__}.Tensor"


@functools.cache
def _ignored():
    import tenon

    names = (
        "tensor as_tensor asarray from_numpy from_dlpack frombuffer empty zeros ones full rand randn randint randperm arange "
        "linspace logspace eye empty_strided scalar_tensor tril_indices triu_indices range set_default_device "
        "get_default_device set_default_dtype get_default_dtype manual_seed seed initial_seed get_rng_state set_rng_state "
        "save load compile is_tensor is_storage is_grad_enabled is_inference_mode_enabled set_num_threads get_num_threads "
        "use_deterministic_algorithms are_deterministic_algorithms_enabled set_printoptions typename vmap"
    )
    return {getattr(tenon, name) for name in names.split() if hasattr(tenon, name)}


def get_overridable_functions():
    """{module or class: its functions that a class with __torch_function__ can take}; attributes by their __get__."""
    return {owner: list(functions) for owner, functions in _overridable()[0].items()}


def _parameters_of(function):
    """Of a function of C++ by the first line of its documentation: "add(Tensor input, Number other, *, Tensor out) -> Tensor"."""
    import ast
    import inspect
    import keyword

    lines = [line for line in (function.__doc__ or "").splitlines() if line.startswith(f"{function.__name__}(")]
    overloads = [line[line.index("(") + 1 : line.rindex(") ->")] for line in lines if ") ->" in line]
    if not overloads:
        return None
    split = [[p.partition("=") for p in o.split(", ") if p != "*"] for o in overloads if o]
    names = [{declared.split()[-1] for declared, _, _ in o} for o in split]
    found = {}
    for declared, equals, default in max(split, key=len, default=()):
        name = declared.split()[-1]
        name += "_" if keyword.iskeyword(name) else ""
        try:
            value = ast.literal_eval(default) if equals else inspect.Parameter.empty
        except (SyntaxError, ValueError):
            value = None
        if not equals and not all(name.rstrip("_") in others for others in names):
            value = None  # an overload goes without
        found[name] = inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=value)
    if any("out" in others for others in names):
        found["out"] = inspect.Parameter("out", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None)
    return sorted(found.values(), key=lambda parameter: parameter.default is not parameter.empty)


def _stub(function):
    """A function with the parameters of another one, which gives -1."""
    import inspect

    def stub(*args, **kwargs):
        return -1

    try:
        stub.__signature__ = inspect.signature(function)
    except ValueError:
        parameters = _parameters_of(function)
        if parameters is not None:
            stub.__signature__ = inspect.Signature(parameters)
    return stub


@functools.cache
def get_testing_overrides():
    """{function that a class with __torch_function__ can take: one with its parameters that gives -1}"""
    return {function: _stub(function) for functions in _overridable()[0].values() for function in functions}


def get_ignored_functions():
    """The functions that no class can take: they are given no tensors."""
    return set(_ignored())


def resolve_name(f):
    """The name under which a program calls the function: "torch.Tensor.add"; None for other functions."""
    from tenon._ops import OpOverload, OpOverloadPacket

    if isinstance(f, (OpOverload, OpOverloadPacket)):
        return str(f)
    return _overridable()[1].get(f)


def is_tensor_method_or_property(func):
    """Whether it is a method of Tensor, or an attribute's __get__."""
    name = resolve_name(func) or ""
    return name.startswith(_text_of_tensor() + ".") or getattr(func, "__name__", "") == "__get__"


def has_torch_function_unary(tensor):
    """has_torch_function() of one object."""
    return has_torch_function((tensor,))


def has_torch_function_variadic(*args):
    """has_torch_function() of its arguments."""
    return has_torch_function(args)


def wrap_torch_function(dispatcher):
    """A decorator: classes with a __torch_function__ take the function's calls. dispatcher(*args, **kwargs) gives the objects to ask."""

    def decorator(func):
        @functools.wraps(func)
        def wrapped(*args, **kwargs):
            relevant = tuple(dispatcher(*args, **kwargs))
            if has_torch_function(relevant):
                return handle_torch_function(wrapped, relevant, *args, **kwargs)
            return func(*args, **kwargs)

        return wrapped

    return decorator
