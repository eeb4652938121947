"""Tensors whose memory several processes have: an anonymous file in memory that each of them maps.

share_memory_() moves a tensor there. Passed to another process, by a queue, a pipe or as an argument, it is the same memory; other
tensors are passed as copies.
"""

import mmap
import os
import threading
import weakref
from multiprocessing.reduction import DupFd, ForkingPickler

from tenon import _C
from tenon._tensor import _bits_of, _with_bits


class _Memory(mmap.mmap):
    """A mapping that keeps its file open."""

    def __new__(cls, descriptor, size):
        memory = super().__new__(cls, descriptor, size)
        memory.descriptor = descriptor
        return memory

    def __del__(self):
        os.close(self.descriptor)


# What is mapped in this process, by its address.
_mapped = weakref.WeakValueDictionary()
_lock = threading.Lock()


def _storage_of(memory):
    storage = _C._from_bytes(memoryview(memory), _C.uint8).untyped_storage()
    with _lock:
        _mapped[storage.data_ptr()] = memory
    return storage


def _memory_of(tensor):
    return _mapped.get(_C._storage(tensor).data_ptr()) if tensor.device.type == "cpu" else None


def is_shared(tensor):
    """Whether other processes can have the tensor's memory: memory of GPUs can."""
    return tensor.is_cuda or _memory_of(tensor) is not None


def share(tensor):
    """Moves the tensor's elements into memory that processes share; its storage is a new one, and views of the old one keep that."""
    storage = _C._storage(tensor)
    if is_shared(tensor) or storage.nbytes() == 0:
        return tensor
    if tensor.device.type != "cpu":
        raise RuntimeError(f"share_memory_(): a tensor on {tensor.device} has no memory to share")
    descriptor = os.memfd_create("tenon")
    os.ftruncate(descriptor, storage.nbytes())
    shared = _storage_of(_Memory(descriptor, storage.nbytes()))
    _over(shared, _C.uint8, 0, (shared.nbytes(),), (1,)).copy_(_over(storage, _C.uint8, 0, (storage.nbytes(),), (1,)))
    data = _over(shared, tensor.dtype, tensor.storage_offset(), tuple(tensor.size()), tensor.stride())
    tensor.data = _with_bits(data, tensor.is_conj(), tensor.is_neg())
    return tensor


def _over(storage, dtype, offset, sizes, strides):
    return _C._tensor_over(storage, dtype, offset, sizes, strides)


def _rebuild(cls, duplicate, size, dtype, offset, sizes, strides, requires_grad, bits=(False, False)):
    from tenon.nn.parameter import Parameter

    storage = _storage_of(_Memory(duplicate.detach(), size))
    tensor = _with_bits(_over(storage, dtype, offset, sizes, strides), *bits)
    return Parameter(tensor, requires_grad) if cls is Parameter else tensor.requires_grad_(requires_grad)


def _reduce(tensor):
    memory = _memory_of(tensor)
    if memory is None or not tensor.is_leaf or vars(tensor):
        return tensor.__reduce_ex__(2)
    geometry = tensor.storage_offset(), tuple(tensor.size()), tensor.stride()
    duplicate = DupFd(memory.descriptor)
    rest = tensor.requires_grad, *_bits_of(tensor)
    return _rebuild, (type(tensor), duplicate, len(memory), tensor.dtype, *geometry, *rest)


def register():
    """Has pickles between processes share memory that is shared."""
    from tenon.nn.parameter import Parameter

    ForkingPickler.register(_C.Tensor, _reduce)
    ForkingPickler.register(Parameter, _reduce)


register()
