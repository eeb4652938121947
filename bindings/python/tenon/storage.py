"""The memory of tensors."""

from tenon._C import UntypedStorage as UntypedStorage, _tensor_over


class TypedStorage:
    """A storage whose bytes are elements of a dtype: what files hold of a storage that was saved by itself."""

    def __init__(self, wrap_storage, dtype):
        self._untyped_storage, self.dtype = wrap_storage, dtype

    def untyped(self):
        """The storage itself."""
        return self._untyped_storage

    @property
    def device(self):
        return self._untyped_storage.device

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
        return _tensor_over(self._untyped_storage, self.dtype, 0, [self.size()], [1])

    def __getitem__(self, index):
        return self._elements()[index].item()

    def __setitem__(self, index, value):
        self._elements()[index] = value

    def tolist(self):
        return self._elements().tolist()

    def __repr__(self):
        return f"tenon.storage.TypedStorage(dtype={self.dtype}, device={self.device}) of size {len(self)}"
