"""tenon.ops: operators of all libraries by name; load_operators(): operators of one's own from YAML."""

import functools
import os

from tenon import _C


class OperatorError(ValueError):
    """The YAML of operators has mistakes: the text gives for each its place, the line, a caret, and what to write."""


class OpOverload:
    """One overload of an operator, as `tenon.ops.aten.add.Tensor`: what __torch_dispatch__ is given as func."""

    def __init__(self, packet, overload):
        name = packet._qualified_op_name
        self.overloadpacket, self.namespace, self._opname = packet, packet.namespace, packet.__name__
        self._overloadname = overload or "default"
        self._name = f"{name}.{overload}" if overload else name
        self.__name__ = f"{self._opname}.{self._overloadname}"
        self.__module__, self.__qualname__ = packet.__module__, self._name
        self._function = _C._find_overload(name, overload, self)
        self.__doc__ = self._function.__doc__
        _, arguments, _ = _C._overload_schema(name, overload)
        # PyTorch's functions take numbers for these too: torch.add(x, 2) is aten.add.Tensor(x, 2).
        self._tensors = [i for i, argument in enumerate(arguments) if argument[1] == "Tensor" and not argument[2]][1:]

    def __call__(self, /, *args, **kwargs):
        for i in self._tensors:
            if i < len(args) and isinstance(args[i], (int, float, complex)):
                args = (*args[:i], _C._number_tensor(args[i]), *args[i + 1 :])
        return self._function(*args, **kwargs)

    @functools.cached_property
    def _schema(self):
        from tenon._schemas import schema_of

        return schema_of(self.overloadpacket._qualified_op_name, self._name, self._overloadname)

    def name(self):
        """ "aten::mm", "aten::add.Tensor"."""
        return self._name

    @property
    def op(self):
        return self.overloadpacket._function

    @property
    def tags(self):
        return []

    @property
    def is_view(self):
        """Whether a result may share memory with an argument that the operator does not write."""
        aliases = [r.alias_info for r in self._schema.returns]
        return any(a is not None and not a.is_write for a in aliases) or any(
            a.alias_info is not None and "*" in a.alias_info.after_set for a in self._schema.arguments
        )

    def decompose(self, *args, **kwargs):
        """NotImplemented: an operator that __torch_dispatch__ sees is not made of others."""
        return NotImplemented

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        return _overload, (self.overloadpacket._qualified_op_name, self._overloadname)

    def __str__(self):
        return f"{self.namespace}.{self.__name__}"

    def __repr__(self):
        return f"<OpOverload(op='{self.namespace}.{self._opname}', overload='{self._overloadname}')>"


class OpOverloadPacket(functools.partial):
    """An operator: it takes the overload that its arguments ask for; its attributes are the overloads.

    A partial without arguments, as that calls the function without a frame of Python's.
    """

    def __new__(cls, name):
        return super().__new__(cls, str)  # until the operator is found, which refers to its packet

    def __init__(self, name):
        self.__setstate__((_C._find_operator(name, self), (), {}, None))
        self._qualified_op_name, self._overloads = name, {}
        self.namespace, _, self.__name__ = name.partition("::")
        self.__module__, self.__qualname__ = f"{_module}.{self.namespace}", self.__name__
        self._function = self.func
        self.__doc__ = self.func.__doc__

    def __get__(self, instance, owner=None):
        return self  # as an attribute of a class it is no method

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        overload = "" if name == "default" else name
        if overload not in _C._overloads(self._qualified_op_name):
            raise AttributeError(f"The underlying op of '{self}' has no overload name '{name}'")
        found = self._overloads.setdefault(name, OpOverload(self, overload))
        setattr(self, name, found)
        return found

    def overloads(self):
        """The overloads' names."""
        return [name or "default" for name in _C._overloads(self._qualified_op_name)]

    def __dir__(self):
        return [*vars(self), *self.overloads()]

    def __iter__(self):
        return iter(self.overloads())

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        return _packet, (self._qualified_op_name,)

    def __str__(self):
        return f"{self.namespace}.{self.__name__}"

    def __repr__(self):
        return f"<OpOverloadPacket(op='{self}')>"


_module = __name__


def _packet(name):
    """The packet of "aten::add"."""
    namespace, _, operator = name.partition("::")
    return getattr(getattr(ops, namespace), operator)


def _overload(name, overload):
    """The overload of "aten::add", "" for the default one: always the same object."""
    return getattr(_packet(name), overload or "default")


