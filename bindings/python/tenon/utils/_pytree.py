"""Trees of Python's containers: taken apart into leaves and a TreeSpec, mapped, and put together again.

    leaves, spec = tree_flatten({"a": [1, 2], "b": 3})     [1, 2, 3]
    tree_unflatten([10, 20, 30], spec)                     {"a": [10, 20], "b": 30}
    tree_map(lambda x: 2 * x, {"a": [1, 2], "b": 3})       {"a": [2, 4], "b": 6}

Nodes are tuples, lists, dicts, named tuples, OrderedDicts, defaultdicts, deques, what operators return, and classes of
register_pytree_node(). All else, None too, is a leaf. Names and results are those of PyTorch's module of this name.
"""

import collections
import dataclasses
import json
import types
from typing import Any, NamedTuple

# ---- keys: the way to a leaf ----


@dataclasses.dataclass(frozen=True)
class SequenceKey:
    """The place in a list or tuple."""

    idx: int

    def __str__(self):
        return f"[{self.idx!r}]"

    def get(self, sequence):
        return sequence[self.idx]


@dataclasses.dataclass(frozen=True)
class MappingKey:
    """The key of a dict."""

    key: Any

    def __str__(self):
        return f"[{self.key!r}]"

    def get(self, mapping):
        return mapping[self.key]


@dataclasses.dataclass(frozen=True)
class GetAttrKey:
    """The name of an attribute."""

    name: str

    def __str__(self):
        return f".{self.name}"

    def get(self, obj):
        return getattr(obj, self.name)


def keystr(kp):
    """The way as it would be written in Python: "['a'][0]"."""
    return "".join(str(key) for key in kp)


def key_get(obj, kp):
    """What is at the end of the way."""
    for key in kp:
        obj = key.get(obj)
    return obj


# ---- kinds of nodes ----


class NodeDef(NamedTuple):
    """How nodes of a class are taken apart and put together."""

    type: type
    flatten_fn: Any
    unflatten_fn: Any
    flatten_with_keys_fn: Any


class _Serialized(NamedTuple):
    name: str
    dump_context: Any
    load_context: Any


SUPPORTED_NODES = {}
_serialized, _types_by_name = {}, {}


def register_pytree_node(
    cls,
    flatten_fn,
    unflatten_fn,
    *,
    serialized_type_name=None,
    to_dumpable_context=None,
    from_dumpable_context=None,
    flatten_with_keys_fn=None,
):
    """Makes objects of a class nodes.

    flatten_fn(object): a list of children, and a context that compares equal for nodes of one shape.
    unflatten_fn(children, context): the object.
    flatten_with_keys_fn(object): the same as flatten_fn, with (key, child) for each child.
    serialized_type_name, to_dumpable_context, from_dumpable_context: for treespec_dumps(), which writes contexts as JSON.
    """
    if cls in SUPPORTED_NODES:
        raise ValueError(f"{cls} is already registered as pytree node.")
    if (to_dumpable_context is None) != (from_dumpable_context is None):
        raise ValueError(f"Both to_dumpable_context and from_dumpable_context for {cls} must be None or registered.")
    SUPPORTED_NODES[cls] = NodeDef(cls, flatten_fn, unflatten_fn, flatten_with_keys_fn)
    name = serialized_type_name or f"{cls.__module__}.{cls.__qualname__}"
    _serialized[cls] = _Serialized(name, to_dumpable_context, from_dumpable_context)
    _types_by_name[name] = cls


_register_pytree_node = _private_register_pytree_node = register_pytree_node


def _deregister_pytree_node(cls):
    del SUPPORTED_NODES[cls]
    _types_by_name.pop(_serialized.pop(cls).name)


