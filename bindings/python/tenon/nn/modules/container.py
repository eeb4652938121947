"""Modules that hold others."""

import itertools
import operator
from collections import OrderedDict
from collections.abc import Iterable, Mapping

import tenon
from tenon.nn.modules.module import Module
from tenon.nn.parameter import Parameter


def _check_iterable(container, method, values, of=""):
    if not isinstance(values, Iterable) or isinstance(values, tenon.Tensor):
        raise TypeError(
            f"{type(container).__name__}.{method} should be called with an iterable{of}, but got {type(values).__name__}"
        )


def _pairs(container, values):
    """The items that update() was given: of a mapping or as a sequence of pairs."""
    _check_iterable(container, "update", values, " of key/value pairs")
    if hasattr(values, "items"):
        return list(values.items())
    pairs = list(values)
    for i, pair in enumerate(pairs):
        if not isinstance(pair, Iterable):
            raise TypeError(
                f"{type(container).__name__} update sequence element #{i} should be Iterable; is {type(pair).__name__}"
            )
        if len(pair) != 2:
            raise ValueError(
                f"{type(container).__name__} update sequence element #{i} has length {len(pair)}; 2 is required"
            )
    return pairs


def _place(index, length):
    index = operator.index(index)
    if not -length <= index < length:
        raise IndexError(f"index {index} is out of range")
    return index % length


class _Listed(Module):
    """Submodules under the names "0", "1" and so on."""

    def _fill(self, modules):
        self._modules.clear()
        for i, module in enumerate(modules):
            self.add_module(str(i), module)

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules.values())

    def __getitem__(self, index):
        if isinstance(index, slice):
            return type(self)(list(self)[index])
        return list(self)[_place(index, len(self))]

    def __setitem__(self, index, module):
        self.add_module(str(_place(index, len(self))), module)

    def __delitem__(self, index):
        modules = list(self)
        del modules[index if isinstance(index, slice) else _place(index, len(self))]
        self._fill(modules)

    def append(self, module):
        self.add_module(str(len(self)), module)
        return self

    def insert(self, index, module):
        modules = list(self)
        modules.insert(index, module)
        self._fill(modules)

    def extend(self, modules):
        _check_iterable(self, "extend", modules)
        for module in list(modules):
            self.append(module)
        return self

    def pop(self, key):
        module = self[key]
        del self[key]
        return module


class ModuleList(_Listed):
    """A list whose elements are submodules."""

    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:
            self += modules

    def __iadd__(self, modules):
        return self.extend(modules)

    def __repr__(self):
        """Neighbours that look the same are written once."""
        lines, start = [], 0
        for text, same in itertools.groupby(map(repr, self)):
            count = len(list(same))
            place = f"({start})" if count == 1 else f"({start}-{start + count - 1})"
            lines.append(f"{place}: {f'{count} x ' if count > 1 else ''}" + text.replace("\n", "\n  "))
            start += count
        return f"{self._get_name()}(\n  " + "\n  ".join(lines) + "\n)" if lines else f"{self._get_name()}()"

    def __add__(self, other):
        return ModuleList([*self, *other])


class Sequential(_Listed):
    """Calls its modules one after another: each gets what the one before it gives."""

    def __init__(self, *args):
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            for name, module in args[0].items():
                self.add_module(name, module)
        else:
            self.extend(args)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return type(self)(OrderedDict(list(self._modules.items())[index]))
        return super().__getitem__(index)

    def __setitem__(self, index, module):
        self.add_module(list(self._modules)[_place(index, len(self))], module)

    def insert(self, index, module):
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        if not -len(self) <= index <= len(self):
            raise IndexError(f"Index out of range: {index}")
        super().insert(index, module)
        return self

    def extend(self, sequential):
        return super().extend(sequential)

    def __add__(self, other):
        self._check_sequential(other)
        return Sequential(*self, *other)

    def __iadd__(self, other):
        self._check_sequential(other)
        return self.extend(other)

    def __mul__(self, times):
        self._check_times(times)
        return Sequential(*list(self) * times)

    __rmul__ = __mul__

    def __imul__(self, times):
        self._check_times(times)
        return self.extend(list(self) * (times - 1))

    @staticmethod
    def _check_sequential(other):
        if not isinstance(other, Sequential):
            raise ValueError(f"add operator supports only objects of Sequential class, but {type(other)} is given.")

    def _check_times(self, times):
        if not isinstance(times, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(times)}")
        if times <= 0:
            raise ValueError(f"Non-positive multiplication factor {times} for {type(self)}")

    def forward(self, input):
        for module in self:
            input = module(input)
        return input


