"""save and load: checkpoints in PyTorch's formats. Loading executes nothing."""

import os

from tenon import _C
from tenon._C import add_safe_globals, clear_safe_globals, get_safe_globals  # noqa: F401


def save(obj, f, pickle_module=None, pickle_protocol=2, _use_new_zipfile_serialization=True):
    """Writes an object to a path or a binary file, as torch.save does.

    obj: tensors, numbers, strings, bytes, dtypes, devices, and Python's containers of them. TypeError for others.
    """
    if pickle_module is not None or pickle_protocol != 2:
        raise ValueError("save(): pickle_module and pickle_protocol are fixed: checkpoints are written by Tenon itself")
    if isinstance(f, (str, os.PathLike)):
        _C._save_file(obj, os.fspath(f), _use_new_zipfile_serialization)
    elif hasattr(f, "write"):
        f.write(_C._save_bytes(obj, _use_new_zipfile_serialization))
    else:
        raise TypeError(f"save(): expected a path or a file to write to, got {type(f).__name__}")


def load(f, map_location=None, pickle_module=None, *, weights_only=True, mmap=None, encoding="utf-8"):
    """Reads what save() or torch.save wrote from a path or a binary file. Nothing in the file is executed.

    map_location: where tensors go: a device, its name, or a dict of names; None: as the file says.
    mmap: for a path, tensors are parts of a mapping of the file, and are read when they are used.
    weights_only: false also allows the harmless types that PyTorch's default refuses (frozenset, slice, range).
    """
    if pickle_module is not None:
        raise ValueError("load(): there is no pickle_module: checkpoints are read by Tenon itself, which executes nothing")
    if isinstance(f, (str, os.PathLike)):
        return _C._load_file(os.fspath(f), map_location, mmap, weights_only, encoding)
    if not hasattr(f, "read"):
        raise TypeError(f"load(): expected a path or a file to read from, got {type(f).__name__}")
    if mmap:
        raise ValueError("load(): mmap needs a path")
    return _C._load_bytes(f.read(), map_location, weights_only, encoding)
