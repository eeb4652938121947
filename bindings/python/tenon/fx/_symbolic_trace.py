"""Tracer: runs a module or function with proxies, and has its graph."""

import builtins
import collections
import contextlib
import copy
import functools
import inspect
import math
import threading
import types

import tenon
from tenon import _C
from tenon.fx._codegen import _PyTreeCodeGen, _PyTreeInfo
from tenon.fx.graph import Graph
from tenon.fx.node import base_types, map_aggregate
from tenon.fx.proxy import ParameterProxy, Proxy, Scope, ScopeContextManager, TracerBase
from tenon.nn import Module
from tenon.nn.parameter import Parameter

_orig_module_call = Module.__call__
_orig_module_getattr = Module.__getattr__

_proxyable_classes = {}
_wrapped_fns_to_patch = {}
_wrapped_methods_to_patch = []
_tracing = threading.local()


def is_fx_tracing():
    """Whether a program is traced now."""
    return getattr(_tracing, "on", False)


is_fx_symbolic_tracing = is_fx_tracing


@contextlib.contextmanager
def _is_fx_tracing_context(value):
    before = is_fx_tracing()
    _tracing.on = value
    try:
        yield
    finally:
        _tracing.on = before


class ProxyableClassMeta(type):
    """The class of classes whose objects, made of proxies, become calls of the class in the graph."""

    def __init__(cls, name, bases, attrs):
        _proxyable_classes.setdefault(cls)
        super().__init__(name, bases, attrs)

    def __call__(cls, *args, **kwargs):
        instance = cls.__new__(cls)
        if not is_fx_tracing():
            cls.__init__(instance, *args, **kwargs)
            return instance
        found = []

        def note(leaf):
            if isinstance(leaf, Proxy):
                found.append(leaf)
            return leaf

        map_aggregate(args, note)
        map_aggregate(kwargs, note)
        if not found:
            cls.__init__(instance, *args, **kwargs)
            return instance
        return found[0].tracer.create_proxy("call_function", cls, args, kwargs)


class PHBase:
    """An input that is not known, among concrete arguments."""

    def __repr__(self):
        return "PH"


PH = PHBase()


class PHWithMeta(PHBase):
    """An input that is not known, with attributes for its node."""

    def __init__(self, ph_key=None):
        super().__init__()
        self.ph_key = ph_key


def _transfer_attrs(fr, to):
    for name in dir(fr):
        value = getattr(fr, name)
        if not callable(value) and not name.startswith("__") and not hasattr(to, name):
            setattr(to, name, value)


def _assert_is_none(value, msg):
    assert value is None, msg  # noqa: S101  what it is for