class _Namespace:
    """The operators of one namespace of schemas, as functions."""

    # Its own attributes have names that no operator has.
    def __init__(self, name):
        self.__name__ = name

    def __getattr__(self, name):
        if name == "__name__":  # of one that is being copied
            raise AttributeError(name)
        qualified = f"{self.__name__}::{name}"
        if not _C._overloads(qualified):
            raise AttributeError(f"there is no operator '{qualified}'", name=name, obj=self)
        packet = OpOverloadPacket(qualified)
        setattr(self, name, packet)
        return packet

    def __dir__(self):
        prefix = f"{self.__name__}::"
        return sorted({name.removeprefix(prefix) for name, _ in _C._operator_schemas(prefix)})

    def __repr__(self):
        return f"<operators of {self.__name__}: {', '.join(dir(self))}>"


def _forget_functions(namespace):
    """Has them looked up again: names may be other operators' now."""
    for name in [*vars(namespace)]:
        if name != "__name__":
            delattr(namespace, name)


class _Operators:
    """tenon.ops.NAMESPACE.NAME"""

    @staticmethod
    def load_library(path):
        """Loads a library of operators, which then are here. RuntimeError if it cannot be loaded."""
        _C._load_library(os.path.abspath(path))

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        namespace = _Namespace(name)
        setattr(self, name, namespace)
        return namespace


ops = _Operators()


def functions_beside(module, library, version):
    """functions_of_library() of the library in the folder of a module's file, which PYTHON_MODULE writes."""
    return functions_of_library(os.path.join(os.path.dirname(os.path.abspath(module)), library), version)


def functions_of_library(path, version):
    """{name: function} of a library's operators, for the module that tenon_add_operators(... PYTHON_MODULE) writes.

    version: of the Tenon that it was built with. ImportError for another one's.
    """
    from tenon import __version__

    if version.split(".")[:2] != __version__.split(".")[:2]:
        raise ImportError(f"{path} was built with Tenon {version}, and this is Tenon {__version__}: build it again")
    try:
        names = _C._load_library(path)
    except RuntimeError as error:
        raise ImportError(str(error), path=path) from None
    return {name.rsplit(":", 1)[1]: _C._find_operator(name) for name in names}


def load_operators(yaml, sources=(), derivatives=None):
    """Operators of one's own, from entries of native_functions.yaml's form: generated, compiled, loaded.

        ops = tenon.load_operators('''
        - func: mine::swiglu(Tensor self, Tensor gate) -> Tensor
          pointwise: self * gate * sigmoid(gate)
        ''')
        y = ops.swiglu(x, g)        # with dispatch, a vectorised kernel and the derivative

    yaml: a path, or the text itself. sources: C++ files with the kernels that entries name.
    derivatives: a path to, or the text of, entries of derivatives.yaml's form.
    The library is kept in $TENON_CACHE_DIR, or ~/.cache/tenon, under a name made of all it depends on, the headers of
    the sources included: the same operators are built once. The result has the operators of the first entry's
    namespace; tenon.ops has all. Operators of the same names that are there already are replaced, so that a text may
    be edited and loaded again; functions and graphs made before keep the operators they were made with.
    OperatorError for mistakes in YAML; RuntimeError for a kernel that does not compile and for a machine without a C++
    compiler ($CXX, else the one that built Tenon, else `c++`) or Jinja2.
    """
    from tenon import _build  # what it needs costs a program that only computes milliseconds

    namespace, names = _build.load(yaml, sources, derivatives)
    for owner in {name.partition("::")[0] for name in names}:
        _forget_functions(getattr(ops, owner))
    return getattr(ops, namespace)


def fuse(function=None, *, background=False):
    """The function as one operator: traced once for each kind of arguments, built by load_operators().

        @tenon.fuse
        def block(x, weight, gate):
            return F.rms_norm(x, weight.shape, weight, 1e-6) * F.silu(gate)

        y = block(x, weight, gate)      # kernels for parts of elements and rows, with their derivatives

    The function computes tensors from tensors; numbers and texts are constants of a trace. Tensors that it reads
    without taking them, as a module's parameters, are passed on in each call. The library is kept as
    load_operators() keeps it, by its content. A call with other shapes, dtypes, devices or constants traces again,
    with a RuntimeWarning that says what has changed. RuntimeError, with the line, if the function reads a tensor's
    values (`if x.sum() > 0`) or writes to a tensor that it was given.

    background: calls run the function as it is until its library has been built on another thread; `wait()` of the
    fused function waits for that. What goes wrong in the build is raised by the next call.
    """
    from tenon._fuse import _Fused

    if function is None:
        return lambda given: _Fused(given, background)
    return _Fused(function, background)
