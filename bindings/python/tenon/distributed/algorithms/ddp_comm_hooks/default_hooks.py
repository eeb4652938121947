"""The mean of all ranks, in full or half precision. `state` is a process group; None: the model's."""

import tenon
from tenon import _distributed as _C
from tenon.distributed._ddp import NativeHook

__all__ = [
    "allreduce_hook",
    "bf16_compress_hook",
    "bf16_compress_wrapper",
    "fp16_compress_hook",
    "fp16_compress_wrapper",
]

allreduce_hook = NativeHook("allreduce_hook", "all_reduce of the mean.", lambda state: _C._allreduce_hook())
fp16_compress_hook = NativeHook(
    "fp16_compress_hook", "The same, sent as float16.", lambda state: _C._fp16_compress_hook()
)
bf16_compress_hook = NativeHook(
    "bf16_compress_hook", "The same, sent as bfloat16.", lambda state: _C._bf16_compress_hook()
)


def _wrapper(hook, dtype):
    def wrapped(state, bucket):
        full = bucket.buffer()
        bucket.set_buffer(full.to(dtype))

        def decompress(future):
            value = future.value()
            value = value[0] if isinstance(value, (list, tuple)) else value
            with tenon.no_grad():
                return full.copy_(value)

        return hook(state, bucket).then(decompress)

    return wrapped


def fp16_compress_wrapper(hook):
    """The hook with buckets of float16."""
    return _wrapper(hook, tenon.float16)


def bf16_compress_wrapper(hook):
    """The hook with buckets of bfloat16."""
    return _wrapper(hook, tenon.bfloat16)
