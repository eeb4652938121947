"""Modes and classes that take calls of operators below autograd: `__torch_dispatch__`, PyTorch's protocol.

class Log(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        print(func)
        return func(*args, **(kwargs or {}))

with Log():
    tenon.ones(2) + 1               # aten.ones.default, aten.add.Tensor
"""

import contextlib

import tenon
from tenon import _C
from tenon._C import (
    _get_dispatch_stack_at,  # noqa: F401
    _len_torch_dispatch_stack,
    _pop_torch_dispatch_stack,
    _push_on_torch_dispatch_stack,
)


class TorchDispatchMode:
    """Sees the operators that the code inside of `with` calls, its backward passes included; modes nest.

    While its __torch_dispatch__(func, types, args, kwargs) runs, the mode is not active. Inside, calls of operators go on
    to the next mode, to the classes of tensors, and to the kernel.
    """

    def __init__(self, _dispatch_key=None):
        if _dispatch_key is not None:
            raise NotImplementedError("TorchDispatchMode: modes of other keys are not in Tenon")

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
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

    @classmethod
    def is_infra_mode(cls):
        return False

    @classmethod
    def ignore_compile_internals(cls):
        return False


class BaseTorchDispatchMode(TorchDispatchMode):
    """Passes all calls on."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def _push_mode(mode):
    _push_on_torch_dispatch_stack(mode)


def _pop_mode(k=None):
    """Leaves the innermost mode, and gives it."""
    return _pop_torch_dispatch_stack()


@contextlib.contextmanager
def _pop_mode_temporarily(k=None):
    """Without the innermost mode, which it gives."""
    mode = _pop_mode()
    try:
        yield mode
    finally:
        _push_mode(mode)


def _get_current_dispatch_mode():
    """The innermost mode, or None."""
    count = _len_torch_dispatch_stack()
    return _get_dispatch_stack_at(count - 1) if count else None


def _get_current_dispatch_mode_stack():
    """The modes, the innermost last."""
    return [_get_dispatch_stack_at(i) for i in range(_len_torch_dispatch_stack())]


@contextlib.contextmanager
def _disable_current_modes():
    """Without any mode; gives them."""
    modes = [_pop_mode() for _ in range(_len_torch_dispatch_stack())][::-1]
    try:
        yield modes
    finally:
        for mode in modes:
            _push_mode(mode)


def is_in_torch_dispatch_mode(include_infra_modes=True):
    """Whether a mode is active on this thread."""
    return _len_torch_dispatch_stack() > 0


def any_torch_dispatch_mode_on_stack(*, include_infra_modes=True):
    """Whether a mode is active on this thread."""
    return _len_torch_dispatch_stack() > 0


def _detect_infra_mode(key):
    """None: there are no modes of other kinds."""


def is_traceable_wrapper_subclass_type(t):
    """Whether it is a class of wrappers that say what they hold: with __tensor_flatten__ and __tensor_unflatten__."""
    return (
        issubclass(t, tenon.Tensor)
        and t is not tenon.Tensor
        and hasattr(t, "__tensor_flatten__")
        and hasattr(t, "__tensor_unflatten__")
    )


def is_traceable_wrapper_subclass(t):
    """Whether it is an object of such a class."""
    return isinstance(t, tenon.Tensor) and is_traceable_wrapper_subclass_type(type(t))


def transform_subclass(t, callback, outer_size=None, outer_stride=None):
    """The wrapper with callback(name, part) in the place of each of its parts."""
    names, context = t.__tensor_flatten__()
    parts = {name: callback(name, getattr(t, name)) for name in names}
    size = t.size() if outer_size is None else outer_size
    stride = t.stride() if outer_stride is None else outer_stride
    wrapper = type(t).__tensor_unflatten__(parts, context, size, stride)
    if tuple(wrapper.shape) != tuple(size) or tuple(wrapper.stride()) != tuple(stride):
        raise AssertionError(
            f"Expected return value from {type(t)}__tensor_unflatten__() to have shape equal to {size} and stride equal "
            f"to {stride}, but got: {wrapper.shape} and {wrapper.stride()}"
        )
    return wrapper


def _written_set(schema_value):
    """The name of the set of memory that a written argument or result is in, or None."""
    alias = schema_value.alias_info
    return next(iter(alias.before_set)) if alias is not None and alias.is_write and alias.before_set else None


def _arguments_by_set(schema, args, kwargs):
    found = {}
    for i, argument in enumerate(schema.arguments):
        written = _written_set(argument)
        if written is None:
            continue
        if i < len(args) and not argument.kwarg_only:
            found[written] = args[i]
        elif argument.name in kwargs:
            found[written] = kwargs[argument.name]
    return found


def return_and_correct_aliasing(func, args, kwargs, out):
    """What a wrapper's __torch_dispatch__ returns for `out`, what it has computed.

    A result that func's schema says it writes is the argument itself. A result that is a view of an argument shares the
    argument's storage, as the parts that it wraps do.
    """
    schema = func._schema
    results = list(out) if isinstance(out, (tuple, list)) and len(schema.returns) > 1 else [out]
    first = next((value for value in args if isinstance(value, tenon.Tensor)), None)
    for result, described in zip(results, schema.returns):
        alias = described.alias_info
        if alias is None or alias.is_write or first is None:
            continue
        for one in result if isinstance(result, (tuple, list)) else [result]:
            if isinstance(one, tenon.Tensor) and one is not first:
                _C._share_storage(one, first)
    written = _arguments_by_set(schema, args, kwargs or {})
    if not any(_written_set(described) for described in schema.returns):
        return out
    results = [written.get(_written_set(d), r) for r, d in zip(results, schema.returns)]
    return type(out)(results) if len(schema.returns) > 1 else results[0]
