"""Trading time for memory: what backward needs is computed again."""

import contextlib
import enum
import functools
import warnings
import weakref
from typing import Any

from tenon import _C
from tenon._C import CheckpointError  # noqa: F401
from tenon._tensor import typename
from tenon.autograd.grad_mode import no_grad

_debug = None  # what set_checkpoint_debug_enabled() says
_early_stop = None  # what set_checkpoint_early_stop() says


@contextlib.contextmanager
def set_checkpoint_debug_enabled(enabled):
    """Within, `debug` of checkpoint() is this, whatever it is given; None: what it is given."""
    global _debug
    before, _debug = _debug, enabled
    try:
        yield
    finally:
        _debug = before


@contextlib.contextmanager
def set_checkpoint_early_stop(enable):
    """Within, whether the second call of a checkpointed call ends when all that is needed is there."""
    global _early_stop
    before, _early_stop = _early_stop, enable
    try:
        yield
    finally:
        _early_stop = before


def _warned_form(name, stacklevel):
    """What `use_reentrant` is where it is not given."""
    warnings.warn(
        f"{name}: the use_reentrant parameter should be passed explicitly: use_reentrant=False is recommended, and True "
        "is what is meant without it.",
        stacklevel=stacklevel,
    )
    return True


def _refuse(unexpected):
    if unexpected:
        raise ValueError("Unexpected keyword arguments: " + ",".join(unexpected))


def checkpoint(
    function=None, *args, use_reentrant=None, context_fn=None, preserve_rng_state=True, determinism_check="default",
    early_stop=True, debug=False, respect_saved_tensors_hooks=None, **kwargs,
) -> Any:  # fmt: skip
    """function(*args, **kwargs), of which backward keeps the inputs alone and calls the function again.

    use_reentrant: false records the call as ever and keeps nothing of it (to be preferred); true runs a backward pass
    of its own within backward. context_fn gives two context managers, for the first call and for later ones: see
    create_selective_checkpoint_contexts(). debug: a CheckpointError names the first operator that differs.
    Keyword arguments for the function go with use_reentrant=False alone. Without a function, a decorator that makes one
    a checkpointed call.
    """
    if function is None and not args:
        _refuse(kwargs)

        def decorate(function):
            @functools.wraps(function)
            def checkpointed(*args, **kwargs):
                return _checkpoint(
                    function,
                    args,
                    kwargs,
                    use_reentrant,
                    context_fn,
                    preserve_rng_state,
                    determinism_check,
                    early_stop,
                    debug,
                )

            return checkpointed

        return decorate
    return _checkpoint(
        function, args, kwargs, use_reentrant, context_fn, preserve_rng_state, determinism_check, early_stop, debug
    )


def _checkpoint(
    function, args, kwargs, use_reentrant, context_fn, preserve_rng_state, determinism_check, early_stop, debug
):
    if determinism_check not in ("default", "none"):
        raise ValueError(f"determinism_check should be one of ['default', 'none'], but got {determinism_check}")
    if use_reentrant is None:
        use_reentrant = _warned_form("checkpoint", 4)
    if use_reentrant:
        _refuse(kwargs)
    if use_reentrant is False and _debug is not None:
        debug = _debug
    if _early_stop is not None:
        early_stop = _early_stop
    places = [i for i, value in enumerate(args) if isinstance(value, _C.Tensor)]
    plain = context_fn is None and not debug
    if use_reentrant and plain and not any(args[i].requires_grad for i in places):
        warnings.warn("None of the inputs have requires_grad=True. Gradients will be None", stacklevel=3)
        with no_grad():
            return function(*args)
    first = []  # what the first call gives; later ones must not keep it
    # Tensors that are not saved like the others are held against changes between the calls.
    others = _Unchanged([value for i, value in enumerate(args) if i not in places], kwargs)

    def call(*tensors):
        given = list(args)
        for i, tensor in zip(places, tensors):
            given[i] = tensor
        if not is_first:
            others.check()
        try:
            result = function(*given, **kwargs)
        finally:
            others.remember()
        if is_first:
            first.append(result)
        return [value for value in _several(result) if isinstance(value, _C.Tensor)]

    is_first = True
    try:
        tensors = _C._checkpoint(
            call, [args[i] for i in places], use_reentrant, preserve_rng_state, context_fn, determinism_check == "default",
            early_stop, debug,
        )  # fmt: skip
    finally:
        is_first = False
        result = first.pop() if first else None
    if not use_reentrant:
        return result
    # The one node's results stand for those of the first call.
    tensors = iter(tensors)
    results = tuple(next(tensors) if isinstance(value, _C.Tensor) else value for value in _several(result))
    return results if isinstance(result, (tuple, list)) else results[0]