def register_dataclass(cls, *, field_names=None, drop_field_names=None, serialized_type_name=None):
    """Makes objects of a dataclass nodes, with their fields as children.

    field_names: the fields that __init__() takes, by default all of them but drop_field_names, which keep their defaults.
    """
    drop = set(drop_field_names or ())
    if field_names is None:
        if not dataclasses.is_dataclass(cls):
            raise ValueError("field_names must be specified with a list of all fields used to construct the class.")
        field_names = [field.name for field in dataclasses.fields(cls) if field.init and field.name not in drop]

    def flatten_with_keys(obj):
        present = [name for name in field_names if getattr(obj, name) is not None]
        absent = [name for name in field_names if getattr(obj, name) is None]
        return [(GetAttrKey(name), getattr(obj, name)) for name in present], [present, absent]

    def flatten(obj):
        children, context = flatten_with_keys(obj)
        return [child for _, child in children], context

    def unflatten(children, context):
        present, absent = context
        return cls(**dict(zip(present, children, strict=True)), **dict.fromkeys(absent))

    register_pytree_node(
        cls,
        flatten,
        unflatten,
        serialized_type_name=serialized_type_name,
        flatten_with_keys_fn=flatten_with_keys,
    )


@dataclasses.dataclass(frozen=True)
class ConstantNode:
    """The context of a node that is a constant: the object itself."""

    value: Any


def register_constant(cls):
    """Makes objects of a class nodes without children, which compare by value: part of the tree's shape."""
    if cls.__eq__ is object.__eq__:
        raise TypeError(
            f"register_constant(cls) expects `cls` to have a non-default `__eq__` implementation, got {cls}"
        )
    if cls.__hash__ is None:
        raise TypeError(
            f"register_constant(cls) expects `cls` to have a non-default `__hash__` implementation, got {cls}"
        )
    register_pytree_node(
        cls,
        lambda obj: ([], ConstantNode(obj)),
        lambda _, context: context.value,
        flatten_with_keys_fn=lambda obj: ([], ConstantNode(obj)),
    )


def is_constant_class(cls):
    """Whether register_constant() was given the class."""
    return (
        isinstance(cls, type)
        and cls in SUPPORTED_NODES
        and SUPPORTED_NODES[cls].unflatten_fn.__code__.co_names == ("value",)
    )


def is_namedtuple_class(cls):
    """Whether the class is one of collections.namedtuple() or typing.NamedTuple."""
    return (
        isinstance(cls, type)
        and issubclass(cls, tuple)
        and isinstance(getattr(cls, "_fields", None), tuple)
        and all(isinstance(field, str) for field in cls._fields)
        and callable(getattr(cls, "_make", None))
        and callable(getattr(cls, "_asdict", None))
    )


def is_namedtuple_instance(obj):
    """Whether the object is a named tuple."""
    return is_namedtuple_class(type(obj))


def is_namedtuple(obj):
    """Whether it is a named tuple, or a class of them."""
    return is_namedtuple_class(obj if isinstance(obj, type) else type(obj))


_is_namedtuple_instance = is_namedtuple_instance


def is_structseq_class(cls):
    """Whether the class is one of Python's own named tuples, as time.struct_time."""
    return (
        isinstance(cls, type)
        and cls.__bases__ == (tuple,)
        and all(
            isinstance(getattr(cls, name, None), int) for name in ("n_fields", "n_sequence_fields", "n_unnamed_fields")
        )
    )


def is_structseq_instance(obj):
    """Whether the object is one of Python's own named tuples."""
    return is_structseq_class(type(obj))


def is_structseq(obj):
    """Whether it is one of Python's own named tuples, or a class of them."""
    return is_structseq_class(obj if isinstance(obj, type) else type(obj))


def _places(sequence):
    return [(SequenceKey(i), child) for i, child in enumerate(sequence)]


def _keys(mapping):
    return [(MappingKey(key), child) for key, child in mapping.items()]


def _register_builtin(cls, context, unflatten, keyed, dump=None, load=None):
    register_pytree_node(
        cls,
        lambda node: ([child for _, child in keyed(node)], context(node)),
        unflatten,
        to_dumpable_context=dump,
        from_dumpable_context=load,
        flatten_with_keys_fn=lambda node: (keyed(node), context(node)),
    )


