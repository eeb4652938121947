"""Modules that hold others."""

import itertools
import operator
from collections import OrderedDict

import tenon
from tenon.nn.modules.module import Module
from tenon.nn.parameter import Parameter


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
        return self

    def extend(self, modules):
        for module in modules:
            self.append(module)
        return self

    def __iadd__(self, modules):
        return self.extend(modules)


class ModuleList(_Listed):
    """A list whose elements are submodules."""

    def __init__(self, modules=None):
        super().__init__()
        self.extend(modules or ())

    def pop(self, key):
        module = self[key]
        del self[key]
        return module

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

    def pop(self, key):
        module = self[key]
        del self[key]
        return module

    def forward(self, input):
        for module in self:
            input = module(input)
        return input


class ModuleDict(Module):
    """A dict whose values are submodules."""

    def __init__(self, modules=None):
        super().__init__()
        self.update(modules or {})

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
        for name, module in modules.items() if hasattr(modules, "items") else modules:
            self[name] = module


class ParameterList(Module):
    """A list whose elements are parameters; tensors become parameters."""

    def __init__(self, values=None):
        super().__init__()
        self.extend(values or ())

    def __len__(self):
        return len(self._parameters)

    def __iter__(self):
        return iter(self._parameters.values())

    def __getitem__(self, index):
        if isinstance(index, slice):
            return ParameterList(list(self)[index])
        return self._parameters[str(_place(index, len(self)))]

    def __setitem__(self, index, value):
        self.register_parameter(str(_place(index, len(self))), _parameter(value))

    def append(self, value):
        self.register_parameter(str(len(self)), _parameter(value))
        return self

    def extend(self, values):
        for value in values:
            self.append(value)
        return self

    def __iadd__(self, values):
        return self.extend(values)

    def extra_repr(self):
        return _lines((i, p, p.dtype) for i, p in enumerate(self))


class ParameterDict(Module):
    """A dict whose values are parameters; tensors become parameters."""

    def __init__(self, parameters=None):
        super().__init__()
        self.update(parameters or {})

    def __getitem__(self, key):
        return self._parameters[key]

    def __setitem__(self, key, value):
        self.register_parameter(key, _parameter(value))

    def __delitem__(self, key):
        del self._parameters[key]

    def __len__(self):
        return len(self._parameters)

    def __iter__(self):
        return iter(self._parameters)

    def __contains__(self, key):
        return key in self._parameters

    def keys(self):
        return self._parameters.keys()

    def items(self):
        return self._parameters.items()

    def values(self):
        return self._parameters.values()

    def update(self, parameters):
        for name, value in parameters.items() if hasattr(parameters, "items") else parameters:
            self[name] = value

    def extra_repr(self):
        return _lines((name, p, tenon.typename(p)) for name, p in self.items())


def _lines(parameters):
    """A line for each parameter, of (key, parameter, what it is made of)."""
    lines = []
    for key, parameter, kind in parameters:
        device = f" ({parameter.device})" if parameter.device.type == "cuda" else ""
        lines.append(f"  ({key}): Parameter containing: [{kind} of size {'x'.join(map(str, parameter.shape))}{device}]")
    return "\n".join(lines)


def _parameter(value):
    return value if isinstance(value, Parameter) else Parameter(value)