class _Unchanged:
    """The tensors in some values, also within lists, tuples and dicts, and their versions."""

    def __init__(self, *values):
        self.tensors = []
        self._collect(values, set())

    def _collect(self, value, seen):
        if isinstance(value, _C.Tensor):
            if not value.is_inference():
                self.tensors.append(weakref.ref(value))
        elif isinstance(value, (list, tuple, dict)) and id(value) not in seen:
            seen.add(id(value))
            for one in value.values() if isinstance(value, dict) else value:
                self._collect(one, seen)

    def remember(self):
        tensors = [reference() for reference in self.tensors]
        self.versions = [None if tensor is None else tensor._version for tensor in tensors]

    def check(self):
        for reference, version in zip(self.tensors, self.versions):
            tensor = reference()
            if tensor is not None and tensor._version != version:
                raise RuntimeError(
                    "one of the variables needed for gradient computation has been modified by an inplace operation: "
                    f"[{typename(tensor)} {list(tensor.shape)}], an argument of a checkpointed call, is at version "
                    f"{tensor._version}; expected version {version} instead."
                )


def _several(result):
    return result if isinstance(result, (tuple, list)) else (result,)


def checkpoint_sequential(functions, segments, input, use_reentrant=None, *, preserve_rng_state=True, **kwargs):
    """The functions one after another in `segments` parts, of which all but the last are checkpointed."""
    if use_reentrant is None:
        use_reentrant = _warned_form("checkpoint_sequential", 3)
    _refuse(kwargs)
    functions = list(functions.children()) if hasattr(functions, "children") else list(functions)
    if not 1 <= segments <= len(functions):
        raise ValueError(f"segments must be from 1 to {len(functions)}, got {segments}")

    def part(start, end):
        def call(value):
            for function in functions[start:end]:
                value = function(value)
            return value

        return call

    size = len(functions) // segments
    end = 0
    for start in range(0, size * (segments - 1), size):
        end = start + size
        input = checkpoint(part(start, end), input, use_reentrant=use_reentrant, preserve_rng_state=preserve_rng_state)
    return part(end, len(functions))(input)


class CheckpointPolicy(enum.Enum):
    """What becomes of an operator's results in a checkpointed call. MUST and PREFER are the same here."""

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


class SelectiveCheckpointContext:
    """What a policy knows of the call: op_output, and that it is the first one (is_recompute is False)."""

    def __init__(self, *, is_recompute, op_output=None):
        self.is_recompute = is_recompute
        self.op_output = op_output


def _name_of(op):
    """An operator of a list, "aten::mm" or a function of tenon or tenon.ops.aten, by name."""
    name = op if isinstance(op, str) else f"aten::{getattr(op, '__name__', '')}"
    if not isinstance(op, str) and not (callable(op) and any(n == name for n, _ in _C._operator_schemas(name))):
        raise ValueError(
            f"Expected op in `op_list` to be the name of an operator, or its function, but got: {op} of type {type(op)}."
        )
    return name


def create_selective_checkpoint_contexts(policy_fn_or_list, allow_cache_entry_mutation=False):
    """What context_fn of checkpoint() gives for a call that keeps the results of some operators:

        checkpoint(f, x, use_reentrant=False, context_fn=partial(create_selective_checkpoint_contexts, ["aten::linear"]))

    policy_fn_or_list: the operators to keep, or policy(ctx, op, *args) -> CheckpointPolicy, or whether to save. `op` is
    the operator's name, "aten::add.Tensor". The policy is asked about operators that have a derivative of their own; views
    and changes in place are computed again without being asked about.
    allow_cache_entry_mutation: no error where what is kept is changed in place.
    """
    if isinstance(policy_fn_or_list, list):
        names = [_name_of(op) for op in policy_fn_or_list]
        return _C._selective_checkpoint_contexts_of(names, allow_cache_entry_mutation)
    if not callable(policy_fn_or_list):
        raise TypeError("policy_fn_or_list must be either a function or a list of ops.")

    def policy(op, args, outputs):
        context = SelectiveCheckpointContext(is_recompute=False, op_output=outputs[0] if len(outputs) == 1 else outputs)
        decision = policy_fn_or_list(context, op, *args)
        if isinstance(decision, bool):
            decision = CheckpointPolicy.MUST_SAVE if decision else CheckpointPolicy.PREFER_RECOMPUTE
        return CheckpointPolicy(decision).value

    return _C._selective_checkpoint_contexts(policy, allow_cache_entry_mutation)
