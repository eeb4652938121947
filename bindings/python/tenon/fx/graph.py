"""Graph: a program as a list of nodes."""

import contextlib
import copy
import warnings

from tenon.fx import _names
from tenon.fx._codegen import (
    CodeGen as CodeGen,
    PythonCode as PythonCode,
    _format_target as _format_target,
    _PyTreeCodeGen as _PyTreeCodeGen,
    _PyTreeInfo as _PyTreeInfo,
    inplace_methods as inplace_methods,
    magic_methods as magic_methods,
    reflectable_magic_methods as reflectable_magic_methods,
)
from tenon.fx._names import (
    Namespace as _Namespace,
    is_magic as _is_magic,
    is_own as _is_from_torch,  # noqa: F401
    register_builtin as _register_custom_builtin,  # noqa: F401
    snake_case as _snake_case,
)
from tenon.fx.node import Node, _get_qualified_name as _get_qualified_name, map_arg

_NO_DEFAULT = object()


class _node_list:
    """The nodes in their order, as a sequence."""

    def __init__(self, graph, direction="_next"):
        self.graph, self.direction = graph, direction

    def __len__(self):
        return self.graph._len

    def __iter__(self):
        root = self.graph._root
        node = getattr(root, self.direction)
        while node is not root:
            if not node._erased:
                yield node
            node = getattr(node, self.direction)

    def __reversed__(self):
        return iter(_node_list(self.graph, "_prev" if self.direction == "_next" else "_next"))


class _FindNodes:
    """Nodes by op, and those of functions by target as well."""

    def __init__(self):
        self.table = {}

    @staticmethod
    def _key(node):
        return node.op, node.target if node.op == "call_function" else None

    def insert(self, node):
        self.table.setdefault(self._key(node), {})[node] = None

    def remove(self, node):
        self.table.get(self._key(node), {}).pop(node, None)

    def find(self, op, target):
        if op == "call_function":
            if target is not None:
                return list(self.table.get((op, target), ()))
            return [node for (kind, _), nodes in self.table.items() if kind == op for node in nodes]
        found = self.table.get((op, None), ())
        return [node for node in found if target is None or node.target == target]


class _InsertPoint:
    def __init__(self, graph, insert):
        self.graph = graph
        self.before, graph._insert = graph._insert, insert

    def __enter__(self):
        return None

    def __exit__(self, *exception):
        self.graph._insert = self.before


