"""functionalize and debug_unwrap."""

import functools

from tenon import _C
from tenon.utils._pytree import tree_map_only

_REMOVED = ("mutations", "mutations_and_views")


def functionalize(func, *, remove="mutations"):
    """A function with the results of `func`, and its changes of the arguments.

    PyTorch's transform records a program without changes in place. Tenon's operators compute the same either way, so the
    function is called as it is.
    """
    if remove not in _REMOVED:
        raise RuntimeError(
            f"functionalize(f, remove='mutations'): received invalid argument for remove={remove}. Valid options are:\n"
            "     remove='mutations': all inplace and out= operators will be removed from the program, and replaced with their "
            "out-of-place equivalents.\n"
            "     remove='mutations_and_views': In addition to the above, all aliasing operators {view} will be replaced with "
            "their non-aliasing counterparts, {view}_copy.\n"
        )

    @functools.wraps(func, updated=())
    def wrapped(*args, **kwargs):
        return func(*args, **kwargs)

    return wrapped


def _unwrapped(tensor, recurse):
    while _C._func.is_batched(tensor):
        tensor = _C._func.batch_value(tensor)
        if not recurse:
            break
    return tensor


def debug_unwrap(tensor, *, recurse=True):
    """The tensor under that of vmap, for a look at its values: the batch is its first dimension. Not to compute with.

    tensor: a tensor, or a tree of tensors. recurse: under all levels, else under the innermost.
    """
    return tree_map_only(_C.Tensor, lambda leaf: _unwrapped(leaf, recurse), tensor)
