"""Proxy: a value that is not known yet. What is done with it becomes nodes of a graph."""

import dis
import inspect
import operator
import sys
import traceback
import types

import tenon
from tenon import _C
from tenon.fx import traceback as fx_traceback
from tenon.fx._codegen import magic_methods, reflectable_magic_methods
from tenon.fx.node import Node, base_types, map_aggregate


class TraceError(ValueError):
    """The program does with a proxy what cannot be a node."""


class Scope:
    """The module whose forward runs, and its class."""

    def __init__(self, module_path, module_type):
        self.module_path, self.module_type = module_path, module_type


class ScopeContextManager:
    """The scope is another one within it."""

    def __init__(self, scope, current_scope):
        self._before = Scope(scope.module_path, scope.module_type)
        scope.module_path, scope.module_type = current_scope.module_path, current_scope.module_type
        self._scope = scope

    def __enter__(self):
        return self._scope

    def __exit__(self, *exception):
        self._scope.module_path, self._scope.module_type = self._before.module_path, self._before.module_type


class TracerBase:
    """What makes nodes of what is done with proxies."""

    record_stack_traces = False
    check_mutable_operations = False
    trace_asserts = False
    proxy_buffer_attributes = False
    traced_func_name = "forward"
    graph = None

    def create_node(self, kind, target, args, kwargs, name=None, type_expr=None):
        """Adds a node to the graph."""
        node = self.graph.create_node(kind, target, args, kwargs, name, type_expr)
        stack = getattr(self, "module_stack", None)
        if stack:
            node.meta["nn_module_stack"] = stack.copy()
        if fx_traceback.has_preserved_node_meta():
            for field, value in fx_traceback.get_current_meta().items():
                node.meta.setdefault(field, value)
        return node

    def proxy(self, node):
        """The value of a node."""
        return Proxy(node, self)

    def create_proxy(self, kind, target, args, kwargs, name=None, type_expr=None, proxy_factory_fn=None):
        """Adds a node whose arguments have proxies, and gives its value."""
        args_, kwargs_ = self.create_arg(args), self.create_arg(kwargs)
        if not isinstance(args_, tuple):
            raise AssertionError(f"Expected tuple, got {type(args_)}")
        if not isinstance(kwargs_, dict):
            raise AssertionError(f"Expected dict, got {type(kwargs_)}")
        node = self.create_node(kind, target, args_, kwargs_, name, type_expr)
        result = proxy_factory_fn(node) if proxy_factory_fn else self.proxy(node)
        if self.record_stack_traces and not node.stack_trace:
            frame = self._find_user_frame()
            if frame is not None:
                node.stack_trace = "".join(
                    reversed(traceback.StackSummary.extract(traceback.walk_stack(frame)).format())
                ).strip()
        return result

    def _find_user_frame(self):
        frame = inspect.currentframe()
        while frame is not None and frame.f_globals.get("__name__", "").startswith(
            ("tenon.fx", "tenon.nn", "tenon.overrides")
        ):
            frame = frame.f_back
        return frame

    def create_arg(self, a):
        """What a node has for an argument: its node for a proxy."""
        if isinstance(a, Proxy):
            return a.node
        if hasattr(a, "__fx_create_arg__"):
            return a.__fx_create_arg__(self)
        if isinstance(a, tuple):
            values = [self.create_arg(element) for element in a]
            return type(a)(*values) if hasattr(a, "_fields") else type(a)(values)
        if isinstance(a, list):
            return [self.create_arg(element) for element in a]
        if isinstance(a, dict):
            return {self._key(key): self.create_arg(value) for key, value in a.items()}
        if isinstance(a, slice):
            return slice(self.create_arg(a.start), self.create_arg(a.stop), self.create_arg(a.step))
        if isinstance(a, range):
            return range(self.create_arg(a.start), self.create_arg(a.stop), self.create_arg(a.step))
        if isinstance(a, (*base_types, Node)) or a is None or a is ...:
            return a
        import dataclasses
        import enum

        if dataclasses.is_dataclass(a) and not isinstance(a, type):
            kwargs = {field.name: self.create_arg(getattr(a, field.name)) for field in dataclasses.fields(a)}
            return self.create_node("call_function", type(a), (), kwargs)
        if isinstance(a, (enum.Enum, types.BuiltinFunctionType, types.FunctionType, tenon.Size)):
            return a
        raise NotImplementedError(f"argument of type: {type(a)}")

    def _key(self, key):
        mapped = self.create_arg(key)

        def refuse(leaf):
            if isinstance(leaf, Node):
                raise RuntimeError(
                    f"Keys for dictionaries used as an argument cannot contain a Node. Got key: {key!r}"
                    if not isinstance(key, Proxy)
                    else f"Keys for dictionaries used as an argument cannot contain a Node. Got key: {mapped}"
                )
            return leaf

        map_aggregate(mapped, refuse)
        return mapped

    def to_bool(self, obj):
        """Asked for when a proxy is a condition."""
        raise TraceError("symbolically traced variables cannot be used as inputs to control flow")

    def iter(self, obj):
        """Asked for when a proxy is iterated, except where the number of its parts is in the program."""
        raise TraceError(
            "Proxy object cannot be iterated. This can be attempted when the Proxy is used in a loop or as a *args or "
            "**kwargs function argument. See the torch.fx docs on pytorch.org for a more detailed explanation of what types "
            "of control flow can be traced, and check out the Proxy docstring for help troubleshooting Proxy iteration errors"
        )

    def keys(self, obj):
        """Asked for by proxy.keys(), with which a proxy is unpacked by **."""
        return Attribute(obj, "keys")()


