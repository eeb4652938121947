"""What of Tensor concerns its memory: where it is, who shares it, and functions of Python over its elements."""

from tenon import _C
from tenon._tensor import Tensor, _method


@_method
def get_device(self):
    """The number of the tensor's device; -1 of the CPU, which has none."""
    return self.device.index if self.device.index is not None else -1


@_method
def const_data_ptr(self):
    """data_ptr() of elements that are only read."""
    return self.data_ptr()


@_method
def is_same_size(self, other):
    """Whether both have the same shape."""
    return self.shape == other.shape


@_method
def to_sparse_coo(self):
    """A sparse COO tensor of the elements that are not 0."""
    return self.to_sparse()


@_method
def is_distributed(self):
    """False: a tensor is in one process."""
    return False


@_method
def is_pinned(self, device=None):
    """False: memory of the CPU is not pinned."""
    return False


@_method
def is_shared(self):
    """Whether other processes can have the tensor's memory: after share_memory_(), and on a GPU."""
    from tenon.multiprocessing import reductions

    return reductions.is_shared(self)


@_method
def share_memory_(self):
    """Moves the elements into memory that processes share. Passed to one by multiprocessing, the tensor is the same there, not a copy.
    Views made before keep the old memory. No-op for a tensor that is shared already, and on a GPU."""
    from tenon.multiprocessing import reductions

    return reductions.share(self)


@_method
def record_stream(self, stream):
    """The memory is not used again before the work that the stream was given so far is done. A tensor on a GPU alone."""
    if not self.is_cuda:
        raise RuntimeError(f"[record_stream] a tensor on a GPU is required, got one on {self.device}")
    _C._cuda.record_stream(self, stream._stream)


@_method
def storage_type(self):
    """The class of storage(), as `tenon.FloatStorage`."""
    from tenon._tensor_types import storage_type_of

    return storage_type_of(self.dtype)


def _orders(self):
    """Orders of the dimensions, from the slowest to the fastest in memory: the first, and whether others are as good."""
    sizes, strides = self.shape, self.stride()
    order = sorted(range(self.dim()), key=lambda d: (-strides[d], d))
    unique = all(
        strides[a] != strides[b] and sizes[a] != 1 and sizes[b] != 1 for a, b in zip(order, order[1:], strict=False)
    )
    return tuple(order), unique and (self.dim() < 2 or 1 not in sizes)


@_method
def dim_order(self, ambiguity_check=False):
    """The dimensions from the slowest to the fastest in memory: (0, 1, 2) of a contiguous tensor.

    ambiguity_check: True, or a list of memory formats of which one must be the tensor's: an order that dimensions of size 1
    or equal strides leave open is an error.
    """
    if not isinstance(ambiguity_check, (bool, list)):
        raise TypeError("The ambiguity_check argument must be a bool or a list of memory formats.")
    order, unique = _orders(self)
    if ambiguity_check is True and not unique:
        raise RuntimeError(
            "The tensor does not have unique dim order, or cannot map to exact one of the given memory formats."
        )
    if isinstance(ambiguity_check, list):
        formats = [f for f in ambiguity_check if self.is_contiguous(memory_format=f)]
        if not unique and len(formats) != 1:
            raise RuntimeError(
                "The tensor does not have unique dim order, or cannot map to exact one of the given memory formats."
            )
    return order


@_method
def set_(self, source=None, storage_offset=0, size=None, stride=None):
    """Has the tensor show other memory: all of a storage or a part of it, what another tensor shows, or nothing.

    source: a storage, a tensor of the same dtype, or None for no elements.
    size, stride, storage_offset: the part; by default all of it, contiguous. RuntimeError where it does not fit.
    """
    if self.requires_grad and self.is_leaf and _C.is_grad_enabled():
        raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")
    if source is None:
        shown = _C.empty((0,), dtype=self.dtype, device=self.device)
    else:
        shown = _part_of(self, source, storage_offset, size, stride)
    self.data = shown
    _C._increment_version([self])
    return self


def _contiguous_strides(size):
    strides, step = [], 1
    for n in reversed(size):
        strides.insert(0, step)
        step *= max(n, 1)
    return strides


def _part_of(self, source, storage_offset, size, stride):
    if isinstance(source, Tensor):
        if source.dtype != self.dtype:
            raise RuntimeError(f"Could not set tensor of type {source.dtype} to a tensor of type {self.dtype}")
        if size is None:
            return source.detach()
        source = source.untyped_storage()
    storage = source.untyped() if hasattr(source, "untyped") else source
    if not isinstance(storage, _C.UntypedStorage):
        raise TypeError(f"set_(): a tensor or a storage is required, got {source.__class__.__name__}")
    if getattr(source, "dtype", self.dtype) != self.dtype:
        raise RuntimeError(f"Expected a Storage of type {self.dtype} or an UntypedStorage, but got type {source.dtype}")
    if size is None:
        size = ((storage.nbytes() // self.element_size() - storage_offset),)
    size = (size,) if isinstance(size, int) else tuple(size)
    stride = _contiguous_strides(size) if stride is None else ((stride,) if isinstance(stride, int) else tuple(stride))
    return _C._tensor_over(storage, self.dtype, storage_offset, size, stride)


# ---- functions of Python over the elements: slow, for data that is prepared once ----


def _map(self, name, others, function):
    if self.requires_grad or any(other.requires_grad for other in others):
        raise RuntimeError(f"Can't call {name}() on Variable that requires grad. Use var.detach().{name}() instead.")
    if not self.is_cpu:
        raise TypeError(f"{name} is only implemented on CPU tensors")
    for i, other in enumerate(others):
        if other.dtype != self.dtype or other.device != self.device:
            place = "other" if len(others) == 1 else "xy"[i]
            raise TypeError(f"{name}: expected {self.type()} for '{place}' (got {other.type()})")
    lists = [self.reshape(-1).tolist(), *(other.expand_as(self).reshape(-1).tolist() for other in others)]
    values = [function(*arguments) for arguments in zip(*lists, strict=True)]
    if values:
        self.copy_(_C.tensor(values, dtype=self.dtype).view(self.shape))
    return self


@_method
def apply_(self, callable):
    """Replaces each element x by callable(x): slow, as each is a call of Python. CPU tensors without gradients alone."""
    return _map(self, "apply_", (), callable)


@_method
def map_(self, tensor, callable):
    """Replaces each element x by callable(x, y), with y of the tensor, which is broadcast. See apply_()."""
    return _map(self, "map_", (tensor,), callable)


@_method
def map2_(self, x, y, callable):
    """Replaces each element s by callable(s, x, y), with those of the tensors, which are broadcast. See apply_()."""
    return _map(self, "map2_", (x, y), callable)
