"""jacrev, jacfwd, hessian: all derivatives at once."""

import functools

from tenon import _C
from tenon.func import _arguments
from tenon.func._forward import jvp_of
from tenon.func._reverse import vjp_of
from tenon.func._vmap import vmap
from tenon.utils._pytree import tree_flatten, tree_map, tree_unflatten


def _check_real(where, tree, what):
    for i, leaf in enumerate(tree_flatten(tree)[0]):
        if isinstance(leaf, _C.Tensor) and leaf.is_complex():
            raise RuntimeError(
                f"{where}: Expected all {what} to be real but received complex tensor at flattened input idx: {i}"
            )


def unit_vectors(tensors, start=0, stop=None):
    """Rows [start, stop) of the identity over the elements of all tensors, one block [rows, *sizes] for each tensor."""
    count = sum(tensor.numel() for tensor in tensors)
    stop = count if stop is None else stop
    if len(tensors) == 1 and stop - start == count:
        (tensor,) = tensors
        return [_C.eye(count, dtype=tensor.dtype, device=tensor.device).reshape(count, *tensor.shape)]
    blocks, first = [], 0
    for tensor in tensors:
        block = _C.zeros((stop - start, tensor.numel()), dtype=tensor.dtype, device=tensor.device)
        last = first + tensor.numel()
        low, high = max(start, first), min(stop, last)
        if low < high:
            block[low - start : high - start, low - first : high - first].diagonal().fill_(1)
        blocks.append(block.reshape(stop - start, *tensor.shape))
        first = last
    return blocks


def jacrev(func, argnums=0, *, has_aux=False, chunk_size=None, _preallocate_and_copy=False):
    """A function that gives all derivatives of `func`, by a backward for each element of its outputs, batched.

    For every output the tree of inputs, each [*output sizes, *input sizes].
    argnums: the argument, or a tuple of the arguments, to differentiate.
    has_aux: func gives (outputs, aux), and the function (Jacobian, aux).
    chunk_size: so many backwards at a time, which takes less memory; None: all.
    """
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @functools.wraps(func, updated=())
    def wrapped(*args):
        _check_real("jacrev", args, "inputs")
        outputs, vjp_fn, *aux = vjp_of(func, args, argnums, has_aux)
        _check_real("jacrev", outputs, "outputs")
        leaves, out_spec = tree_flatten(outputs)
        sizes = [leaf.numel() for leaf in leaves]
        count = sum(sizes)
        step = count if chunk_size is None else chunk_size
        parts, in_spec = [], None
        for start in range(0, count, max(step, 1)):
            vectors = unit_vectors(leaves, start, min(start + step, count))
            if step == 1:
                grads = vjp_fn(tree_unflatten([vector.squeeze(0) for vector in vectors], out_spec))
                grads = tree_map(lambda grad: grad.unsqueeze(0), grads)
            else:
                grads = vmap(vjp_fn)(tree_unflatten(vectors, out_spec))
            grads, in_spec = tree_flatten(grads)
            parts.append(grads)
        if not parts:  # no element
            chosen = _arguments.chosen(args, _arguments.places(argnums, args))
            inputs, in_spec = tree_flatten(chosen)
            parts = [[_C.zeros((0, *i.shape), dtype=i.dtype, device=i.device) for i in inputs]]
        joined = [pieces[0] if len(pieces) == 1 else _C.cat(pieces) for pieces in zip(*parts)]
        # For every input its rows for every output.
        by_input = [_C.split(grad, sizes) if len(sizes) > 1 else [grad] for grad in joined]
        rows = [
            [of_input[i].reshape(*leaf.shape, *of_input[i].shape[1:]) for of_input in by_input]
            for i, leaf in enumerate(leaves)
        ]
        result = tree_unflatten([tree_unflatten(row, in_spec) for row in rows], out_spec)
        return (result, *aux) if has_aux else result

    return wrapped


def jacfwd(func, argnums=0, has_aux=False, *, randomness="error"):
    """A function that gives all derivatives of `func`, by a derivative in the direction of each element of its inputs, batched.

    For every output the tree of inputs, each [*output sizes, *input sizes].
    argnums, has_aux: as in jacrev(). randomness: as in vmap().
    """

    @functools.wraps(func, updated=())
    def wrapped(*args):
        _check_real("jacfwd", args, "inputs")
        leaves, in_spec = tree_flatten(_arguments.chosen(args, _arguments.places(argnums, args)))
        basis = tree_unflatten(unit_vectors(leaves), in_spec)

        def pushed(vectors):
            values, tangents, *aux = jvp_of(func, args, vectors, argnums, has_aux=has_aux)
            _check_real("jacfwd", values, "outputs")
            return tangents, *aux

        tangents, *aux = vmap(pushed, randomness=randomness)(basis)
        tangents, out_spec = tree_flatten(tangents)
        sizes = [leaf.numel() for leaf in leaves]
        rows = []
        for tangent in tangents:
            moved = tangent.movedim(0, -1)
            pieces = _C.split(moved, sizes, -1) if len(sizes) > 1 else [moved]
            rows.append(
                [piece.reshape((*piece.shape[:-1], *leaf.shape)) for piece, leaf in zip(pieces, leaves, strict=True)]
            )
        result = tree_unflatten([tree_unflatten(row, in_spec) for row in rows], out_spec)
        return (result, tree_map(lambda leaf: leaf[0], aux[0])) if has_aux else result

    return wrapped


def hessian(func, argnums=0):
    """A function that gives all second derivatives of `func`: forward mode over reverse mode, batched."""
    return jacfwd(jacrev(func, argnums), argnums)