class GraphAppendingTracer(TracerBase):
    """Adds to a graph that is there."""

    def __init__(self, graph):
        super().__init__()
        self.graph = graph
        self.scope = Scope("", None)
        self.module_stack = {}
        self.node_name_to_scope = {}


class Proxy:
    """A value that is not known yet: operators, functions, methods and attributes of it become nodes.

    It cannot be a condition nor be iterated, because that depends on the value: TraceError.
    """

    def __init__(self, node, tracer=None):
        self.tracer = GraphAppendingTracer(node.graph) if tracer is None else tracer
        self.node = node

    def __repr__(self):
        return f"Proxy({self.node.name})"

    def __getattr__(self, k):
        if k in {"node", "tracer"} or k.startswith("__") and k.endswith("__") and k in _NOT_ATTRIBUTES:
            raise AttributeError(k)
        return Attribute(self, k)

    def __getstate__(self):
        return self.__dict__

    def __setstate__(self, state):
        self.__dict__ = state

    def __deepcopy__(self, memo):
        import copy

        new = object.__new__(type(self))
        for name, value in self.__dict__.items():
            new.__dict__[name] = copy.deepcopy(value, memo)
        return new

    def __call__(self, *args, **kwargs):
        return self.tracer.create_proxy("call_method", "__call__", (self, *args), kwargs)

    def __iter__(self):
        frame = sys._getframe(1)
        code, last = frame.f_code, frame.f_lasti
        for instruction in dis.get_instructions(code):
            if instruction.offset == last:
                if instruction.opname == "UNPACK_SEQUENCE":
                    return iter([self[i] for i in range(instruction.argval)])
                break
        return self.tracer.iter(self)

    def __bool__(self):
        if self.tracer.trace_asserts:
            message = _assertion(sys._getframe(1))
            if message is not None:
                self.tracer.create_proxy("call_function", tenon._assert, (self, message), {})
                return True
        return self.tracer.to_bool(self)

    def __len__(self):
        raise RuntimeError(
            "'len' is not supported in symbolic tracing by default. If you want this call to be recorded, please call "
            "torch.fx.wrap('len') at module scope"
        )

    def keys(self):
        return self.tracer.keys(self)

    @classmethod
    def __torch_function__(cls, orig_method, types, args=None, kwargs=None):
        args, kwargs = args or (), kwargs or {}
        tracers = {}

        def note(leaf):
            if isinstance(leaf, Proxy):
                tracers[leaf.tracer] = None
            return leaf

        map_aggregate(args, note)
        map_aggregate(kwargs, note)
        if len(tracers) > 1:
            raise RuntimeError(
                f"Found multiple different tracers {list(tracers)} while trying to trace operations {orig_method}"
            )
        (tracer,) = tracers
        if _is_method(orig_method):
            return tracer.create_proxy("call_method", orig_method.__name__, args, kwargs)
        name = tracer.graph._target_to_str(orig_method.__name__)
        return tracer.create_proxy("call_function", orig_method, args, kwargs, name=name)


