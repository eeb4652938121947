"""The mean of all ranks, in full or half precision. `state` is a process group; None: the model's."""

from tenon import _distributed as _C
from tenon.distributed._ddp import NativeHook

__all__ = ["allreduce_hook", "bf16_compress_hook", "fp16_compress_hook"]

allreduce_hook = NativeHook("allreduce_hook", "all_reduce of the mean.", lambda state: _C._allreduce_hook())
fp16_compress_hook = NativeHook("fp16_compress_hook", "The same, sent as float16.", lambda state: _C._fp16_compress_hook())
bf16_compress_hook = NativeHook("bf16_compress_hook", "The same, sent as bfloat16.", lambda state: _C._bf16_compress_hook())
