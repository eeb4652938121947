"""Trees of containers, taken apart and put together."""

import collections
import dataclasses
import pickle
from importlib import import_module

import pytest

Point = collections.namedtuple("Point", "x y")
TREE = {
    "b": [1, (2, 3)],
    "a": None,
    "c": Point(4, collections.deque([5], maxlen=3)),
    "d": collections.OrderedDict(z=6),
    "e": collections.defaultdict(int, {"q": 7}),
}


@pytest.fixture
def pytree(lib):
    return import_module(f"{lib.__name__}.utils._pytree")


def test_leaves_and_shape(pytree):
    leaves, spec = pytree.tree_flatten(TREE)
    assert leaves == [1, 2, 3, None, 4, 5, 6, 7] == pytree.tree_leaves(TREE)
    assert (spec.num_leaves, spec.num_nodes, spec.num_children) == (8, 15, 5) and spec.type is dict
    assert repr(spec).splitlines()[:3] == [
        "TreeSpec(dict, ['b', 'a', 'c', 'd', 'e'], [TreeSpec(list, None, [*,",
        "    TreeSpec(tuple, None, [*,",
        "      *])]),",
    ]
    back = pytree.tree_unflatten(leaves, spec)
    assert back == TREE and type(back["c"]) is Point and back["c"].y.maxlen == 3 and back["e"].default_factory is int
    assert spec == pytree.tree_structure(back) and hash(spec) == hash(pytree.tree_structure(back))
    assert spec != pytree.tree_structure([1]) and repr(pytree.tree_structure(1)) == "*"
    assert pickle.loads(pickle.dumps(spec)) == spec


def test_maps(pytree):
    assert pytree.tree_map(lambda v: v and v + 1, TREE)["b"] == [2, (3, 4)]
    assert pytree.tree_map(lambda a, b: a + b, [1, {"k": 2}], [3, {"k": 4}]) == [4, {"k": 6}]
    assert pytree.tree_map_only(int, lambda v: v + 1, [1, "a", 2.0]) == [2, "a", 2.0]
    assert pytree.tree_map_only(lambda v: v == 1, lambda v: -v, [1, 2]) == [-1, 2]
    assert pytree.tree_map(len, [[1, 2]], is_leaf=lambda t: t == [1, 2]) == [2]
    assert pytree.tree_any_only(int, lambda v: v > 1, [2, "a"]) and not pytree.tree_all(bool, [1, 0])
    seen = []
    assert pytree.tree_map_(seen.append, [1, [2]]) == [1, [2]] and seen == [1, 2]


@pytest.mark.parametrize(
    "other, error",
    [
        ([3], "Node arity mismatch; expected 2, but got 1."),
        ((3, 4), "Node type mismatch; expected <class 'list'>, but got <class 'tuple'>."),
    ],
)
def test_trees_of_other_shapes(pytree, other, error):
    with pytest.raises(ValueError, match=error):
        pytree.tree_map(lambda a, b: a, [1, 2], other)
    with pytest.raises(ValueError, match="`leaves` has length 3 but the spec refers to a pytree that holds 2 items"):
        pytree.tree_unflatten([1, 2, 3], pytree.tree_structure([1, 2]))


def test_ways(pytree):
    ways, spec = pytree.tree_flatten_with_path(TREE)
    text = [pytree.keystr(way) for way, _ in ways]
    assert text == [
        "['b'][0]",
        "['b'][1][0]",
        "['b'][1][1]",
        "['a']",
        "['c'].x",
        "['c'].y[0]",
        "['d']['z']",
        "['e']['q']",
    ]
    assert all(pytree.key_get(TREE, way) == leaf for way, leaf in ways) and spec == pytree.tree_structure(TREE)
    assert pytree.tree_map_with_path(lambda way, leaf: len(way), [1, {"a": 2}]) == [1, {"a": 2}]


def test_classes_of_users(pytree):
    class Pair:
        def __init__(self, a, b, name):
            self.a, self.b, self.name = a, b, name

    pytree.register_pytree_node(Pair, lambda p: ([p.a, p.b], p.name), lambda children, name: Pair(*children, name))
    with pytest.raises(ValueError, match="is already registered as pytree node"):
        pytree.register_pytree_node(Pair, None, None)
    doubled = pytree.tree_map(lambda v: 2 * v, [Pair(1, 2, "n")])[0]
    assert (doubled.a, doubled.b, doubled.name) == (2, 4, "n")
    with pytest.raises(ValueError, match="Node context mismatch"):
        pytree.tree_map(lambda a, b: a, Pair(1, 2, "n"), Pair(1, 2, "m"))

    @dataclasses.dataclass
    class Box:
        x: int
        y: object = None

    pytree.register_dataclass(Box)
    assert pytree.tree_map(lambda v: v + 1, Box(1)) == Box(2) and pytree.tree_leaves(Box(1, [2, 3])) == [1, 2, 3]


def test_shapes_as_text(pytree):
    spec = pytree.tree_structure([1, {"a": (2, 3)}, collections.defaultdict(list, k=1)])
    text = pytree.treespec_dumps(pytree.tree_structure([1, {"a": 2}]))
    assert text == (
        '[1, {"type": "builtins.list", "context": "null", "children_spec": [{"type": null, "context": null, '
        '"children_spec": []}, {"type": "builtins.dict", "context": "[\\"a\\"]", "children_spec": [{"type": null, '
        '"context": null, "children_spec": []}]}]}]'
    )
    assert pytree.treespec_loads(pytree.treespec_dumps(spec)) == spec
    with pytest.raises(NotImplementedError, match="namedtuple class"):
        pytree.treespec_dumps(pytree.tree_structure(Point(1, 2)))


def test_broadcast(pytree):
    spec = pytree.tree_structure([1, [2, 3]])
    assert pytree._broadcast_to_and_flatten(5, spec) == [5, 5, 5]
    assert pytree._broadcast_to_and_flatten([1, 2], spec) == [1, 2, 2]
    assert pytree._broadcast_to_and_flatten((1, 2), spec) is None