# What Python itself asks any object for, which a proxy does not have.
_NOT_ATTRIBUTES = {"__fx_create_arg__", "__torch_function__", "__dataclass_fields__", "__wrapped__"}


def _is_method(function):
    name = getattr(function, "__name__", None)
    return isinstance(name, str) and getattr(_C.Tensor, name, None) is function


def _assertion(frame):
    """The message of the assert statement that asks for a condition, '' if it has none; None if it is no such statement."""
    instructions = list(dis.get_instructions(frame.f_code))
    at = next((i for i, instruction in enumerate(instructions) if instruction.offset == frame.f_lasti), None)
    if at is None or not instructions[at].opname.startswith("POP_JUMP") or "IF_TRUE" not in instructions[at].opname:
        return None
    if at + 1 >= len(instructions) or instructions[at + 1].opname != "LOAD_ASSERTION_ERROR":
        return None
    following = instructions[at + 2]
    return following.argval if following.opname == "LOAD_CONST" else ""


class Attribute(Proxy):
    """An attribute of a proxy: its node is made when it is needed, as a method's call needs none."""

    def __init__(self, root, attr):
        self.root, self.attr, self.tracer = root, attr, root.tracer
        self._node = None

    @property
    def node(self):
        if self._node is None:
            self._node = self.tracer.create_proxy("call_function", getattr, (self.root, self.attr), {}).node
        return self._node

    def __call__(self, *args, **kwargs):
        return self.tracer.create_proxy("call_method", self.attr, (self.root, *args), kwargs)


class ParameterProxy(Proxy):
    """A parameter, whose shape is known."""

    def __init__(self, tracer, node, name, param):
        super().__init__(node, tracer)
        if not isinstance(param, _C.Tensor):
            raise AssertionError(f"Expected Parameter, got {type(param)}")
        self.param, self.name = param, name

    def __repr__(self):
        return f"ParameterProxy({self.name})"

    @property
    def shape(self):
        return self.param.shape

    def size(self):
        return self.param.size()

    def dim(self):
        return self.param.dim()

    @property
    def ndim(self):
        return self.param.ndim

    def numel(self):
        return self.param.numel()

    def nelement(self):
        return self.param.nelement()


def _define_operator(name):
    def method(self, *args, **kwargs):
        return self.tracer.create_proxy("call_function", getattr(operator, name), (self, *args), kwargs)

    method.__name__ = f"__{name.strip('_')}__"
    setattr(Proxy, method.__name__, method)


def _define_reflected(name):
    def method(self, other):
        return self.tracer.create_proxy("call_function", getattr(operator, name), (other, self), {})

    method.__name__ = f"__r{name.strip('_')}__"
    setattr(Proxy, method.__name__, method)


for _name in [*magic_methods, "abs"]:
    if hasattr(operator, _name):
        _define_operator(_name)
for _name in reflectable_magic_methods:
    if hasattr(operator, _name) and _name != "getitem":
        _define_reflected(_name)
Proxy.__hash__ = object.__hash__
