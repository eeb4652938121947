"""torch.utils.weak: dicts whose keys are objects by identity, such as tensors, and that do not keep them."""

import collections.abc
import weakref


class WeakIdRef(weakref.ref):
    """A weak reference that is equal to another one of the same living object."""

    __slots__ = ("_id",)

    def __init__(self, key, callback=None):
        super().__init__(key, callback)
        self._id = id(key)

    def __hash__(self):
        return self._id

    def __eq__(self, other):
        if self is other:
            return True
        here, there = self(), other()
        return here is not None and here is there


WeakTensorRef = WeakIdRef


class WeakIdKeyDictionary(collections.abc.MutableMapping):
    """A dict of objects by identity: an entry goes with its key."""

    def __init__(self, dict=None, ref_type=WeakIdRef):
        self.data, self.ref_type = {}, ref_type
        own = weakref.ref(self)

        def dropped(reference):
            if own() is not None:
                own().data.pop(reference, None)

        self._dropped = dropped
        if dict is not None:
            self.update(dict)

    def __getitem__(self, key):
        return self.data[self.ref_type(key)]

    def __setitem__(self, key, value):
        self.data[self.ref_type(key, self._dropped)] = value

    def __delitem__(self, key):
        del self.data[self.ref_type(key)]

    def __contains__(self, key):
        try:
            return self.ref_type(key) in self.data
        except TypeError:  # an object without weak references
            return False

    def __iter__(self):
        for reference in list(self.data):
            key = reference()
            if key is not None:
                yield key

    def __len__(self):
        return len(self.data)

    def __repr__(self):
        return f"<{type(self).__name__} at {id(self):#x}>"

    def keyrefs(self):
        """The references to the keys."""
        return list(self.data)

    def copy(self):
        """Another one with the same keys and values."""
        return type(self)(dict(self.items()))

    __copy__ = copy

    def __ior__(self, other):
        self.update(other)
        return self

    def __or__(self, other):
        result = self.copy()
        result.update(other)
        return result

    def __eq__(self, other):
        if not isinstance(other, WeakIdKeyDictionary):
            return NotImplemented
        return {id(key): value for key, value in self.items()} == {id(key): value for key, value in other.items()}

    __hash__ = None


class WeakTensorKeyDictionary(WeakIdKeyDictionary):
    """A WeakIdKeyDictionary whose keys are tensors."""

    def __init__(self, dict=None):
        super().__init__(dict)


class TensorWeakRef:
    """Gives the tensor while it lives, then None."""

    def __init__(self, tensor):
        self.ref = weakref.ref(tensor)

    def __call__(self):
        return self.ref()
