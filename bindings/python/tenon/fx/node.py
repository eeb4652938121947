"""The nodes of a graph."""

import operator

import tenon
from tenon import _C
from tenon.fx._names import qualified_name as _get_qualified_name, type_name as _type_repr
from tenon.fx.immutable_collections import immutable_dict, immutable_list

_legal_ops = dict.fromkeys(["placeholder", "call_method", "call_module", "call_function", "get_attr", "output", "root"])
base_types = (str, int, float, bool, complex, _C.dtype, _C.Tensor, _C.device, _C.memory_format, _C.layout)
_side_effectful_functions = {operator.setitem, tenon._assert}


def has_side_effect(fn):
    """Has eliminate_dead_code() keep calls of the function; gives the function back."""
    _side_effectful_functions.add(fn)
    return fn


def map_aggregate(a, fn):
    """fn of every leaf of tuples, lists, dicts and slices. Lists and dicts of the result cannot be changed."""
    if isinstance(a, tuple):
        values = [map_aggregate(element, fn) for element in a]
        return type(a)(*values) if hasattr(a, "_fields") else tuple(values)
    if isinstance(a, list):
        return immutable_list([map_aggregate(element, fn) for element in a])
    if isinstance(a, dict):
        return immutable_dict([(key, map_aggregate(value, fn)) for key, value in a.items()])
    if isinstance(a, slice):
        return slice(map_aggregate(a.start, fn), map_aggregate(a.stop, fn), map_aggregate(a.step, fn))
    return fn(a)


def map_arg(a, fn):
    """fn of every node in tuples, lists, dicts and slices."""
    if not callable(fn):
        raise AssertionError("torch.fx.map_arg(a, fn): fn must be a callable")
    return map_aggregate(a, lambda x: fn(x) if isinstance(x, Node) else x)


def _format_arg(arg, max_list_len=float("inf")):
    """An argument in a graph's text."""
    if hasattr(arg, "_custom_fx_repr_fn"):
        return arg._custom_fx_repr_fn()
    if isinstance(arg, (list, tuple)):
        items = ", ".join(_format_arg(a) for i, a in enumerate(arg) if i < max_list_len)
        if len(arg) > max_list_len:
            items += f", ...[total_len={len(arg)}]"
        if isinstance(arg, list):
            return f"[{items}]"
        return f"({items},)" if len(arg) == 1 else f"({items})"
    if isinstance(arg, dict):
        return "{" + ", ".join(f"{key}: {_format_arg(value)}" for key, value in arg.items()) + "}"
    return f"%{arg}" if isinstance(arg, Node) else str(arg)