def _unflatten_default_dict(children, context):
    factory, keys = context
    return collections.defaultdict(factory, zip(keys, children, strict=True))


def _dump_namedtuple(cls):
    if cls not in _serialized:
        raise NotImplementedError(
            f"Can't serialize TreeSpec of namedtuple class {cls} because we didn't register a serialized_type_name. "
            "Please register using `_register_namedtuple`."
        )
    return _serialized[cls].name


def _load_namedtuple(name):
    if name not in _types_by_name:
        raise NotImplementedError(f"Can't deserialize TreeSpec of namedtuple class {name}: register it first.")
    return _types_by_name[name]


def _register_namedtuple(cls, *, serialized_type_name):
    """Gives a class of named tuples, which are nodes in any case, the name by which TreeSpecs are written."""
    _serialized[cls] = _Serialized(serialized_type_name, None, None)
    _types_by_name[serialized_type_name] = cls


def _dump_default_dict(context):
    factory, keys = context
    return {
        "default_factory_module": factory.__module__,
        "default_factory_name": factory.__qualname__,
        "dict_context": keys,
    }


def _load_default_dict(context):
    import importlib

    factory = getattr(importlib.import_module(context["default_factory_module"]), context["default_factory_name"])
    return [factory, context["dict_context"]]


_register_builtin(tuple, lambda _: None, lambda children, _: tuple(children), _places)
_register_builtin(list, lambda _: None, lambda children, _: list(children), _places)
_register_builtin(dict, list, lambda children, keys: dict(zip(keys, children, strict=True)), _keys)
_register_builtin(
    collections.namedtuple,  # noqa: PYI024
    type,
    lambda children, cls: cls(*children),
    lambda node: [(GetAttrKey(name), child) for name, child in zip(node._fields, node, strict=True)],
    _dump_namedtuple,
    _load_namedtuple,
)
_register_builtin(
    collections.OrderedDict,
    list,
    lambda children, keys: collections.OrderedDict(zip(keys, children, strict=True)),
    _keys,
)
_register_builtin(
    collections.defaultdict,
    lambda node: [node.default_factory, list(node)],
    _unflatten_default_dict,
    _keys,
    _dump_default_dict,
    _load_default_dict,
)
_register_builtin(
    collections.deque,
    lambda node: node.maxlen,
    lambda children, maxlen: collections.deque(children, maxlen=maxlen),
    _places,
)
BUILTIN_TYPES = frozenset(SUPPORTED_NODES)


def _get_node_type(tree):
    kind = type(tree)
    if kind in SUPPORTED_NODES or not issubclass(kind, tuple):
        return kind
    if is_namedtuple_class(kind):
        return collections.namedtuple
    # The classes of tenon.return_types are made when operators first return them.
    if kind.__module__.endswith(".return_types") and is_structseq_class(kind):
        register_pytree_node(
            kind,
            lambda node: (list(node), None),
            lambda children, _: kind(children),
            flatten_with_keys_fn=lambda node: (_places(node), None),
        )
    return kind


def tree_is_leaf(tree, is_leaf=None):
    """Whether the object is a leaf: of no class of nodes, or one that is_leaf(object) says to be one."""
    return (is_leaf is not None and is_leaf(tree)) or _get_node_type(tree) not in SUPPORTED_NODES


_is_leaf = tree_is_leaf

# ---- specs: a tree without its leaves ----