class ModuleDict(Module):
    """A dict whose values are submodules."""

    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key):
        return self._modules[key]

    def __setitem__(self, key, module):
        self.add_module(key, module)

    def __delitem__(self, key):
        del self._modules[key]

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules)

    def __contains__(self, key):
        return key in self._modules

    def keys(self):
        return self._modules.keys()

    def items(self):
        return self._modules.items()

    def values(self):
        return self._modules.values()

    def clear(self):
        self._modules.clear()

    def pop(self, key):
        return self._modules.pop(key)

    def update(self, modules):
        for name, module in _pairs(self, modules):
            self[name] = module


def _owned(value):
    """What a container of parameters keeps: tensors become parameters, all else stays as it is."""
    return Parameter(value) if isinstance(value, tenon.Tensor) and not isinstance(value, Parameter) else value


def _line(key, value, dtype):
    """What a container of parameters shows of one."""
    if not isinstance(value, tenon.Tensor):
        return f"  ({key}): Object of type: {type(value).__name__}"
    place = "" if value.device.type == "cpu" else f" ({value.device})"
    return f"  ({key}): Parameter containing: [{dtype(value)} of size {'x'.join(map(str, value.shape))}{place}]"


class ParameterList(Module):
    """A list of parameters and other values; tensors become parameters."""

    def __init__(self, values=None):
        super().__init__()
        self._size = 0
        if values is not None:
            self += values

    def __len__(self):
        return self._size

    def __iter__(self):
        return (getattr(self, str(i)) for i in range(self._size))

    def __getitem__(self, index):
        if isinstance(index, slice):
            return type(self)(list(self)[index])
        return getattr(self, str(_place(index, len(self))))

    def __setitem__(self, index, value):
        setattr(self, str(_place(index, len(self))), _owned(value))

    def append(self, value):
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values):
        _check_iterable(self, "extend", values)
        for value in list(values):
            self.append(value)
        return self

    def __iadd__(self, values):
        return self.extend(values)

    def extra_repr(self):
        return "\n".join(_line(i, value, lambda t: t.dtype) for i, value in enumerate(self))

    def __call__(self, *args, **kwargs):
        raise RuntimeError("ParameterList should not be called.")


class ParameterDict(Module):
    """A dict of parameters and other values; tensors become parameters."""

    def __init__(self, parameters=None):
        super().__init__()
        self._keys = {}
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key):
        return getattr(self, self._name(key))

    def __setitem__(self, key, value):
        name = self._name(key)
        self._keys[key] = None
        setattr(self, name, _owned(value))

    def __delitem__(self, key):
        del self._keys[key]
        delattr(self, self._name(key))

    @staticmethod
    def _name(key):
        if not isinstance(key, str):
            raise TypeError(
                f"Index given to ParameterDict cannot be used as a key as it is not a string (type is '{type(key).__name__}')."
            )
        return key

    def __len__(self):
        return len(self._keys)

    def __iter__(self):
        return iter(self._keys)

    def __reversed__(self):
        return reversed(self._keys)

    def __contains__(self, key):
        return key in self._keys

    def keys(self):
        return self._keys.keys()

    def values(self):
        return (self[key] for key in self._keys)

    def items(self):
        return ((key, self[key]) for key in self._keys)

    def copy(self):
        return ParameterDict(self.items())

    def clear(self):
        for key in list(self._keys):
            del self[key]

    def pop(self, key):
        value = self[key]
        del self[key]
        return value

    def popitem(self):
        if not self._keys:
            raise KeyError("popitem(): dictionary is empty")
        key = next(reversed(self._keys))
        return key, self.pop(key)

    def setdefault(self, key, default=None):
        if key not in self:
            self[key] = default
        return self[key]

    def get(self, key, default=None):
        return self[key] if key in self else default

    def fromkeys(self, keys, default=None):
        return ParameterDict((key, default) for key in keys)

    def update(self, parameters):
        """In the order of a ParameterDict, an OrderedDict or of pairs; of any other mapping in the order of the sorted keys."""
        pairs = _pairs(self, parameters)
        if isinstance(parameters, Mapping) and not isinstance(parameters, OrderedDict):
            pairs.sort(key=lambda pair: pair[0])
        for key, value in pairs:
            self[key] = value

    def __or__(self, other):
        result = self.copy()
        result.update(other)
        return result

    def __ror__(self, other):
        result = other.copy()
        result.update(self)
        return result

    def __ior__(self, other):
        self.update(other)
        return self

    def extra_repr(self):
        return "\n".join(_line(key, value, lambda t: t.type()) for key, value in self.items())

    def __call__(self, input):
        raise RuntimeError("ParameterDict should not be called.")