class Node:
    """One step of a program: `op` says of what kind, `target` of what, `args` and `kwargs` with what.

    placeholder: an input; target is its name, args its default.
    get_attr: a parameter, buffer or submodule; target is its path.
    call_function: target(*args, **kwargs).
    call_module: the submodule of the path `target`, called.
    call_method: the method `target` of args[0], called with the others.
    output: args[0] is what the program returns.
    """

    def __init__(self, graph, name, op, target, args, kwargs, return_type=None):
        if op not in _legal_ops:
            raise AssertionError(f"op '{op}' is not in _legal_ops")
        if op == "call_function":
            if not callable(target):
                raise ValueError(
                    f"Node [graph = {graph}, name = '{name}'] target {target} has type {tenon.typename(target)} but a Callable "
                    "is expected"
                )
        elif not isinstance(target, str):
            raise ValueError(
                f"Node [graph = {graph}, name = '{name}'] target {target} has type {tenon.typename(target)} but a str is expected"
            )
        set_ = object.__setattr__
        set_(self, "graph", graph)
        set_(self, "op", op)
        set_(self, "target", target)
        set_(self, "name", name)
        self.type = return_type
        self.users = {}
        self.meta = {}
        self._input_nodes = {}
        self._repr_fn = None
        self._erased = False
        self._prev = self._next = self
        self._args, self._kwargs = (), immutable_dict()
        self._update(args, kwargs)

    # ---- the place in the graph ----

    next = property(lambda self: self._next)
    prev = property(lambda self: self._prev)

    def prepend(self, x):
        """Moves x to the place before this node."""
        if self.graph is not x.graph:
            raise AssertionError("Attempting to move a Node into a different Graph")
        if self is x:
            return
        x._remove_from_list()
        before = self._prev
        before._next, x._prev = x, before
        x._next, self._prev = self, x

    def append(self, x):
        """Moves x to the place after this node."""
        self._next.prepend(x)

    def _remove_from_list(self):
        self._prev._next, self._next._prev = self._next, self._prev

    def __lt__(self, other):
        return self.graph._place(self) < self.graph._place(other)

    def __gt__(self, other):
        return other < self

    def __le__(self, other):
        return self is other or self < other

    def __ge__(self, other):
        return self is other or other < self

    # ---- arguments ----

    @property
    def args(self):
        return self._args

    @args.setter
    def args(self, value):
        self._update(value, self._kwargs)

    @property
    def kwargs(self):
        return self._kwargs

    @kwargs.setter
    def kwargs(self, value):
        self._update(self._args, value)

    def _update(self, args, kwargs):
        for node in self._input_nodes:
            node.users.pop(self, None)
        inputs = {}

        def note(leaf):
            if isinstance(leaf, Node):
                inputs[leaf] = None
                leaf.users[self] = None
            return leaf

        self._args = map_aggregate(tuple(args), note)
        self._kwargs = map_aggregate(dict(kwargs), note)
        self._input_nodes = inputs

    @property
    def all_input_nodes(self):
        """The nodes among the arguments, each once."""
        return list(self._input_nodes)

    def update_arg(self, idx, arg):
        """Replaces a positional argument."""
        args = list(self.args)
        args[idx] = arg
        self.args = tuple(args)

    def insert_arg(self, idx, arg):
        """Inserts a positional argument."""
        if not 0 <= idx <= len(self.args):
            raise AssertionError(f"insert_args index must be between 0 and len(self.args), got {idx}")
        self.args = (*self.args[:idx], arg, *self.args[idx:])

    def update_kwarg(self, key, arg):
        """Replaces or adds a keyword argument."""
        self.kwargs = {**self.kwargs, key: arg}

    def replace_input_with(self, old_input, new_input):
        """Replaces one node among the arguments by another."""
        self._tell_replaced(old_input, new_input)
        swap = lambda node: new_input if node is old_input else node  # noqa: E731
        self._update(map_arg(self.args, swap), map_arg(self.kwargs, swap))

    def replace_all_uses_with(self, replace_with, delete_user_cb=None, *, propagate_meta=False):
        """Puts another node in the place of this one in the arguments of its users. Gives the users that were changed.

        delete_user_cb: whether a user is to be changed; all, unless it is given.
        """
        if propagate_meta:
            if len(replace_with.meta) != 0:
                raise AssertionError(
                    "Called node.replace_all_uses_with(replace_with, propagate_meta=True), but replace_with already has "
                    ".meta keys"
                )
            replace_with.meta.update(self.meta)
        changed = []
        for user in list(self.users):
            if delete_user_cb is None or delete_user_cb(user):
                changed.append(user)
                user.replace_input_with(self, replace_with)
        return changed

    def _tell_replaced(self, old, new):
        module = self.graph.owning_module
        for hook in getattr(module, "_replace_hooks", ()):
            hook(old=old, new=new.name, user=self)

    # ---- what it does ----

    def is_impure(self, impure_random=True):
        """Whether the node has an effect besides its result, so that it stays although nothing uses it."""
        if self.op in {"placeholder", "output"}:
            return True
        if self.op == "call_function":
            if self.target in _side_effectful_functions:
                return True
            if impure_random and getattr(self.target, "_nondeterministic_seeded", False):
                return True
            return self.kwargs.get("out") is not None
        if self.op == "call_method" and self.target.endswith("_") and not self.target.endswith("__"):
            return False
        if self.op == "call_module":
            module = self.graph.owning_module
            if module is None:
                raise AssertionError("self.graph.owning_module not set for purity check")
            target = module.get_submodule(self.target)
            return getattr(target, "_is_impure", False)
        return False

    @property
    def stack_trace(self):
        """The lines of the program that the node comes from, if the tracer notes them."""
        return self.meta.get("stack_trace")

    @stack_trace.setter
    def stack_trace(self, trace):
        self.meta["stack_trace"] = trace

    def normalized_arguments(self, root, arg_types=None, kwarg_types=None, normalize_to_only_use_kwargs=False):
        """(args, kwargs) with defaults filled in, by the signature of the target; None if that is not known."""
        from tenon.fx.operator_schemas import normalize_function, normalize_module

        if self.op == "call_function":
            return normalize_function(
                self.target, self.args, self.kwargs, arg_types, kwarg_types, normalize_to_only_use_kwargs
            )
        if self.op == "call_module":
            return normalize_module(root, self.target, self.args, self.kwargs, normalize_to_only_use_kwargs)
        return None

    # ---- texts ----

    def _rename(self, candidate):
        if candidate == self.name:
            return
        self.name = self.graph._graph_namespace.create_name(candidate, None)
        self.graph._graph_namespace._rename_object(self, self.name)

    def __setattr__(self, name, value):
        if name == "name" and hasattr(self, "name"):
            for hook in getattr(self.graph.owning_module, "_replace_hooks", ()):
                for user in self.users:
                    hook(old=self, new=value, user=user)
        if name in {"op", "target"} and hasattr(self, name) and not getattr(self, "_erased", True):
            self.graph._find_nodes.remove(self)
            object.__setattr__(self, name, value)
            self.graph._find_nodes.insert(self)
            return
        object.__setattr__(self, name, value)

    def __repr__(self):
        return self._repr_fn(self) if self._repr_fn else self.name

    @staticmethod
    def _pretty_print_target(target):
        """A target in a graph's text."""
        if isinstance(target, str):
            return target
        module = getattr(target, "__module__", None)
        if hasattr(target, "__name__"):
            if module == "builtins":
                return f"builtins.{target.__name__}"
            if module == "_operator":
                return f"operator.{target.__name__}"
        return _get_qualified_name(target)

    def format_node(self, placeholder_names=None, maybe_return_typename=None, *, include_tensor_metadata=False):
        """The node's line in the graph's text.

        placeholder_names, maybe_return_typename: lists that take inputs and the type that is returned.
        """
        typed = f"{_type_repr(self.type)} " if self.type else ""
        head = f"%{self.name} : {typed}[num_users={len(self.users)}] = {self.op}"
        if self.op == "placeholder":
            if not isinstance(self.target, str):
                raise AssertionError(f"Expected target to be str, got {type(self.target)}")
            shown = self.target + (f": {_type_repr(self.type)}" if self.type else "")
            if placeholder_names:
                placeholder_names.append(shown)
                return None
            default = f"(default={self.args[0]})" if self.args else ""
            return f"{head}[target={self.target}]{default}"
        if self.op == "get_attr":
            return f"{head}[target={self._pretty_print_target(self.target)}]"
        if self.op == "output":
            if self.type and maybe_return_typename:
                maybe_return_typename[0] = f" -> {_type_repr(self.type)}"
            return f"return {self.args[0]}"
        return (
            f"{head}[target={self._pretty_print_target(self.target)}]"
            f"(args = {_format_arg(self.args)}, kwargs = {_format_arg(self.kwargs)})"
        )

    # ---- pickles ----

    def __getstate__(self):
        return dict(self.__dict__)

    def __setstate__(self, state):
        self.__dict__.update(state)