class TreeSpec:
    """A tree's shape: the class of each node, its context, and the TreeSpecs of its children."""

    __slots__ = ("type", "context", "_children", "num_nodes", "num_leaves")

    def __init__(self, type, context, children_specs):
        self.type, self.context, self._children = type, context, list(children_specs)
        self.num_nodes, self.num_leaves = 1, int(type is None)
        for child in self._children:
            self.num_nodes += child.num_nodes
            self.num_leaves += child.num_leaves

    num_children = property(lambda self: len(self._children))
    children_specs = property(lambda self: list(self._children))

    def children(self):
        return list(self._children)

    def child(self, index):
        return self._children[index]

    def is_leaf(self):
        return self.type is None

    def unflatten(self, leaves):
        """The tree with these leaves. ValueError if it has another number of them."""
        leaves = list(leaves)
        if len(leaves) != self.num_leaves:
            raise ValueError(
                f"treespec.unflatten(leaves): `leaves` has length {len(leaves)} but the spec refers to a pytree that holds "
                f"{self.num_leaves} items ({self})."
            )
        return self._build(iter(leaves))

    def _build(self, leaves):
        if self.type is None:
            return next(leaves)
        children = [child._build(leaves) for child in self._children]
        return SUPPORTED_NODES[self.type].unflatten_fn(children, self.context)

    def flatten_up_to(self, tree):
        """What the tree, which begins with this shape, has in the places of the leaves. ValueError if its shape is another."""
        found = []
        self._collect(tree, found)
        return found

    def _collect(self, tree, found):
        if self.type is None:
            found.append(tree)
            return
        kind = _get_node_type(tree)
        dicts = (dict, collections.OrderedDict, collections.defaultdict)
        if kind is not self.type and not (kind in dicts and self.type in dicts):
            raise ValueError(f"Node type mismatch; expected {self.type!r}, but got {kind!r}.")
        if kind in dicts:
            keys = self.context[1] if self.type is collections.defaultdict else self.context
            if set(keys) != set(tree):
                missing, extra = set(keys) - set(tree), set(tree) - set(keys)
                raise ValueError(
                    "Node keys mismatch"
                    + (f"; missing key(s): {missing}" if missing else "")
                    + (f"; extra key(s): {extra}" if extra else "")
                    + "."
                )
            children = [tree[key] for key in keys]
        else:
            children, context = SUPPORTED_NODES[kind].flatten_fn(tree)
            if len(children) != self.num_children:
                raise ValueError(f"Node arity mismatch; expected {self.num_children}, but got {len(children)}.")
            if context != self.context and self.type is not collections.deque:
                raise ValueError(
                    f"Node context mismatch for custom node type {self.type!r}: expected {self.context!r}, but got {context!r}."
                )
        for child, tree_of_child in zip(self._children, children, strict=True):
            child._collect(tree_of_child, found)

    def __eq__(self, other):
        if not isinstance(other, TreeSpec):
            return NotImplemented
        return (self.type, self.context, self._children) == (other.type, other.context, other._children)

    def __hash__(self):
        # Contexts need not have a hash.
        return hash((self.type, *self._children))

    def __repr__(self):
        return self._text(0)

    def _text(self, indent):
        if self.type is None:
            return "*"
        children = [child._text(indent + 2) for child in self._children]
        return f"TreeSpec({self.type.__name__}, {self.context}, [" + (",\n" + " " * (indent + 2)).join(children) + "])"

    def __reduce__(self):
        return (TreeSpec, (self.type, self.context, self._children)) if self.type is not None else (LeafSpec, ())


PyTreeSpec = TreeSpec


class LeafSpec(TreeSpec):
    """The shape of a leaf."""

    __slots__ = ()

    def __init__(self):
        super().__init__(None, None, [])

    __hash__ = TreeSpec.__hash__


_LEAF = LeafSpec()


def treespec_leaf():
    """The shape of a leaf."""
    return _LEAF


def treespec_tuple(iterable=(), /):
    """The shape of a tuple of trees of these shapes."""
    return TreeSpec(tuple, None, list(iterable))


def treespec_dict(mapping=(), /, **kwargs):
    """The shape of a dict of trees of these shapes."""
    shapes = dict(mapping, **kwargs)
    return TreeSpec(dict, list(shapes), list(shapes.values()))


def treespec_pprint(treespec):
    """The shape as a tree with `*` for leaves."""

    class Star:
        def __repr__(self):
            return "*"

    return repr(treespec.unflatten([Star()] * treespec.num_leaves))


