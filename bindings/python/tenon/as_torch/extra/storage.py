"""What pickles of storages name."""

import io

import tenon


def _load_from_bytes(b):
    """A storage that was saved by itself."""
    return tenon.load(io.BytesIO(b), weights_only=False)


def _dtype_to_storage_type_map():
    """{dtype: the name of its class of storages}"""
    from tenon._tensor_types import storage_type_of

    return {dtype: storage_type_of(dtype).__name__ for dtype in _dtypes()}


def _storage_type_to_dtype_map():
    """{name of a class of storages: dtype}"""
    return {name: dtype for dtype, name in _dtype_to_storage_type_map().items()}


def _dtypes():
    from tenon._tensor import _TYPE_NAMES

    return [getattr(tenon, name) for name in _TYPE_NAMES]
