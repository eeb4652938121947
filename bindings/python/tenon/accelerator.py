"""The kind of GPU that this build serves, by whatever name: CUDA, or none."""

from tenon import _C, cuda

__all__ = [
    "current_accelerator",
    "current_device_idx",
    "current_device_index",
    "current_stream",
    "device_count",
    "empty_cache",
    "is_available",
    "max_memory_allocated",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "reset_peak_memory_stats",
    "set_device_idx",
    "set_device_index",
    "set_stream",
    "synchronize",
]


def current_accelerator(check_available=False):
    """The kind of GPU that the build serves, as a device without a number; None if it serves none, or, if asked, if none is there."""
    if not _C._has["cuda"] or check_available and not cuda.is_available():
        return None
    return _C.device("cuda")


is_available = cuda.is_available
device_count = cuda.device_count
current_device_index = current_device_idx = cuda.current_device
set_device_index = set_device_idx = cuda.set_device
current_stream, set_stream = cuda.current_stream, cuda.set_stream
synchronize = cuda.synchronize
empty_cache = cuda.empty_cache
memory_stats, memory_allocated, memory_reserved = cuda.memory_stats, cuda.memory_allocated, cuda.memory_reserved
max_memory_allocated, reset_peak_memory_stats = cuda.max_memory_allocated, cuda.reset_peak_memory_stats