# ---- taking apart, mapping, asking ----


def _flatten(tree, leaves, is_leaf):
    kind = type(tree)
    if kind not in SUPPORTED_NODES and isinstance(tree, tuple):
        kind = _get_node_type(tree)
    if kind not in SUPPORTED_NODES or (is_leaf is not None and is_leaf(tree)):
        leaves.append(tree)
        return _LEAF
    children, context = SUPPORTED_NODES[kind].flatten_fn(tree)
    return TreeSpec(kind, context, [_flatten(child, leaves, is_leaf) for child in children])


def tree_flatten(tree, is_leaf=None):
    """The leaves, in order, and the tree's shape. is_leaf(object): true for nodes that are to be leaves."""
    leaves = []
    spec = _flatten(tree, leaves, is_leaf)
    return leaves, spec


def tree_unflatten(leaves, treespec):
    """The tree of this shape with these leaves."""
    if not isinstance(treespec, TreeSpec):
        raise TypeError(
            f"tree_unflatten(leaves, treespec): Expected `treespec` to be instance of PyTreeSpec but got item of type {type(treespec)}."
        )
    return treespec.unflatten(leaves)


def tree_iter(tree, is_leaf=None):
    """The leaves, one after the other."""
    if tree_is_leaf(tree, is_leaf):
        yield tree
        return
    for child in SUPPORTED_NODES[_get_node_type(tree)].flatten_fn(tree)[0]:
        yield from tree_iter(child, is_leaf)


def tree_leaves(tree, is_leaf=None):
    """The leaves."""
    return list(tree_iter(tree, is_leaf))


def tree_structure(tree, is_leaf=None):
    """The tree's shape."""
    return tree_flatten(tree, is_leaf)[1]


def arg_tree_leaves(*args, **kwargs):
    """The leaves of all arguments."""
    return [leaf for tree in (*args, *kwargs.values()) for leaf in tree_iter(tree)]


def _rows(tree, rests, is_leaf):
    leaves, spec = tree_flatten(tree, is_leaf)
    return zip(leaves, *(spec.flatten_up_to(rest) for rest in rests), strict=True), spec


def tree_map(func, tree, *rests, is_leaf=None):
    """The tree of func(leaf, ...), with what the other trees have in the place of the leaf."""
    rows, spec = _rows(tree, rests, is_leaf)
    return spec.unflatten([func(*row) for row in rows])


def tree_map_(func, tree, *rests, is_leaf=None):
    """Calls func(leaf, ...) for its effect; gives the tree itself."""
    for row in _rows(tree, rests, is_leaf)[0]:
        func(*row)
    return tree


def _predicate(types_or_predicate):
    if isinstance(types_or_predicate, (type, tuple, types.UnionType)):
        return lambda leaf: isinstance(leaf, types_or_predicate)
    if callable(types_or_predicate):
        return types_or_predicate
    raise TypeError("Argument must be a type, a tuple of types, or a callable.")


def map_only(type_or_types_or_pred, /):
    """A decorator: the function is called for leaves of these classes alone, and others stay as they are."""
    wanted = _predicate(type_or_types_or_pred)
    return lambda func: lambda leaf: func(leaf) if wanted(leaf) else leaf


