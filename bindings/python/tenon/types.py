"""Names for annotations."""

from collections.abc import Sequence
from typing import Any

from tenon import _C
from tenon._C import Size as Size, device as _device
from tenon.storage import TypedStorage, UntypedStorage

__all__ = ["Device", "FileLike", "Number", "Storage"]

Number = int | float | bool
Device = _device | str | int | None
Storage = UntypedStorage | TypedStorage
FileLike = Any
_size = Size | list[int] | tuple[int, ...]
_TensorOrTensors = _C.Tensor | Sequence[_C.Tensor]