class Graph:
    """A program as a list of nodes, each after those that it uses.

    owning_module: the GraphModule that the graph is of.
    """

    def __init__(self, owning_module=None, tracer_cls=None, tracer_extras=None):
        self._root = Node(self, "", "root", "", (), {})
        self._insert = self._root.prepend
        self._len = 0
        self._graph_namespace = _Namespace()
        self._owning_module = owning_module
        self._tracer_cls = tracer_cls
        self._tracer_extras = tracer_extras
        self._codegen = CodeGen()
        self._co_fields = {}
        self._find_nodes = _FindNodes()

    @property
    def owning_module(self):
        """The GraphModule that the graph is of, or None."""
        return self._owning_module

    @owning_module.setter
    def owning_module(self, module):
        self._owning_module = module

    @property
    def nodes(self):
        """The nodes in their order. Iteration goes on while nodes are added and erased."""
        return _node_list(self)

    def output_node(self):
        """The node that returns."""
        return next(node for node in reversed(self.nodes) if node.op == "output")

    def find_nodes(self, *, op, target=None, sort=True):
        """The nodes of an op, and of a target if one is given, in their order."""
        found = self._find_nodes.find(op, target)
        if sort:
            places = {node: place for place, node in enumerate(self.nodes)}
            found.sort(key=places.__getitem__)
        return found

    def _place(self, node):
        return next(place for place, other in enumerate(self.nodes) if other is node)

    # ---- nodes ----

    def create_node(self, op, target, args=None, kwargs=None, name=None, type_expr=None):
        """Adds a node where the graph inserts: at its end, unless inserting_before() or inserting_after() say otherwise."""
        args, kwargs = () if args is None else args, {} if kwargs is None else kwargs
        if not isinstance(args, tuple):
            raise AssertionError(f"args must be a tuple, got {type(args)}")
        if not isinstance(kwargs, dict):
            raise AssertionError(f"kwargs must be a dict, got {type(kwargs)}")
        if op == "call_method" and not isinstance(target, str):
            raise AssertionError(f"Expected target to be str, got {type(target)}")
        candidate = name if name is not None else self._target_to_str(target)
        node = Node(self, self._graph_namespace.create_name(candidate, None), op, target, args, kwargs, type_expr)
        for hook in getattr(self.owning_module, "_create_node_hooks", ()):
            hook(node)
        self._graph_namespace.associate_name_with_obj(node.name, node)
        self._insert(node)
        self._find_nodes.insert(node)
        self._len += 1
        return node

    def erase_node(self, to_erase):
        """Removes a node that nothing uses."""
        if to_erase.users:
            raise RuntimeError(
                f"Tried to erase Node {to_erase} but it still had {len(to_erase.users)} users in the graph: {to_erase.users}!"
            )
        if to_erase.graph is not self:
            raise RuntimeError(f"Attempting to remove {to_erase} from wrong graph!")
        if to_erase._erased:
            warnings.warn(f"erase_node({to_erase}) on an already erased node", stacklevel=2)
            return
        for hook in getattr(self.owning_module, "_erase_node_hooks", ()):
            hook(to_erase)
        self._find_nodes.remove(to_erase)
        to_erase._remove_from_list()
        to_erase._erased = True
        self._len -= 1
        to_erase._update((), {})

    def inserting_before(self, n=None):
        """Nodes are created before `n`; as a context manager, within it. None: at the beginning."""
        if n is None:
            return self.inserting_after(self._root)
        if n.graph is not self:
            raise AssertionError("Node to insert before is not in graph.")
        return _InsertPoint(self, n.prepend)

    def inserting_after(self, n=None):
        """Nodes are created after `n`; as a context manager, within it. None: at the end."""
        if n is None:
            return self.inserting_before(self._root)
        if n.graph is not self:
            raise AssertionError("Node to insert after is not in graph.")
        return _InsertPoint(self, n.append)

    def placeholder(self, name, type_expr=None, default_value=_NO_DEFAULT):
        """Adds an input."""
        args = () if default_value is _NO_DEFAULT else (default_value,)
        return self.create_node("placeholder", name, args=args, type_expr=type_expr)

    def get_attr(self, qualified_name, type_expr=None):
        """Adds a node that has a parameter, buffer or submodule. A path that the owning module does not have is warned of."""
        if self.owning_module is not None and not self._is_there(qualified_name):
            warnings.warn(
                "Attempted to insert a get_attr Node with no underlying reference in the owning GraphModule! Call "
                "GraphModule.add_submodule to add the necessary submodule, GraphModule.add_parameter to add the necessary "
                "Parameter, or nn.Module.register_buffer to add the necessary buffer",
                stacklevel=2,
            )
        return self.create_node("get_attr", qualified_name, type_expr=type_expr)

    def _is_there(self, qualified_name):
        path, _, name = qualified_name.rpartition(".")
        try:
            module = self.owning_module.get_submodule(path)
        except AttributeError:
            warnings.warn(f"Failed to fetch module {path}!", stacklevel=3)
            return False
        return hasattr(module, name) and (
            name in module._modules or name in module._parameters or name in module._buffers
        )

    def call_module(self, module_name, args=None, kwargs=None, type_expr=None):
        """Adds a call of a submodule. AttributeError if the owning module does not have it."""
        if self.owning_module is not None:
            self.owning_module.get_submodule(module_name)
        return self.create_node("call_module", module_name, args, kwargs, type_expr=type_expr)

    def call_method(self, method_name, args=None, kwargs=None, type_expr=None):
        """Adds a call of a method of the first argument."""
        return self.create_node("call_method", method_name, args, kwargs, type_expr=type_expr)

    def call_function(self, the_function, args=None, kwargs=None, type_expr=None, name=None):
        """Adds a call of a function."""
        return self.create_node("call_function", the_function, args, kwargs, name=name, type_expr=type_expr)

    def output(self, result, type_expr=None):
        """Adds the node that returns."""
        return self.create_node("output", "output", args=(result,), type_expr=type_expr)

    def node_copy(self, node, arg_transform=lambda node: node):
        """Adds a copy of another graph's node; arg_transform gives this graph's node for one of the other graph."""
        args, kwargs = map_arg(node.args, arg_transform), map_arg(node.kwargs, arg_transform)
        if not isinstance(args, tuple):
            raise AssertionError(f"Expected tuple, got {type(args)}")
        result = self.create_node(node.op, node.target, args, kwargs, node.name, node.type)
        result.meta = copy.copy(node.meta)
        return result

    def graph_copy(self, g, val_map, return_output_node=False):
        """Adds copies of the nodes of `g`; val_map, node to node, is added to. Gives what `g` returns."""
        for node in g.nodes:
            if node in val_map:
                continue
            if node.op == "output":
                result = map_arg(node.args[0], lambda n: val_map[n])
                return (result, node) if return_output_node else result
            val_map[node] = self.node_copy(node, lambda n: val_map[n])
        return None

    def __deepcopy__(self, memo=None):
        memo = memo if memo is not None else {}
        result = Graph(tracer_cls=self._tracer_cls)
        mapped = {}
        memo[id(self)] = result
        result._graph_namespace._base_count = dict(self._graph_namespace._base_count)
        returned = result.graph_copy(self, val_map=mapped, return_output_node=True)
        if isinstance(returned, tuple):
            value, old = returned
            node = result.create_node("output", old.target, (value,), name=old.name, type_expr=old.type)
            node.meta = copy.copy(old.meta)
        for old, new in mapped.items():
            memo[id(old)] = new
        result._codegen = copy.deepcopy(self._codegen)
        result._co_fields = dict(self._co_fields)
        return result

    def _clear_nodes(self):
        for node in reversed(self.nodes):
            node._update((), {})
            node._erased = True
        self._root._next = self._root._prev = self._root
        self._len = 0
        self._find_nodes = _FindNodes()

    def _target_to_str(self, target):
        if callable(target) and not isinstance(target, str):
            op = getattr(target, "__name__", type(target).__name__)
        else:
            if not isinstance(target, str):
                raise AssertionError(f"Expected target to be str, got {type(target)}")
            op = target[2:-2] if _is_magic(target) else target
        return _snake_case(op)

    # ---- checks and passes ----

    def lint(self):
        """Checks the graph: nodes are of this graph and after those that they use, names differ, targets are there."""

        def check(used, node):
            if used.graph is not self:
                raise RuntimeError(
                    f"Argument '{used}' of Node '{node}' does not belong to this Graph, but was used as an argument! If you "
                    "are copying nodes from another graph, make sure to use ``arg_transform`` on node_copy() to remap values"
                    f"\n{self}"
                )
            if used not in seen:
                raise RuntimeError(
                    f"Argument '{used}' of Node '{node}' was used before it has been defined! Please check that Nodes in the "
                    f"graph are topologically ordered\n{self}"
                )

        seen, names = set(), set()
        for node in self.nodes:
            if node.op not in {"placeholder", "call_method", "call_module", "call_function", "get_attr", "output"}:
                raise RuntimeError(f"Node {node} had unknown opcode {node.op}!")
            if node.graph is not self:
                raise RuntimeError(f"Node '{node}' does not belong to this Graph!")
            map_arg(node.args, lambda used, node=node: check(used, node))
            map_arg(node.kwargs, lambda used, node=node: check(used, node))
            seen.add(node)
            if node.name in names:
                raise RuntimeError(f"Node redefined name {node.name}!")
            names.add(node.name)
        if self.owning_module is not None:
            self._check_targets()

    def _check_targets(self):
        for node in self.nodes:
            if node.op == "call_function" and not callable(node.target):
                raise ValueError(
                    f"Node {node} target {node.target} has type {type(node.target)} but a Callable is expected"
                )
            if node.op in {"placeholder", "output", "call_method"} and not isinstance(node.target, str):
                raise ValueError(f"Node {node} target {node.target} has type {type(node.target)} but a str is expected")
            if node.op not in {"get_attr", "call_module"}:
                continue
            if not isinstance(node.target, str):
                raise ValueError(f"Node {node} target {node.target} has type {type(node.target)} but a str is expected")
            self._check_path(node)

    def _check_path(self, node):
        from tenon.nn import Module

        parts, here = node.target.split("."), self.owning_module
        for i, part in enumerate(parts):
            if not hasattr(here, part):
                raise RuntimeError(
                    f"Node {node} target {node.target} references nonexistent attribute {part} of {'.'.join(parts[:i])}"
                )
            here = getattr(here, part)
            if node.op == "call_module" and i == len(parts) - 1 and not isinstance(here, Module):
                raise RuntimeError(
                    f"Node {node} target {node.target} {node.target} of {'.'.join(parts[:i])} does not reference an nn.Module"
                )

    def eliminate_dead_code(self, is_impure_node=None):
        """Removes what nothing uses and has no effect. Gives whether something was removed."""
        self.lint()
        impure = is_impure_node if is_impure_node is not None else lambda node: node.is_impure()
        changed = False
        for node in reversed(self.nodes):
            if not node.users and not impure(node):
                self.erase_node(node)
                changed = True
        return changed

    # ---- texts ----

    def __str__(self):
        return "graph():" + "".join(f"\n    {node.format_node()}" for node in self.nodes)

    def print_tabular(self):
        """Prints the nodes as a table, which the package tabulate sets."""
        try:
            from tabulate import tabulate
        except ImportError:
            print(
                "`print_tabular` relies on the library `tabulate`, which could not be found on this machine. Run `pip "
                "install tabulate` to install the library."
            )
            raise
        rows = [[node.op, node.name, node.target, node.args, node.kwargs] for node in self.nodes]
        print(tabulate(rows, headers=["opcode", "name", "target", "args", "kwargs"]))

    def python_code(self, root_module, *, verbose=False, include_stride=False, include_device=False, **options):
        """The text of a function that does what the graph does; root_module is the name of the module in it."""
        namespace = _Namespace()
        for name in _names._RESERVED & {*_names.builtins_of_code()}:
            namespace.create_name(name, _names.builtins_of_code()[name].obj) if name != "tenon" else None
        with self._names_of(namespace):
            return self._codegen._gen_python_code(
                self.nodes,
                root_module,
                namespace,
                verbose=verbose,
                include_stride=include_stride,
                include_device=include_device,
            )

    @contextlib.contextmanager
    def _names_of(self, namespace):
        before = {node: node._repr_fn for node in self.nodes}
        try:
            for node in self.nodes:
                node._repr_fn = lambda node: namespace.create_name(node.name, node)
            yield
        finally:
            for node in self.nodes:
                node._repr_fn = before.get(node)

    # ---- how code is written ----

    def set_codegen(self, codegen):
        """Has a CodeGen write the text."""
        self._codegen = codegen

    def process_inputs(self, *args):
        """Arguments of the written function as values of the placeholders."""
        return self._codegen.process_inputs(*args)

    def process_outputs(self, out):
        """What the output node has as what the written function returns."""
        return self._codegen.process_outputs(out)

    def on_generate_code(self, make_transformer):
        """Has the lines of the text changed: make_transformer(the function so far or None) gives a function of the lines.

        As a context manager, until it is left.
        """
        before = self._codegen._body_transformer
        self._codegen._body_transformer = make_transformer(before)

        @contextlib.contextmanager
        def until_left():
            try:
                yield
            finally:
                self._codegen._body_transformer = before

        return until_left()
