"""vmap: one call of a function for a whole batch."""

import contextlib
import functools
import threading

from tenon import _C
from tenon.random import get_rng_state, set_rng_state
from tenon.utils._pytree import _broadcast_to_and_flatten, tree_flatten, tree_unflatten

_RANDOMNESS = ("error", "different", "same")


class _Levels(threading.local):
    """What vmap is at work with in this thread: {level: (size of the batch, randomness)}."""

    def __init__(self):
        self.active = {}


_levels = _Levels()


def level_settings(level):
    """(size of the batch, randomness) of an active level."""
    return _levels.active[level]


@contextlib.contextmanager
def new_level(batch_size, randomness):
    """A level of vmap for a block: its number."""
    level = _C._func.push_vmap(batch_size, randomness)
    # A backward within vmap runs below its levels, whose numbers are given again.
    hidden = _levels.active.get(level)
    _levels.active[level] = (batch_size, randomness)
    try:
        yield level
    finally:
        _C._func.pop_vmap()
        _levels.active[level] = hidden


def name_of(func):
    """A function's name for messages."""
    if hasattr(func, "__name__"):
        return func.__name__
    if isinstance(func, functools.partial):
        return f"functools.partial({name_of(func.func)}, ...)"
    return repr(func)


def _flat_in_dims(in_dims, args, func):
    """(leaves of the arguments, for each its batched dimension or None, the arguments' shape)."""
    where = f"vmap({name_of(func)}, in_dims={in_dims}, ...)(<inputs>): "
    if not isinstance(in_dims, (int, tuple)):
        raise ValueError(
            f"{where}expected `in_dims` to be int or a (potentially nested) tuple matching the structure of inputs, "
            f"got: {type(in_dims)}."
        )
    if not args:
        raise ValueError(
            f"vmap({name_of(func)})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to vmap over "
            "a function with no inputs. The latter is unsupported."
        )
    leaves, spec = tree_flatten(args)
    dims = _broadcast_to_and_flatten(in_dims, spec)
    if dims is None:
        raise ValueError(
            f"{where}in_dims is not compatible with the structure of `inputs`. in_dims has structure "
            f"{tree_flatten(in_dims)[1]} but inputs has structure {spec}."
        )
    for i, (leaf, dim) in enumerate(zip(leaves, dims, strict=True)):
        if dim is None:
            continue
        if not isinstance(dim, int):
            raise ValueError(
                f"{where}Got in_dim={dim} for an input but in_dim must be either an integer dimension or None."
            )
        if not isinstance(leaf, _C.Tensor):
            raise ValueError(
                f"{where}Got in_dim={dim} for an input but the input is of type {type(leaf)}. We cannot vmap over non-Tensor "
                "arguments, please use None as the respective in_dim"
            )
        if not -leaf.dim() <= dim < leaf.dim():
            raise ValueError(
                f"{where}Got in_dim={dim} for some input, but that input is a Tensor of dimensionality {leaf.dim()} so "
                f"expected in_dim to satisfy -{leaf.dim()} <= in_dim < {leaf.dim()}."
            )
        dims[i] = dim % leaf.dim()
    return leaves, dims, spec


def _batch_size(leaves, dims):
    sizes = [leaf.shape[dim] for leaf, dim in zip(leaves, dims, strict=True) if dim is not None]
    if not sizes:
        raise ValueError("vmap: Expected at least one Tensor to vmap over")
    if any(size != sizes[0] for size in sizes):
        raise ValueError(
            "vmap: Expected all tensors to have the same size in the mapped dimension, "
            f"got sizes {sizes} for the mapped dimension"
        )
    return sizes[0]


def _flat_out_dims(out_dims, spec, func):
    """For each leaf of the outputs the place of its batched dimension, or None."""
    where = f"vmap({name_of(func)}, ..., out_dims={out_dims})"
    given, out_spec = tree_flatten(out_dims)
    if not all(isinstance(dim, (int, type(None))) for dim in given):
        raise ValueError(
            f"{where}: `out_dims` must be an int, None or a python collection of ints representing where in the outputs the "
            "vmapped dimension should appear."
        )
    dims = given if out_spec == spec else _broadcast_to_and_flatten(out_dims, spec)
    if dims is None and spec.is_leaf() and isinstance(out_dims, tuple) and len(out_dims) == 1:
        dims = list(out_dims)  # (0,) for a function that gives one tensor
    if dims is None:
        raise ValueError(
            f"{where}(<inputs>): out_dims is not compatible with the structure of `outputs`. out_dims has structure "
            f"{out_spec} but outputs has structure {spec}."
        )
    return dims


