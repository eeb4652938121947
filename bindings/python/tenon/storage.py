"""The memory of tensors."""

from tenon import _C
from tenon._C import UntypedStorage as UntypedStorage, _tensor_over


def _byte_or_part(self, index):
    """A byte as a number; of a slice a storage over this part of the memory."""
    if self.device.type == "meta":
        raise NotImplementedError("Not available for 'meta' device type")
    if not isinstance(index, slice):
        return _byte(self, index)
    start, stop, step = index.indices(self.nbytes())
    if step != 1:
        raise RuntimeError(f"Trying to slice with a step of {step}, but only a step of 1 is supported")
    if stop <= start:
        return UntypedStorage(0)
    part = _tensor_over(self, _C.uint8, start, [stop - start], [1])
    return _C._from_bytes(memoryview(part.numpy()).cast("B"), _C.uint8).untyped_storage()


def _from_file(filename, shared=False, nbytes=0):
    """A storage over a file's bytes. shared: what is written goes into the file, which then has `nbytes` bytes at least."""
    import mmap
    import os

    if shared:
        with open(filename, "a+b") as file:
            if os.fstat(file.fileno()).st_size < nbytes:
                file.truncate(nbytes)
    with open(filename, "r+b" if shared else "rb") as file:
        size = nbytes or os.fstat(file.fileno()).st_size
        if size == 0:
            return UntypedStorage(0)
        access = mmap.ACCESS_WRITE if shared else mmap.ACCESS_COPY
        mapped = mmap.mmap(file.fileno(), size, access=access)
    return _C._from_bytes(memoryview(mapped), _C.uint8).untyped_storage()


def _bytes(self):
    return _tensor_over(self, _C.uint8, 0, [self.nbytes()], [1])


def _get_device(self):
    """The number of its device; -1 for the CPU."""
    return _bytes(self).get_device()


def _is_pinned(self, device="cuda"):
    return _bytes(self).is_pinned()


def _is_shared(self):
    """Whether other processes can have it: after Tensor.share_memory_(), and on a GPU."""
    return _bytes(self).is_shared()


_byte = UntypedStorage.__getitem__
UntypedStorage.__getitem__ = _byte_or_part
UntypedStorage.from_file = staticmethod(_from_file)
for _method in (_get_device, _is_pinned, _is_shared):
    _method.__name__ = _method.__qualname__ = _method.__name__[1:]
    setattr(UntypedStorage, _method.__name__, _method)


