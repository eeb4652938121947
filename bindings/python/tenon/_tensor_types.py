"""The classes that dtypes had before there were dtypes: tenon.FloatTensor, tenon.LongTensor, tenon.FloatStorage."""

from tenon import _C
from tenon._tensor import _TYPE_NAMES, Tensor, _method
from tenon.storage import TypedStorage


class tensortype:
    """A dtype on a kind of device: called, it makes such a tensor; isinstance() asks whether a tensor is one.

    tenon.LongTensor([1, 2])     of elements, or of another tensor of this type, whose memory it shares
    tenon.FloatTensor(2, 3)      of a shape; what the elements are is not defined
    """

    layout, is_sparse = _C.strided, False

    def __init__(self, dtype, device, name):
        self.dtype, self.is_cuda = dtype, device == "cuda"
        self.device_type = device
        self.__module__ = "tenon" if device == "cpu" else f"tenon.{device}"
        self.__name__ = self.__qualname__ = name

    def __call__(self, *args, device=None, size=None):
        return _made(self.dtype, self.device_type, args, device, size)

    def __instancecheck__(self, instance):
        return (
            isinstance(instance, Tensor) and instance.dtype == self.dtype and instance.device.type == self.device_type
        )

    # In annotations: FloatTensor | None.

    def __or__(self, other):
        import typing

        return typing.Union[self, other]  # noqa: UP007  `|` is what this defines

    def __ror__(self, other):
        import typing

        return typing.Union[other, self]  # noqa: UP007

    def __repr__(self):
        return f"<class '{self.__module__}.{self.__name__}'>"

    def __reduce__(self):
        return tensor_type, (self.__name__, self.device_type)


class _SparseType(tensortype):
    """A dtype of COO tensors: called with indices, values and a size, or with a size, it makes one."""

    layout, is_sparse = _C.sparse_coo, True

    def __init__(self, dtype, name):
        super().__init__(dtype, "cpu", name)
        self.__module__ = "tenon.sparse"

    def __call__(self, *args, device=None, size=None):
        args = args if size is None else (*args, size)
        if len(args) in (2, 3) and isinstance(args[0], Tensor):
            if args[0].dtype != _C.int64:
                raise RuntimeError(f"expected scalar type Long but found {_TYPE_NAMES[_short_name(args[0].dtype)]}")
            return _C.sparse_coo_tensor(*args, device=device)
        shape = args if args and isinstance(args[0], int) else args[0] if args else (0,)
        return _C.sparse_coo_tensor(size=tuple(shape), dtype=self.dtype, device=device)

    def __instancecheck__(self, instance):
        return super().__instancecheck__(instance) and instance.layout == self.layout

    def __reduce__(self):
        return tensor_type, (self.__name__, "sparse")


def _short_name(dtype):
    return repr(dtype).rpartition(".")[2]


def _made(dtype, own_device, args, device, size):
    if device is not None and _C.device(device).type != own_device:
        raise RuntimeError(
            f"legacy constructor expects device type: {own_device} but device type: {_C.device(device).type} was passed"
        )
    options = {"dtype": dtype, "device": own_device if device is None else device}
    if size is not None:
        args = (_C.Size(size),)
    if not args:
        return _C.empty((0,), **options)
    first = args[0]
    if isinstance(first, int) and not isinstance(first, bool):
        for place, n in enumerate(args, 1):
            if not isinstance(n, int):
                raise TypeError(
                    f"new(): argument 'size' failed to unpack the object at pos {place} with error \"type must be tuple of "
                    f'ints,but got {n.__class__.__name__}"'
                )
        return _C.empty(args, **options)
    if len(args) > 1:
        raise TypeError(f"new(): sizes, or one sequence, tensor or storage are required, got {len(args)} arguments")
    if isinstance(first, _C.Size):
        return _C.empty(first, **options)
    if isinstance(first, Tensor):
        if first.dtype != dtype or first.device.type != own_device:
            raise TypeError(
                f"new(): a tensor of dtype {dtype} on {own_device} is required, got {first.dtype} on {first.device}"
            )
        return first.detach()
    if isinstance(first, (_C.UntypedStorage, TypedStorage)):
        return _C.empty((0,), **options).set_(first)
    if isinstance(first, str):
        raise TypeError("new(): invalid data type 'str'")
    if not hasattr(first, "__len__") and not hasattr(first, "__array__"):
        raise TypeError(f"new(): data must be a sequence (got {first.__class__.__name__})")
    return _C.tensor(first, **options)


@_method
def new(self, *args, device=None, size=None):
    """A tensor of this one's dtype and device: of sizes, of a sequence's elements, or of nothing. See new_empty(), new_tensor()."""
    return _made(self.dtype, self.device.type, args, device, size)


class _StorageType(type):
    def __instancecheck__(cls, instance):
        return isinstance(instance, TypedStorage) and instance.dtype == cls.dtype

    def __call__(cls, *args, wrap_storage=None):
        return TypedStorage(*args, wrap_storage=wrap_storage, dtype=cls.dtype)

    def from_file(cls, filename, shared=False, size=0):
        """A storage of `size` elements over a file's bytes."""
        storage = _C.UntypedStorage.from_file(filename, shared, size * cls.dtype.itemsize)
        return cls(wrap_storage=storage)


_known = {}


def tensor_type(name, device="cpu"):
    """The type of that name: "FloatTensor"; None if there is none. device: "sparse" for COO tensors."""
    known = _known.get((name, device))
    if known is None and name.endswith("Tensor"):
        for dtype, short in _TYPE_NAMES.items():
            if name == short + "Tensor":
                dtype = getattr(_C, dtype)
                known = _SparseType(dtype, name) if device == "sparse" else tensortype(dtype, device, name)
                _known[name, device] = known
    return known


def storage_type(name):
    """The class of that name: "FloatStorage"; None if there is none."""
    known = _known.get(name)
    if known is None and name.endswith("Storage"):
        for dtype, short in _TYPE_NAMES.items():
            if name == short + "Storage":
                members = {"dtype": getattr(_C, dtype), "__module__": "tenon", "__doc__": f"Storages of {dtype}."}
                known = _known[name] = _StorageType(name, (), members)
    return known


def storage_type_of(dtype):
    """The class of storages of this dtype."""
    return storage_type(_TYPE_NAMES[repr(dtype).split(".")[1]] + "Storage")


def set_default_tensor_type(t):
    """Has floating-point tensors be made with this type's dtype: `tenon.DoubleTensor`, or its name."""
    from tenon._tensor import _device_and_dtype

    if isinstance(t, str):
        _, dtype = _device_and_dtype(t)
    elif isinstance(t, tensortype):
        dtype = t.dtype
    else:
        raise TypeError("invalid type object: only floating-point types are supported as the default type")
    if not dtype.is_floating_point:
        raise TypeError("only floating-point types are supported as the default type")
    _C.set_default_dtype(dtype)