def tree_map_only(type_or_types_or_pred, /, func, tree, is_leaf=None):
    """tree_map() of the leaves of these classes, or for which the predicate is true."""
    return tree_map(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_map_only_(type_or_types_or_pred, /, func, tree, is_leaf=None):
    """tree_map_() of the leaves of these classes, or for which the predicate is true."""
    return tree_map_(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_all(pred, tree, is_leaf=None):
    """Whether the predicate is true of all leaves."""
    return all(pred(leaf) for leaf in tree_iter(tree, is_leaf))


def tree_any(pred, tree, is_leaf=None):
    """Whether the predicate is true of a leaf."""
    return any(pred(leaf) for leaf in tree_iter(tree, is_leaf))


def tree_all_only(type_or_types, /, pred, tree, is_leaf=None):
    """Whether the predicate is true of all leaves of these classes."""
    return all(pred(leaf) for leaf in tree_iter(tree, is_leaf) if isinstance(leaf, type_or_types))


def tree_any_only(type_or_types, /, pred, tree, is_leaf=None):
    """Whether the predicate is true of a leaf of these classes."""
    return any(pred(leaf) for leaf in tree_iter(tree, is_leaf) if isinstance(leaf, type_or_types))


def _broadcast_to_and_flatten(tree, treespec, is_leaf=None):
    """The leaves of a tree that ends earlier than the shape, each as often as there are leaves below; None if it does not fit."""
    if tree_is_leaf(tree, is_leaf):
        return [tree] * treespec.num_leaves
    if treespec.is_leaf() or _get_node_type(tree) is not treespec.type:
        return None
    children, context = SUPPORTED_NODES[treespec.type].flatten_fn(tree)
    if len(children) != treespec.num_children or context != treespec.context:
        return None
    found = []
    for child, spec in zip(children, treespec.children(), strict=True):
        leaves = _broadcast_to_and_flatten(child, spec, is_leaf)
        if leaves is None:
            return None
        found += leaves
    return found


# ---- with the way to each leaf ----


def _ways(way, tree, is_leaf):
    if tree_is_leaf(tree, is_leaf):
        yield way, tree
        return
    kind = _get_node_type(tree)
    with_keys = SUPPORTED_NODES[kind].flatten_with_keys_fn
    if with_keys is None:
        raise ValueError(
            f"Did not find a flatten_with_keys_fn for type: {kind}. Please pass a flatten_with_keys_fn argument to "
            "register_pytree_node."
        )
    for key, child in with_keys(tree)[0]:
        yield from _ways((*way, key), child, is_leaf)


def tree_flatten_with_path(tree, is_leaf=None):
    """The leaves, each with the way to it, and the tree's shape."""
    return list(_ways((), tree, is_leaf)), tree_structure(tree, is_leaf)


def tree_leaves_with_path(tree, is_leaf=None):
    """The leaves, each with the way to it."""
    return list(_ways((), tree, is_leaf))


def tree_map_with_path(func, tree, *rests, is_leaf=None):
    """The tree of func(way, leaf, ...)."""
    ways, spec = tree_flatten_with_path(tree, is_leaf)
    others = [spec.flatten_up_to(rest) for rest in rests]
    return spec.unflatten([func(way, leaf, *row) for (way, leaf), *row in zip(ways, *others, strict=True)])


# ---- shapes as text ----


def _to_json(spec):
    if spec.is_leaf():
        return {"type": None, "context": None, "children_spec": []}
    if spec.type not in _serialized:
        raise NotImplementedError(f"Serializing {spec.type} in pytree is not registered.")
    name, dump, _ = _serialized[spec.type]
    context = json.dumps(spec.context if dump is None else dump(spec.context))
    return {"type": name, "context": context, "children_spec": [_to_json(child) for child in spec.children()]}


def _from_json(values):
    if values["type"] is None:
        return _LEAF
    if values["type"] not in _types_by_name:
        raise NotImplementedError(f"Deserializing {values['type']} in pytree is not registered.")
    kind = _types_by_name[values["type"]]
    load, context = _serialized[kind].load_context, json.loads(values["context"])
    return TreeSpec(kind, context if load is None else load(context), [_from_json(c) for c in values["children_spec"]])


def treespec_dumps(treespec, protocol=None):
    """The shape as JSON, of protocol 1."""
    if protocol not in (None, 1):
        raise ValueError(f"Unknown protocol {protocol}. Available protocols: [1]")
    return json.dumps([1, _to_json(treespec)])


def treespec_loads(serialized):
    """The shape that treespec_dumps() has written."""
    protocol, values = json.loads(serialized)
    if protocol != 1:
        raise ValueError(f"Unknown protocol {protocol}. Available protocols: [1]")
    return _from_json(values)
