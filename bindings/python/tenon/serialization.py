"""save and load: checkpoints in PyTorch's formats. Loading executes nothing."""

import contextlib
import io
import os
import pickle

from tenon import _C


def _fspath(f):
    path = os.fsencode(f)
    if b"\0" in path:
        raise ValueError("embedded null byte")
    return path


def _write(f, data):
    """Writes all of the data: a raw file may take less at once."""
    data = memoryview(data)
    while len(data) > 0:
        written = f.write(data)
        if isinstance(f, io.RawIOBase):
            if not written:
                raise BlockingIOError(f"save(): the file took none of the last {len(data)} bytes")
            data = data[written:]
        elif isinstance(written, int) and written != len(data):
            raise OSError(f"save(): the file took {written} of {len(data)} bytes")
        else:
            break
    if hasattr(f, "flush"):
        f.flush()


def save(obj, f, pickle_module=pickle, pickle_protocol=2, _use_new_zipfile_serialization=True):
    """Writes an object to a path or a binary file, as torch.save does.

    obj: tensors, parameters, storages, numbers, strings, bytes, dtypes, devices, Python's containers of them; modules and
    other objects that pickle could write, whose classes the program that loads them must know: see load().
    pickle_protocol: 2 is written for each protocol from 2 on, so that every reader can read the file.
    """
    if pickle_module not in (None, pickle):
        raise ValueError("save(): there is no pickle_module but pickle: checkpoints are written by Tenon itself")
    if pickle_protocol not in range(2, pickle.HIGHEST_PROTOCOL + 1):
        raise ValueError(f"save(): pickle_protocol is 2 to {pickle.HIGHEST_PROTOCOL}, got {pickle_protocol}")
    if isinstance(f, (str, os.PathLike)):
        _C._save_file(obj, _fspath(f), _use_new_zipfile_serialization)
    elif hasattr(f, "write"):
        _write(f, _C._save_bytes(obj, _use_new_zipfile_serialization))
    else:
        raise TypeError(f"save(): expected a path or a file to write to, got {type(f).__name__}")


def load(f, map_location=None, pickle_module=None, *, weights_only=None, mmap=None, encoding="utf-8"):
    """Reads what save() or torch.save wrote from a path or a binary file. Nothing is imported or called because a file says so.

    map_location: where tensors go: a device, its name, a dict of names, or a function of a storage in CPU memory and the
    name of its place that gives a storage, or None for the place that the file names; None: as the file says.
    mmap: for a path, tensors are parts of a mapping of the file, and are read when they are used.
    weights_only: None is true; false also allows the harmless types that PyTorch's default refuses (frozenset, slice, range, arrays of
    numpy, ...), Tenon's modules, and classes of modules and tensors that the program has imported: they are made without
    a call of their constructor. Other classes are allowed by add_safe_globals().
    """
    weights_only = True if weights_only is None else weights_only
    if pickle_module not in (None, pickle):
        raise ValueError(
            "load(): there is no pickle_module but pickle: checkpoints are read by Tenon itself, which executes nothing"
        )
    if isinstance(f, (str, os.PathLike)):
        return _C._load_file(_fspath(f), map_location, mmap, weights_only, encoding)
    if not hasattr(f, "read"):
        raise TypeError(f"load(): expected a path or a file to read from, got {type(f).__name__}")
    if mmap:
        raise ValueError("load(): mmap needs a path")
    seekable = hasattr(f, "seekable") and f.seekable()
    start = f.tell() if seekable else 0
    data = f.read()
    if isinstance(data, str):
        raise TypeError('load(): expected a file of bytes, got one of text: open it with mode "rb"')
    obj, end = _C._load_bytes(data, map_location, weights_only, encoding)
    if seekable:
        f.seek(start + end)  # behind the checkpoint: another may follow
    return obj


# ---- places ----


def register_package(priority, tagger, deserializer):
    """Adds a kind of place that storages have. The functions are asked in ascending order of priority, and the first answer counts.

    tagger(storage): the name that a file gives the storage's place, or None for what is not its business.
    deserializer(storage, location): the storage, read into CPU memory, at the place of that name, or None.
    """
    _C._register_package(priority, tagger, deserializer)


def location_tag(storage):
    """The name that a file gives a storage's place: "cpu", "cuda:0"."""
    return _C._location_tag(storage.untyped())


def default_restore_location(storage, location):
    """A storage at the place of that name."""
    return _C._restore_location(storage.untyped(), location)


# ---- what files may name ----


def _allow(objects):
    from tenon import _saved_objects

    allowed = dict(_saved_objects.resolve(obj) for obj in objects)
    names = {name.replace(" ", "."): name for name in allowed}
    _C._add_safe_globals(list(names))
    for dotted, name in names.items():
        module, _, member = dotted.rpartition(".")
        _saved_objects.allowed[f"{module} {member}"] = allowed[name]


def add_safe_globals(safe_globals):
    """Allows classes and functions in all loads from now on: files may have them called, and objects be made of them.

    safe_globals: classes and functions, pairs of one and the name that files have for it, or names, "module.name".
    """
    _allow([safe_globals] if isinstance(safe_globals, str) else safe_globals)


def get_safe_globals():
    """The classes and functions that add_safe_globals() has allowed."""
    from tenon import _saved_objects

    return list(dict.fromkeys(_saved_objects.allowed.values()))


def clear_safe_globals():
    """Allows none of them any more."""
    from tenon import _saved_objects

    _saved_objects.allowed.clear()
    _C._clear_safe_globals()


@contextlib.contextmanager
def safe_globals(safe_globals):
    """add_safe_globals() within a with statement."""
    from tenon import _saved_objects

    before = dict(_saved_objects.allowed)
    try:
        add_safe_globals(safe_globals)
        yield
    finally:
        clear_safe_globals()
        _C._add_safe_globals(list(before))
        _saved_objects.allowed.update(before)
