"""Trading time for memory: what backward needs is computed again."""

from tenon import _C
from tenon._C import CheckpointError  # noqa: F401


def checkpoint(
    function, *args, use_reentrant=None, context_fn=None, preserve_rng_state=True, determinism_check="default",
    early_stop=None, **kwargs,
):  # fmt: skip
    """function(*args, **kwargs), of which backward keeps the inputs alone and calls the function again.

    use_reentrant: false records the call as ever and keeps nothing of it (to be preferred); true runs a backward pass
    of its own within backward. context_fn gives two context managers, for the first call and for later ones.
    """
    if determinism_check not in ("default", "none"):
        raise ValueError(f"determinism_check must be 'default' or 'none', got {determinism_check!r}")
    places = [i for i, value in enumerate(args) if isinstance(value, _C.Tensor)]
    single = False

    def call(*tensors):
        nonlocal single
        given = list(args)
        for i, tensor in zip(places, tensors):
            given[i] = tensor
        result = function(*given, **kwargs)
        single = isinstance(result, _C.Tensor)
        return result

    results = _C._checkpoint(
        call, [args[i] for i in places], use_reentrant, preserve_rng_state, context_fn, determinism_check == "default",
        early_stop,
    )  # fmt: skip
    return results[0] if single else results


def checkpoint_sequential(functions, segments, input, use_reentrant=None, **kwargs):
    """The functions one after another in `segments` parts, of which all but the last are checkpointed."""
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
        input = checkpoint(part(start, end), input, use_reentrant=use_reentrant, **kwargs)
    return part(end, len(functions))(input)
