"""What fuse() does: guards around what tenon._C._fusion traces and builds."""

import functools
import os
import threading
import traceback
import warnings

import tenon
from tenon import _C, _build_paths

_PACKAGE = os.path.dirname(os.path.abspath(__file__))
_PREFIX = "[fuse] "
_MOST_ARGUMENTS = 32  # of an operator that is called by its name


def _place(error):
    """The user's line that has failed: "block.py:12: `if x.sum() > 0:`"."""
    frames = traceback.extract_tb(error.__traceback__)
    frame = next((one for one in reversed(frames) if not one.filename.startswith(_PACKAGE)), frames[-1])
    return f"{frame.filename}:{frame.lineno}: `{frame.line}`"


def _leaves(value, leaves):
    """Appends what lists, tuples and dicts hold; gives their form, None for a leaf."""
    if isinstance(value, dict):
        return dict, tuple(value), tuple(_leaves(one, leaves) for one in value.values())
    if isinstance(value, (list, tuple)) and not isinstance(value, _C.Size):
        return type(value), None, tuple(_leaves(one, leaves) for one in value)
    leaves.append(value)
    return None


def _joined(form, leaves):
    """The value of a form whose leaves come from an iterator."""
    if form is None:
        return next(leaves)
    kind, keys, forms = form
    values = [_joined(one, leaves) for one in forms]
    if kind is dict:
        return dict(zip(keys, values))
    return kind(*values) if hasattr(kind, "_fields") else kind(values)


def _guard(value):
    """What must be the same in a later call."""
    if isinstance(value, _C.Tensor):
        return (value.shape, value.dtype, value.device)
    return (type(value), repr(value))


def _describe(guard):
    if len(guard) == 3:
        return f"{list(guard[0])} of {guard[1]} on {guard[2]}"
    return guard[1]


def _modules_of(function):
    """The modules that a function calls, as far as it names them: their mode is a constant of a trace."""
    held = [function, getattr(function, "__self__", None)]
    for cell in getattr(function, "__closure__", None) or ():
        try:
            held.append(cell.cell_contents)
        except ValueError:  # it is not set yet
            continue
    if isinstance(function, functools.partial):
        held += [function.func, *function.args, *function.keywords.values()]
    return [module for one in held if isinstance(one, tenon.nn.Module) for module in one.modules()]


def _place_of(tensor, modules):
    """Where a tensor is that a function reads without taking it: a module's attributes and its name, or it alone."""
    for module in modules:
        for tensors in (module._parameters, module._buffers):
            for name, own in tensors.items():
                if own is tensor:
                    return tensors, name
    return {"": tensor}, ""


class _Variant:
    """The operator of one kind of arguments, or several in turn, or what builds them."""

    def __init__(self, traced, modules, tensors, num_arguments, result_form):
        self.traced, self.result_form = traced, result_form
        self.places = [_place_of(tensor, modules) for tensor in traced.captured]
        few = traced.is_one_operator and len(traced.inputs) + len(self.places) <= _MOST_ARGUMENTS
        self.is_one_operator = few
        self.inputs = traced.inputs if few else list(range(len(tensors)))
        self.takes_all = self.inputs == list(range(len(tensors)))
        self.guards = _C._fusion.TensorGuards(tensors) if len(tensors) == num_arguments else None
        self.captured_guards = _C._fusion.TensorGuards(traced.captured)
        self.records_gradients = traced.records_gradients if traced.depends_on_gradients else None
        self.operator = self.error = self.thread = None

    def fits_gradients(self, tensors):
        """Whether it was traced for calls that record gradients as this one does, or both are the same."""
        return self.records_gradients is None or self.records_gradients == _C._fusion.records_gradients(tensors)

    def captured(self):
        """The tensors that it reads besides its arguments, as they are now; None if they are of another kind."""
        if not self.places:
            return ()
        tensors = tuple([held.get(name) for held, name in self.places])
        return tensors if self.captured_guards.hold(tensors) else None

    def build(self):
        _C._fusion.build(self.traced, _build_paths.RENDER_PYTHON)
        if self.is_one_operator:
            self.operator = getattr(tenon.ops.fused, self.traced.operator_name.rpartition(":")[2])
        else:
            self.operator = self._run

    def _run(self, *tensors):
        count = len(self.inputs)
        results = _C._fusion.run(self.traced, tensors[:count], tensors[count:])
        return results if self.result_form is not None else results[0]

    def build_in_background(self):
        self.thread = threading.Thread(target=self._build_and_keep_error, name="tenon.fuse", daemon=True)
        self.thread.start()

    def _build_and_keep_error(self):
        try:
            self.build()
        except BaseException as error:  # the next call raises it
            self.error = error

    def __call__(self, tensors, captured):
        if not self.takes_all:
            tensors = [tensors[i] for i in self.inputs]
        made = self.operator(*tensors, *captured)
        if self.result_form is None:
            return made
        return _joined(self.result_form, iter(made if isinstance(made, tuple) else (made,)))


