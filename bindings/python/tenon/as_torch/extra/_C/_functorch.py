"""The tensors of vmap, by the names of PyTorch's extension module. There are none of grad: it has no levels."""

from tenon import _C
from tenon.as_torch.extra._decorators import answer

is_batchedtensor = is_functorch_wrapped_tensor = is_legacy_batchedtensor = _C._func.is_batched
is_gradtrackingtensor = answer("is_gradtrackingtensor", False, "False.")
is_functionaltensor = answer("is_functionaltensor", False, "False.")
_add_batch_dim = _C._func.add_batch_dim
_remove_batch_dim = _C._func.remove_batch_dim
_vmap_increment_nesting = _C._func.push_vmap


def _vmap_decrement_nesting():
    """Ends the innermost level, whose number is the result."""
    level = _C._func.current_level()
    _C._func.pop_vmap()
    return level


def get_unwrapped(tensor):
    """The tensor under the innermost level; the tensor itself if it is not batched."""
    return _C._func.batch_value(tensor) if _C._func.is_batched(tensor) else tensor


def maybe_get_level(tensor):
    """The innermost level that a tensor is batched at; -1: none."""
    return _C._func.batch_level(tensor) if _C._func.is_batched(tensor) else -1


def maybe_get_bdim(tensor):
    """The place of the batch in what get_unwrapped() gives; -1: there is none."""
    return 0 if _C._func.is_batched(tensor) else -1


def maybe_current_level():
    """The innermost level of vmap, or None."""
    return _C._func.current_level() or None