class TypedStorage:
    """A storage whose bytes are elements of a dtype: what files hold of a storage that was saved by itself.

    TypedStorage(wrap_storage=storage, dtype=tenon.float32)      a view of the storage
    TypedStorage(3, dtype=tenon.float32)                         of a size; what it holds is not defined
    TypedStorage([1.0, 2.0], dtype=tenon.float32)                of values
    """

    def __init__(self, *args, wrap_storage=None, dtype=None, device=None):
        self.dtype = _C.get_default_dtype() if dtype is None else dtype
        if wrap_storage is None:
            wrap_storage = _new_storage(args, self.dtype, device)
        elif args or device is not None:
            raise RuntimeError("TypedStorage: with wrap_storage only dtype may be given")
        elif not isinstance(wrap_storage, UntypedStorage):
            raise TypeError(f"Argument 'wrap_storage' must be UntypedStorage, but got {type(wrap_storage)}")
        self._untyped_storage = wrap_storage

    @classmethod
    def from_file(cls, filename, shared=False, size=0):
        """A storage of `size` elements over a file's bytes: see UntypedStorage.from_file()."""
        dtype = getattr(cls, "dtype", None) or _C.get_default_dtype()
        return cls(wrap_storage=UntypedStorage.from_file(filename, shared, size * dtype.itemsize))

    def untyped(self):
        """The storage itself."""
        return self._untyped_storage

    @property
    def device(self):
        return self._untyped_storage.device

    @property
    def is_cuda(self):
        return self._untyped_storage.is_cuda

    @property
    def _cdata(self):
        return self._untyped_storage._cdata

    def nbytes(self):
        return self._untyped_storage.nbytes()

    def element_size(self):
        return self.dtype.itemsize

    def size(self):
        return self.nbytes() // self.element_size()

    __len__ = size

    def data_ptr(self):
        return self._untyped_storage.data_ptr()

    def _elements(self):
        if self.device.type == "meta":
            raise NotImplementedError("Not available for 'meta' device type")
        return _tensor_over(self._untyped_storage, self.dtype, 0, [self.size()], [1])

    def __getitem__(self, index):
        if isinstance(index, slice):
            raise RuntimeError("slices are only supported in UntypedStorage.__getitem__")
        return self._elements()[index].item()

    def __setitem__(self, index, value):
        self._elements()[index] = value

    def fill_(self, value):
        self._elements().fill_(value)
        return self

    def copy_(self, source, non_blocking=None):
        self._elements().copy_(source._elements(), bool(non_blocking))
        return self

    def clone(self):
        return TypedStorage(wrap_storage=self._untyped_storage.clone(), dtype=self.dtype)

    __copy__ = clone

    def __deepcopy__(self, memo):
        import copy

        return TypedStorage(wrap_storage=copy.deepcopy(self._untyped_storage, memo), dtype=self.dtype)

    def cpu(self):
        return TypedStorage(wrap_storage=self._untyped_storage.cpu(), dtype=self.dtype)

    def cuda(self, device=None, non_blocking=False):
        return TypedStorage(wrap_storage=self._untyped_storage.cuda(device), dtype=self.dtype)

    def type(self, dtype=None, non_blocking=False):
        """The elements as another dtype; without one the name of this storage's class."""
        from tenon._tensor_types import storage_type_of

        if dtype is None:
            return f"tenon.{storage_type_of(self.dtype).__name__}"
        dtype = getattr(dtype, "dtype", dtype)
        return TypedStorage(wrap_storage=self._elements().to(dtype).untyped_storage(), dtype=dtype)

    def to(self, *, device, non_blocking=False):
        """The storage on another device."""
        moved = self._elements().to(device, non_blocking=non_blocking)
        return TypedStorage(wrap_storage=moved.untyped_storage(), dtype=self.dtype)

    def tolist(self):
        return self._elements().tolist()

    def get_device(self):
        """The number of its device; -1 for the CPU."""
        return self._untyped_storage.get_device()

    def is_pinned(self, device="cuda"):
        return self._untyped_storage.is_pinned(device)

    def is_shared(self):
        """Whether other processes can have it."""
        return self._untyped_storage.is_shared()

    def pickle_storage_type(self):
        """The name that a file gives its class: "FloatStorage"."""
        from tenon._tensor_types import storage_type_of

        return storage_type_of(self.dtype).__name__

    def __eq__(self, other):
        return (
            isinstance(other, TypedStorage)
            and self._untyped_storage == other._untyped_storage
            and self.dtype == other.dtype
        )

    def __hash__(self):
        return hash(self._untyped_storage)

    def __iter__(self):
        return iter(self.tolist())

    def __reduce__(self):
        return _rebuild, (self._untyped_storage, self.dtype)

    def __repr__(self):
        return f"tenon.storage.TypedStorage(dtype={self.dtype}, device={self.device}) of size {len(self)}"


def _add_conversions():
    for name, dtype in {
        "float": _C.float32,
        "double": _C.float64,
        "half": _C.float16,
        "bfloat16": _C.bfloat16,
        "long": _C.int64,
        "int": _C.int32,
        "short": _C.int16,
        "char": _C.int8,
        "byte": _C.uint8,
        "bool": _C.bool,
        "complex_float": _C.complex64,
        "complex_double": _C.complex128,
    }.items():

        def convert(self, *, _dtype=dtype):
            return self.type(_dtype)

        convert.__name__ = name
        convert.__doc__ = f"The elements as {dtype}."
        setattr(TypedStorage, name, convert)


_add_conversions()


def _rebuild(storage, dtype):
    return TypedStorage(wrap_storage=storage, dtype=dtype)


def _new_storage(args, dtype, device):
    device = "cpu" if device is None else device
    if len(args) > 1:
        raise TypeError(f"TypedStorage: a size or one sequence of values is required, got {len(args)} arguments")
    if not args or isinstance(args[0], int):
        return UntypedStorage((args[0] if args else 0) * dtype.itemsize, device=device)
    if not hasattr(args[0], "__len__"):
        raise TypeError(f"Argument type not recognized: {type(args[0])}")
    return _C.tensor(args[0], dtype=dtype, device=device).untyped_storage()