class _Fused:
    """One function: an operator for each kind of arguments."""

    def __init__(self, function, background):
        functools.update_wrapper(self, function)
        self._function = function
        self._background = background
        self._modules = _modules_of(function)
        self._variants = {}
        self._last = None  # a variant for tensors alone, in the modules' modes

    def __call__(self, *args, **kwargs):
        if self._last is not None and not kwargs:
            variant, modes = self._last
            if variant.guards.hold(args) and (not modes or modes == self._modes()) and variant.fits_gradients(args):
                captured = variant.captured()
                if captured is not None:
                    return variant(args, captured)
        return self._call(args, kwargs)

    def _modes(self):
        return tuple([module.training for module in self._modules])

    def _call(self, args, kwargs):
        if _C._fusion.is_tracing():
            return self._function(*args, **kwargs)  # it is part of another one
        leaves = []
        form = _leaves((args, kwargs), leaves)
        modes = self._modes()
        guards = (form, modes, *map(_guard, leaves))
        tensors = tuple([one for one in leaves if isinstance(one, _C.Tensor)])
        known = self._variants.get(guards, [])
        variant = next((one for one in known if one.fits_gradients(tensors)), None)
        captured = None if variant is None else variant.captured()
        if captured is None:
            if self._variants and not known:
                self._say_what_changed(args, kwargs, guards)
            if variant is not None:
                known.remove(variant)
            variant = self._trace(form, leaves, len(args))
            self._variants.setdefault(guards, known).append(variant)
            captured = variant.captured()
        if variant.operator is None:
            if variant.error is not None:
                known.remove(variant)
                if not known:
                    del self._variants[guards]
                raise variant.error
            return self._function(*args, **kwargs)
        if variant.guards is not None and not kwargs:
            self._last = variant, modes
        return variant(tensors, captured)

    def wait(self):
        """Returns when what is built in the background is there."""
        for variant in [one for known in list(self._variants.values()) for one in known]:
            if variant.thread is not None:
                variant.thread.join()

    def _say_what_changed(self, args, kwargs, guards):
        last = list(self._variants)[-1]
        if guards[0] != last[0]:
            text = "other arguments are given"
        elif guards[1] != last[1]:
            text = "a module's train() or eval() was called"
        else:
            names = []
            for name, value in [*((f"argument {i}", one) for i, one in enumerate(args)), *kwargs.items()]:
                inner = []
                _leaves(value, inner)
                names += [name if len(inner) == 1 else f"{name}, tensor {i}" for i in range(len(inner))]
            text = "; ".join(
                f"{name} is {_describe(new)}, was {_describe(old)}"
                for name, new, old in zip(names, guards[2:], last[2:])
                if new != old
            )
        name = getattr(self._function, "__name__", type(self._function).__name__)
        warnings.warn(f"[fuse] {name} is traced again: {text}", RuntimeWarning, stacklevel=3)

    def _trace(self, form, leaves, num_arguments):
        result_form = None

        def call(*tensors):
            nonlocal result_form
            given = iter(tensors)
            args, kwargs = _joined(form, iter([next(given) if isinstance(x, _C.Tensor) else x for x in leaves]))
            results = []
            result_form = _leaves(self._function(*args, **kwargs), results)
            for one in results:
                if not isinstance(one, _C.Tensor):
                    raise TypeError(f"{_PREFIX}a fused function gives a tensor or several, got {type(one).__name__}")
            return results

        try:
            tensors = tuple([one for one in leaves if isinstance(one, _C.Tensor)])
            traced = _C._fusion.trace(call, tensors)
        except RuntimeError as error:
            if not str(error).startswith(_PREFIX):
                raise
            raise type(error)(f"{_PREFIX}{_place(error)}: {str(error).removeprefix(_PREFIX)}") from None
        variant = _Variant(traced, self._modules, tensors, num_arguments, result_form)
        if self._background:
            variant.build_in_background()
        else:
            variant.build()
        return variant