def _unbatched(output, dim, level, batch_size, func):
    """An output as the caller of vmap gets it."""
    name = name_of(func)
    is_tensor = isinstance(output, _C.Tensor)
    if dim is None:
        if is_tensor and _C._func.is_batched(output) and _C._func.batch_level(output) == level:
            raise ValueError(f"vmap({name}, ...): `{name}` can not return a BatchedTensor when out_dim is None")
        return output
    if not is_tensor:
        raise ValueError(
            f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(output)}. "
            "Did you mean to set out_dims= to None for output?"
        )
    if not -output.dim() - 1 <= dim <= output.dim():
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-output.dim() - 1}, {output.dim()}], but got {dim})"
        )
    return _C._func.remove_batch_dim(output, level, batch_size, dim % (output.dim() + 1))


def _called(func, leaves, dims, spec, out_dims, batch_size, randomness, kwargs):
    """(leaves of the outputs without their batch's level, their places of the batch, the outputs' shape)."""
    with new_level(batch_size, randomness) as level:
        batched = [
            leaf if dim is None else _C._func.add_batch_dim(leaf, dim, level)
            for leaf, dim in zip(leaves, dims, strict=True)
        ]
        outputs, out_spec = tree_flatten(func(*tree_unflatten(batched, spec), **kwargs))
        out = _flat_out_dims(out_dims, out_spec, func)
        results = [_unbatched(output, dim, level, batch_size, func) for output, dim in zip(outputs, out, strict=True)]
        return results, out, out_spec


def _joined(values, dim):
    """What the chunks have given for one output."""
    if dim is not None:
        return _C.cat(values, dim)
    if all(value is None for value in values):
        return None
    raise TypeError(f"expected Tensor as element 0 in argument 0, but got {type(values[0]).__name__}")


def _called_in_chunks(func, leaves, dims, spec, out_dims, batch_size, randomness, kwargs, chunk_size):
    state = get_rng_state() if randomness == "same" else None
    chunks, out, out_spec = [], None, None
    for start in range(0, batch_size, chunk_size):
        size = min(chunk_size, batch_size - start)
        if state is not None:
            set_rng_state(state)
        parts = [leaf if dim is None else leaf.narrow(dim, start, size) for leaf, dim in zip(leaves, dims, strict=True)]
        results, out, out_spec = _called(func, parts, dims, spec, out_dims, size, randomness, kwargs)
        chunks.append(results)
    return tree_unflatten([_joined(list(values), dim) for values, dim in zip(zip(*chunks), out)], out_spec)


def vmap(func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
    """A function that calls `func` once for all rows of a batch: func sees one row, operators compute the batch.

        dots = vmap(tenon.dot)                      [B, n], [B, n] -> [B]
        outer = vmap(vmap(mul, (None, 0)), (0, None))    levels nest

    in_dims: the batch's dimension in the arguments, one for all or a tree of them; None: the argument has none.
    out_dims: the place of the batch in the outputs, in the same way; None: the output is the same for all rows.
    randomness: for random operators, "error", "different" numbers in each row or the "same" in all.
    chunk_size: so many rows at a time, which takes less memory; None: all.
    """
    if randomness not in _RANDOMNESS:
        # PyTorch finds it in the call.
        def refused(*args, **kwargs):
            raise RuntimeError(
                f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}"
            )

        return refused
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    @functools.wraps(func, updated=())
    def wrapped(*args, **kwargs):
        leaves, dims, spec = _flat_in_dims(in_dims, args, func)
        size = _batch_size(leaves, dims)
        if chunk_size is not None and chunk_size < size:
            return _called_in_chunks(func, leaves, dims, spec, out_dims, size, randomness, kwargs, chunk_size)
        results, _, out_spec = _called(func, leaves, dims, spec, out_dims, size, randomness, kwargs)
        return tree_unflatten(results, out_spec)

    return wrapped
