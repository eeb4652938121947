"""Writes the safetensors files here with the Python package `safetensors` 0.8.0 and numpy.

| file | what it holds |
| --- | --- |
| dtypes.safetensors | tensors `t_<dtype>` [2] of all the format's dtypes of whole bytes: the bytes 0, 1, 2, ... |
| foreign.safetensors | `scale` [2], F8_E8M0, and `x` [1], F32 |
| shapes.safetensors | metadata {"format": "pt"}; a scalar, an empty [0, 3], a [2, 3] and one whose name has to be escaped |
"""

import ctypes
from pathlib import Path

import numpy as np
from safetensors import TensorSpec, serialize_file
from safetensors.numpy import save_file

HERE = Path(__file__).resolve().parent
SIZES = {
    "bool": 1,
    "uint8": 1,
    "int8": 1,
    "float8_e4m3fn": 1,
    "float8_e5m2": 1,
    "float8_e4m3fnuz": 1,
    "float8_e5m2fnuz": 1,
    "uint16": 2,
    "int16": 2,
    "float16": 2,
    "bfloat16": 2,
    "uint32": 4,
    "int32": 4,
    "float32": 4,
    "complex64": 8,
    "uint64": 8,
    "int64": 8,
    "float64": 8,
}
COUNTING = ctypes.create_string_buffer(bytes(range(16)))


def spec(dtype, count, size):
    return TensorSpec(dtype=dtype, shape=[count], data_ptr=ctypes.addressof(COUNTING), data_len=count * size)


serialize_file({f"t_{d}": spec(d, 2, size) for d, size in SIZES.items()}, str(HERE / "dtypes.safetensors"))
serialize_file({"scale": spec("float8_e8m0fnu", 2, 1), "x": spec("float32", 1, 4)}, str(HERE / "foreign.safetensors"))
save_file(
    {
        "scalar": np.array(1.5, np.float32),
        "empty": np.zeros((0, 3), np.float32),
        "matrix": np.arange(6, dtype=np.int64).reshape(2, 3),
        '"quoted\\\n\u00e9': np.array([7], np.uint8),
    },
    HERE / "shapes.safetensors",
    {"format": "pt"},
)
