"""Checkpoints that the ranks write and read together: a folder with an index and files that torch.load reads, too.

Example:

    checkpoint.save({"net": net.state_dict()}, checkpoint_id="run1/step100")   # on all ranks
    checkpoint.load(state, checkpoint_id="run1/step100")                       # on as many as there are now
"""

import os

import tenon
from tenon import _C

__all__ = ["ShardedReader", "load", "save"]


def _flat(state_dict, prefix=""):
    """[(path, tensor)] of nested dicts. TypeError for anything that is no tensor."""
    for key, value in state_dict.items():
        if not isinstance(key, str):
            raise TypeError(f"checkpoint: expected names, got the key {key!r} in '{prefix[:-1]}'")
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        elif isinstance(value, tenon.Tensor):
            yield prefix + key, value
        else:
            raise TypeError(
                f"checkpoint: '{prefix}{key}' is a {type(value).__name__}; only tensors are kept, in nested dicts"
            )


def _group(process_group):
    """(the group or None for a process by itself, rank, number of ranks)"""
    from tenon import distributed

    if not distributed.is_available() or not distributed.is_initialized():
        return None, 0, 1
    return process_group, distributed.get_rank(process_group), distributed.get_world_size(process_group)


def save(state_dict, *, checkpoint_id, process_group=None):
    """Writes a state that all ranks hold into the folder, each its part of the rows. Returns on all when it is there.

    If any rank fails, all raise, and the older checkpoint of the folder stays. Several runs that save to one folder leave one of them, whole.
    """
    folder, state = os.fspath(checkpoint_id), list(_flat(state_dict))
    group, rank, size = _group(process_group)
    if size == 1:
        _C._commit_shards([_C._write_share(state, folder, 0, 1)], folder)
        return
    from tenon import _distributed

    _distributed._save_together(
        lambda: _C._write_share(state, folder, rank, size), lambda parts: _C._commit_shards(parts, folder), group
    )


class ShardedReader:
    """An open checkpoint: any part of a tensor, whatever the parts were that it was saved in."""

    def __init__(self, checkpoint_id):
        self._checkpoint = _C._ShardedCheckpoint(os.fspath(checkpoint_id))

    def shapes(self):
        """{name: sizes}"""
        return self._checkpoint.shapes()

    def tensor(self, name, offset=None, shape=None):
        """A tensor, or the part of it that begins at `offset` and has `shape`."""
        if offset is None and shape is None:
            return self._checkpoint.tensor(name)
        return self._checkpoint.part(name, offset, shape)

    def verify(self):
        """Reads everything; RuntimeError for damage."""
        self._checkpoint.verify()


def load(state_dict, *, checkpoint_id, process_group=None):
    """Copies the checkpoint of the folder into the tensors of state_dict, on any number of ranks: no rank waits for another.

    RuntimeError, before anything is copied, if a tensor is missing there or has another shape.
    """
    reader = ShardedReader(checkpoint_id)
    shapes, wanted = reader.shapes(), list(_flat(state_dict))
    problems = [
        f"there is no '{name}'"
        if name not in shapes
        else f"'{name}' has shape {shapes[name]}, expected {list(t.shape)}"
        for name, t in wanted
        if shapes.get(name) != list(t.shape)
    ]
    if problems:
        raise RuntimeError(f"checkpoint.load: {os.fspath(checkpoint_id)}: " + "; ".join(problems))
    with tenon.no_grad():
        for name, tensor in wanted:
            tensor.copy_(reader.tensor(name))
