"""torch.ops: packets of operators with their overloads, over Tenon's operators. Tenon chooses the overload by the arguments."""

import tenon
from tenon.as_torch._missing import missing


class OpOverload:
    """An overload of an operator."""

    def __init__(self, packet, name):
        self.overloadpacket, self._overloadname = packet, name
        self.namespace, self.__name__ = packet.namespace, f"{packet.__name__}.{name}"
        self.__module__ = f"torch._ops.{packet.namespace}"
        self.__qualname__ = self.__name__

    def __call__(self, *args, **kwargs):
        return self.overloadpacket(*args, **kwargs)

    def __deepcopy__(self, memo):
        return self

    def name(self):
        """ "aten::add" of the default overload, "aten::add.out" of another one."""
        base = f"{self.namespace}::{self.overloadpacket.__name__}"
        return base if self._overloadname == "default" else f"{base}.{self._overloadname}"

    def __str__(self):
        return f"{self.namespace}.{self.__name__}"

    def __repr__(self):
        return f"<OpOverload(op='{self.overloadpacket}', overload='{self._overloadname}')>"


class OpOverloadPacket:
    """An operator; its attributes are overloads."""

    def __init__(self, namespace, name, function):
        self.namespace, self.__name__, self._function = namespace, name, function
        self.__module__ = f"torch._ops.{namespace}"
        self.__qualname__ = name

    def __deepcopy__(self, memo):
        return self

    def __call__(self, *args, **kwargs):
        return self._function(*args, **kwargs)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        overload = OpOverload(self, name)
        setattr(self, name, overload)
        return overload

    def __str__(self):
        return f"{self.namespace}.{self.__name__}"

    def __repr__(self):
        return f"<OpOverloadPacket(op='{self}')>"


class _OpNamespace:
    """The operators of a namespace. One of aten that Tenon lacks may be mentioned."""

    def __init__(self, name):
        self.__name__ = name

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            function = getattr(getattr(tenon.ops, self.__name__), name)
        except AttributeError:
            if self.__name__ in ("aten", "prim", "prims"):
                return missing(f"torch.ops.{self.__name__}.{name}")
            raise AttributeError(f"'_OpNamespace' '{self.__name__}' object has no attribute '{name}'") from None
        packet = OpOverloadPacket(self.__name__, name, function)
        setattr(self, name, packet)
        return packet

    def __dir__(self):
        return dir(getattr(tenon.ops, self.__name__))


class _Ops:
    """torch.ops.NAMESPACE.NAME"""

    loaded_libraries = frozenset()

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        namespace = _OpNamespace(name)
        setattr(self, name, namespace)
        return namespace

    @staticmethod
    def load_library(path):
        """OSError for what is no library of Tenon's: one that was built for PyTorch needs PyTorch's own libraries."""
        try:
            tenon.ops.load_library(path)
        except RuntimeError as error:
            raise OSError(str(error)) from None


ops = _Ops()
