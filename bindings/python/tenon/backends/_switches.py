"""A module of switches: only those that are there can be set, to values of their type."""

import sys
import types


class Switches(types.ModuleType):
    """The module in whose place it stands; `switches` gives each switch's value to begin with."""

    def __init__(self, name, switches):
        known = sys.modules[name]
        super().__init__(name, known.__doc__)
        self.__dict__.update(known.__dict__)
        self.__dict__["_switches"] = {key: type(value) for key, value in switches.items()}
        self.__dict__.update(switches)
        sys.modules[name] = self

    def __setattr__(self, name, value):
        wanted = self._switches.get(name)
        if wanted is not None and not isinstance(value, wanted):
            short = self.__name__.rpartition(".")[2]
            raise RuntimeError(f"{short}.{name} expects a {wanted.__name__}, but got {type(value).__name__}")
        super().__setattr__(name, value)