def _positional_only(function):
    """*args and **kwargs as two ordinary parameters, so that each can be one proxy."""
    code = function.__code__
    flags = code.co_flags & ~(inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    extra = bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    count = code.co_argcount + code.co_kwonlyargcount + extra
    changed = code.replace(co_argcount=count, co_posonlyargcount=0, co_kwonlyargcount=0, co_flags=flags)
    result = types.FunctionType(
        changed, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    result.__kwdefaults__ = function.__kwdefaults__
    return result


class Tracer(TracerBase):
    """Runs a module or function with proxies. Subclasses say which modules are leaves, that is, one node.

    autowrap_modules, autowrap_functions: what is called as one node when a proxy is among its arguments.
    param_shapes_constant: shapes of parameters are numbers, not nodes.
    """

    def __init__(self, autowrap_modules=(math,), autowrap_functions=(), param_shapes_constant=False):
        super().__init__()
        self._autowrap_function_ids = {
            id(value)
            for module in autowrap_modules
            for name, value in vars(module).items()
            if not name.startswith("_") and callable(value)
        }
        self._autowrap_function_ids.update(id(function) for function in autowrap_functions)
        self._autowrap_search = list(autowrap_modules)
        self.param_shapes_constant = param_shapes_constant
        self.submodule_paths = None
        self.root_module_name = ""
        self.scope = Scope("", None)
        self.module_stack = collections.OrderedDict()
        self.num_calls = {}
        self.node_name_to_scope = {}
        self.tensor_attrs = {}
        self.root = None

    def get_fresh_qualname(self, prefix):
        """A name that the root has no attribute of."""
        i = 0
        while hasattr(self.root, f"{prefix}{i}"):
            i += 1
        return f"{prefix}{i}"

    def create_node(self, kind, target, args, kwargs, name=None, type_expr=None):
        node = super().create_node(kind, target, args, kwargs, name, type_expr)
        self.node_name_to_scope[node.name] = (self.scope.module_path, self.scope.module_type)
        return node

    def create_arg(self, a):
        """As TracerBase's; a parameter, buffer or submodule becomes a get_attr node, another tensor an attribute of the root."""
        if isinstance(a, Parameter):
            for name, parameter in self.root.named_parameters():
                if a is parameter:
                    return self.create_node("get_attr", name, (), {})
            raise NameError("parameter is not a member of this module")
        if isinstance(a, _C.Tensor):
            for name, buffer in self.root.named_buffers():
                if a is buffer:
                    return self.create_node("get_attr", name, (), {})
        elif isinstance(a, Module):
            for name, module in self.root.named_modules():
                if a is module:
                    return self.create_node("get_attr", name, (), {})
        if isinstance(a, tuple) and hasattr(a, "_fields"):
            return self.create_node("call_function", type(a), tuple(self.create_arg(element) for element in a), {})
        if isinstance(a, _C.Tensor):
            name = self.tensor_attrs.get(a) if a in self.tensor_attrs else None
            if name is None:
                name = self.get_fresh_qualname("_tensor_constant")
                self.tensor_attrs[a] = name
                setattr(self.root, name, a)
            return self.create_node("get_attr", name, (), {})
        if type(a) in _proxyable_classes:
            name = self.get_fresh_qualname(f"_{type(a).__name__}_constant_")
            setattr(self.root, name, a)
            return self.create_node("get_attr", name, (), {})
        return super().create_arg(a)

    def is_leaf_module(self, m, module_qualified_name):
        """Whether the module's call is one node: those of torch.nn are, except Sequential."""
        module = type(m).__module__
        own = module.startswith(("tenon.nn", "tenon.ao.nn", "torch.nn", "torch.ao.nn"))
        return own and not isinstance(m, tenon.nn.Sequential)

    def path_of_module(self, mod):
        """The module's path from the root. NameError if it is not there."""
        if self.submodule_paths:
            path = self.submodule_paths.get(mod)
            if path is None:
                raise NameError("module is not installed as a submodule")
            return path
        for name, module in self.root.named_modules():
            if mod is module:
                return name
        raise NameError("module is not installed as a submodule")

    def call_module(self, m, forward, args, kwargs):
        """What a module's call becomes: a node if it is a leaf, otherwise what forward(*args, **kwargs) does."""
        path = self.path_of_module(m)
        with ScopeContextManager(self.scope, Scope(path, type(m))) as scope:
            calls = self.num_calls.get(path, 0)
            key = f"{scope.module_path}@{calls}" if calls > 0 else scope.module_path
            self.module_stack[key] = (path, scope.module_type)
            self.num_calls[path] = calls + 1
            try:
                if self.is_leaf_module(m, path):
                    return self.create_proxy("call_module", path, args, kwargs)
                return forward(*args, **kwargs)
            finally:
                self.module_stack.popitem(last=True)

    def getattr(self, attr, attr_val, parameter_proxy_cache):
        """What an attribute of a module gives while it is traced: a proxy for a parameter."""

        def proxy_of(value, candidates):
            for name, candidate in candidates:
                if value is candidate:
                    if name not in parameter_proxy_cache:

                        def with_shape(node, name=name):
                            return ParameterProxy(self, node, name, value)

                        # A subclass's create_proxy() may not know of it.
                        options = {"proxy_factory_fn": with_shape} if self.param_shapes_constant else {}
                        parameter_proxy_cache[name] = self.create_proxy("get_attr", name, (), {}, **options)
                    return parameter_proxy_cache[name]
            return None

        if isinstance(attr_val, Parameter):
            found = proxy_of(attr_val, self.root.named_parameters())
            if found is not None:
                return found
        if self.proxy_buffer_attributes and isinstance(attr_val, _C.Tensor):
            found = proxy_of(attr_val, self.root.named_buffers())
            if found is not None:
                return found
        return attr_val

    # ---- inputs ----

    def create_args_for_root(self, root_fn, is_module, concrete_args=None):
        """(the function to call, its arguments): a placeholder for each parameter that has no concrete value."""
        for_analysis = inspect.unwrap(root_fn)
        code = for_analysis.__code__
        total = code.co_argcount + code.co_kwonlyargcount
        names = iter(code.co_varnames)
        signature = inspect.signature(for_analysis)
        args, skip = [], 0
        if is_module:
            if total == 0:
                raise RuntimeError("``self`` argument cannot be part of *args expansion!")
            skip = 1
            next(names)
            args.append(self.root)
        names = list(names)
        if isinstance(concrete_args, tuple):
            if len(names[: total - skip]) != len(concrete_args):
                raise RuntimeError(
                    f"Tracing expected {total - skip} arguments but got {len(concrete_args)} concrete arguments"
                )
            concrete_args = dict(zip(names, concrete_args))
        args.extend(
            self._proxy_placeholder(name, concrete_args, signature, for_analysis) for name in names[: total - skip]
        )
        names = names[total - skip :]
        if code.co_kwonlyargcount > 0 or code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS):
            if code.co_flags & inspect.CO_VARARGS:
                args.append(self._proxy_placeholder("*" + names.pop(0), concrete_args, signature, for_analysis))
            if code.co_flags & inspect.CO_VARKEYWORDS:
                args.append(self._proxy_placeholder("**" + names.pop(0), concrete_args, signature, for_analysis))
            root_fn = _positional_only(for_analysis)
        from tenon.utils import _pytree

        leaves, in_spec = _pytree.tree_flatten(tuple(args))
        if not all(child.is_leaf() for child in in_spec.children()):
            self.graph.set_codegen(
                _PyTreeCodeGen(_PyTreeInfo(code.co_varnames[:total], self._spec_of_inputs(in_spec, is_module), None))
            )

            def flatten_fn(*flat):
                tree = _pytree.tree_unflatten(list(flat), in_spec)
                result, out_spec = _pytree.tree_flatten(root_fn(*tree))
                info = self.graph._codegen.pytree_info
                self.graph._codegen.pytree_info = info._replace(out_spec=out_spec)
                return result

            return flatten_fn, leaves
        return root_fn, args

    @staticmethod
    def _spec_of_inputs(spec, is_module):
        from tenon.utils import _pytree

        children = spec.children()[1:] if is_module else spec.children()
        return _pytree.TreeSpec(tuple, None, children)

    def _proxy_placeholder(self, name, concrete_args, sig, fn_for_analysis):
        if concrete_args is not None and name in concrete_args:
            from tenon.utils import _pytree

            count = 0

            def replace(value):
                nonlocal count
                count += 1
                default = ()
                parameter = sig.parameters.get(name)
                if isinstance(value, PHBase):
                    if value is PH:
                        return self.create_proxy("placeholder", f"{name}_{count}", default, {})
                    key = (
                        value.ph_key
                        if isinstance(value, PHWithMeta) and value.ph_key is not None
                        else f"{name}_{count}"
                    )
                    proxy = self.create_proxy("placeholder", key, default, {})
                    _transfer_attrs(value, proxy.node)
                    return proxy
                if parameter is not None and parameter.default is not inspect.Parameter.empty:
                    default = (parameter.default,)
                proxy = self.create_proxy("placeholder", f"{name}_{count}", default, {})
                said = f"{name} has been specialized to have value {value} but got another value"
                if type(value) is bool or type(value) in base_types and type(value) is not _C.Tensor:
                    tenon._assert(proxy == value, said)
                elif value is None:
                    self.create_proxy("call_function", _assert_is_none, (proxy, said), {})
                else:
                    import warnings

                    warnings.warn(
                        f"Was not able to add assertion to guarantee correct input {name} to specialized function. It is up "
                        "to the user to make sure that your inputs match the inputs you specialized the function with.",
                        stacklevel=2,
                    )
                return value

            return _pytree.tree_map(replace, concrete_args[name])
        default = ()
        if not name.startswith("*"):
            parameter = sig.parameters[name]
            if parameter.default is not inspect.Parameter.empty:
                default = (parameter.default,)
        return self.create_proxy(
            "placeholder", name, default, {}, type_expr=getattr(fn_for_analysis, "__annotations__", {}).get(name)
        )

    # ---- the run ----

    def trace(self, root, concrete_args=None):
        """The graph of a module or function.

        concrete_args: values of parameters, by name, with which the program is run; the graph is only for them.
        """
        with _is_fx_tracing_context(True):
            return self._trace(root, concrete_args)

    def _trace(self, root, concrete_args):
        if isinstance(root, Module):
            self.root = root
            if not hasattr(type(root), self.traced_func_name):
                raise AssertionError(f"traced_func_name={self.traced_func_name} doesn't exist in {type(root).__name__}")
            fn = getattr(type(root), self.traced_func_name)
            self.root_module_name = root._get_name()
            self.submodule_paths = {module: name for name, module in root.named_modules()}
        else:
            self.root = Module()
            fn = root
        self.graph = Graph(tracer_cls=self._class_for_graph())
        if hasattr(fn, "__code__"):
            code = fn.__code__
            self.graph._co_fields = {
                "co_name": code.co_name,
                "co_filename": code.co_filename,
                "co_firstlineno": code.co_firstlineno,
            }
        self._collect_tensors(self.root, [])
        if not isinstance(fn, types.FunctionType):
            raise AssertionError(f"Expected FunctionType, got {type(fn)}")
        fn_globals = fn.__globals__
        fn, args = self.create_args_for_root(fn, isinstance(root, Module), concrete_args)
        proxies = {}

        @functools.wraps(_orig_module_getattr)
        def module_getattr(mod, attr):
            return self.getattr(attr, _orig_module_getattr(mod, attr), proxies)

        @functools.wraps(_orig_module_call)
        def module_call(mod, *args, **kwargs):
            def forward(*args, **kwargs):
                return _orig_module_call(mod, *args, **kwargs)

            _autowrap_check(
                patcher, getattr(getattr(mod, "forward", None), "__globals__", {}), self._autowrap_function_ids
            )
            return self.call_module(mod, forward, args, kwargs)

        with _new_patcher() as patcher:
            patcher.patch_method(Module, "__getattr__", module_getattr)
            patcher.patch_method(Module, "__call__", module_call)
            _patch_wrapped_functions(patcher)
            _autowrap_check(patcher, fn_globals, self._autowrap_function_ids)
            for module in self._autowrap_search:
                _autowrap_check(patcher, vars(module), self._autowrap_function_ids)
            annotations = getattr(inspect.unwrap(fn), "__annotations__", {})
            self.create_node("output", "output", (self.create_arg(fn(*args)),), {}, type_expr=annotations.get("return"))
        self.submodule_paths = None
        return self.graph

    def _class_for_graph(self):
        return None if "<locals>" in type(self).__qualname__ else type(self)

    def _collect_tensors(self, module, path):
        for name, value in vars(module).items():
            if isinstance(value, _C.Tensor):
                self.tensor_attrs[value] = ".".join([*path, name])
        for name, child in module.named_children():
            self._collect_tensors(child, [*path, name])

    def __deepcopy__(self, memo):
        new = type(self).__new__(type(self))
        for name, value in self.__dict__.items():
            new.__dict__[name] = copy.copy(value) if name == "_autowrap_search" else copy.deepcopy(value, memo)
        return new


# ---- what is replaced while a program is traced ----


class _Patcher:
    def __init__(self):
        self.undo = []
        self.visited = set()

    def patch(self, frame_dict, name, new, deduplicate=True):
        """frame_dict[name] = new, until the patcher is done."""
        new.__fx_already_patched = deduplicate
        was_there = name in frame_dict
        before = frame_dict.get(name)
        self.undo.append(lambda: frame_dict.__setitem__(name, before) if was_there else frame_dict.pop(name))
        frame_dict[name] = new

    def patch_method(self, cls, name, new):
        """cls.name = new, until the patcher is done."""
        before = getattr(cls, name)
        self.undo.append(lambda: setattr(cls, name, before))
        setattr(cls, name, new)

    def visit_once(self, thing):
        """Whether it is visited the first time."""
        if id(thing) in self.visited:
            return False
        self.visited.add(id(thing))
        return True


@contextlib.contextmanager
def _new_patcher():
    patcher = _Patcher()
    try:
        yield patcher
    finally:
        for undo in reversed(patcher.undo):
            undo()


def _find_proxy(*objects):
    found = []

    def note(leaf):
        if isinstance(leaf, Proxy):
            found.append(leaf)
        return leaf

    map_aggregate(objects, note)
    return found[0] if found else None


def _create_wrapped_func(orig_fn):
    @functools.wraps(orig_fn)
    def wrapped(*args, **kwargs):
        proxy = _find_proxy(args, kwargs)
        if proxy is None:
            return orig_fn(*args, **kwargs)
        result = proxy.tracer.create_proxy("call_function", orig_fn, args, kwargs)
        result.node.meta["is_wrapped"] = True
        return result

    return wrapped


def _create_wrapped_method(cls, name):
    orig_fn = getattr(cls, name)

    @functools.wraps(orig_fn)
    def wrapped(*args, **kwargs):
        proxy = _find_proxy(args, kwargs)
        if proxy is None:
            return orig_fn(*args, **kwargs)
        return proxy.tracer.create_proxy("call_method", name, args, kwargs)

    return wrapped


def _patch_wrapped_functions(patcher):
    for (_, name), frame_dict in list(_wrapped_fns_to_patch.items()):
        if name not in frame_dict and not hasattr(builtins, name):
            continue
        original = frame_dict[name] if name in frame_dict else getattr(builtins, name)
        patcher.patch(frame_dict, name, _create_wrapped_func(original))
    for cls, name in _wrapped_methods_to_patch:
        patcher.patch_method(cls, name, _create_wrapped_method(cls, name))


def _autowrap_check(patcher, frame_dict, function_ids):
    if not patcher.visit_once(frame_dict):
        return
    for name, value in list(frame_dict.items()):
        if not name.startswith("_") and callable(value) and id(value) in function_ids:
            patcher.patch(frame_dict, name, _create_wrapped_func(value))


def wrap(fn_or_name):
    """Has calls of a function of the module be one node: wrap("len") at the module's top level, or as a decorator there."""
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError("Unsupported type for global function! Must be either a callable or string name")
    if callable(fn_or_name):
        if isinstance(fn_or_name, str):
            raise AssertionError("fn_or_name should not be a string here")
        name = fn_or_name.__name__
    else:
        name = fn_or_name
    frame = inspect.currentframe().f_back
    if frame.f_code.co_name != "<module>":
        raise NotImplementedError("wrap must be called at the top level of a module")
    _wrapped_fns_to_patch[(id(frame.f_globals), name)] = frame.f_globals
    return fn_or_name


def symbolic_trace(root, concrete_args=None):
    """The GraphModule of a module or function.

        def relu_twice(x):
            return tenon.relu(tenon.relu(x))

        print(tenon.fx.symbolic_trace(relu_twice).code)

    concrete_args: values of parameters, by name, with which the program is run; the graph is only for them.
    """
    from tenon.fx.graph_module import _make_graph_module

    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)
    name = type(root).__name__ if isinstance(root, Module) else root.__name__
    return _make_graph_module(tracer.root, graph, name)
