"""Hooks of DistributedDataParallel: those of C++, as Python calls them, and what a hook of Python gives."""

import tenon
from tenon.futures import _Deferred


class NativeHook:
    """hook(process_group, bucket) -> Future of the bucket's buffer, carried out in C++. native(state) gives the hook there."""

    def __init__(self, name, doc, make):
        self.__name__, self.__doc__, self.native = name, doc, make

    def __call__(self, process_group, bucket):
        group = getattr(process_group, "process_group", process_group)
        finish = self.native(process_group)(bucket._for_group(group))

        def compute():
            finish()
            return bucket.buffer()

        return _Deferred(compute)

    def __repr__(self):
        return f"<hook {self.__name__}>"


def _take_reduced(buffer, future):
    """Puts the result of a hook of Python's into the bucket."""
    result = future.wait()
    if isinstance(result, (list, tuple)) and len(result) == 1:
        result = result[0]
    if not isinstance(result, tenon.Tensor) or result.shape != buffer.shape:
        found = tuple(result.shape) if isinstance(result, tenon.Tensor) else type(result).__name__
        raise RuntimeError(
            f"[register_comm_hook] the Future of a hook must give a tensor of the bucket's shape {tuple(buffer.shape)}, "
            f"got {found}"
        )
    with tenon.no_grad():
        if result.data_ptr() != buffer.data_ptr():
            buffer.copy_(result)
