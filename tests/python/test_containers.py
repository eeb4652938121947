"""Modules that hold others, and lists and dicts of parameters: what PyTorch's do."""

import copy
from collections import OrderedDict

import pytest
import tenon
from tenon import nn


def names(module):
    return [type(child).__name__ for child in module]


def test_sums_of_sequentials():
    first, second = nn.Sequential(nn.ReLU(), nn.Tanh()), nn.Sequential(OrderedDict(a=nn.Sigmoid()))
    both = first + second
    assert names(both) == ["ReLU", "Tanh", "Sigmoid"] and list(both._modules) == ["0", "1", "2"] and both[0] is first[0]
    assert names(first) == ["ReLU", "Tanh"]
    same = first
    first += second
    assert same is first and names(first) == ["ReLU", "Tanh", "Sigmoid"]
    for wrong in ([nn.ReLU()], nn.ModuleList([nn.ReLU()]), nn.ReLU()):
        with pytest.raises(ValueError, match="add operator supports only objects of Sequential class, but <class"):
            first + wrong
        with pytest.raises(ValueError, match="add operator supports only objects of Sequential class, but <class"):
            first += wrong


def test_multiples_of_sequentials():
    one = nn.Sequential(nn.ReLU(), nn.Tanh())
    for twice in (one * 2, 2 * one):
        assert names(twice) == ["ReLU", "Tanh", "ReLU", "Tanh"] and twice[2] is one[0]
    assert names(one * True) == ["ReLU", "Tanh"]
    same = one
    one *= 3
    assert same is one and names(one) == ["ReLU", "Tanh"] * 3 and list(one._modules) == list("012345")
    for wrong in (0, -1):
        with pytest.raises(ValueError, match=f"Non-positive multiplication factor {wrong} for <class"):
            one * wrong
        with pytest.raises(ValueError, match="Non-positive multiplication factor"):
            one *= wrong
    for wrong in (1.5, "2", None):
        with pytest.raises(TypeError, match=r"unsupported operand type\(s\) for \*: <class"):
            one * wrong
        with pytest.raises(TypeError, match=r"unsupported operand type\(s\) for \*: <class"):
            one *= wrong


def test_insert():
    net = nn.Sequential(nn.ReLU(), nn.Tanh())
    assert net.insert(-1, nn.Sigmoid()) is net and names(net) == ["ReLU", "Sigmoid", "Tanh"]
    assert names(net.insert(3, nn.GELU())) == ["ReLU", "Sigmoid", "Tanh", "GELU"]
    for index in (7, 5, -5):
        with pytest.raises(IndexError, match=f"Index out of range: {index}"):
            net.insert(index, nn.ReLU())
    for wrong in (None, "x"):
        with pytest.raises(AssertionError, match="module should be of type"):
            net.insert(0, wrong)


def test_constructors_call_what_subclasses_override_only_if_they_are_given_something():
    class Dict(nn.ModuleDict):
        def update(self, modules):
            raise LookupError

    class List(nn.ModuleList):
        def extend(self, modules):
            raise LookupError

    assert len(Dict()) == 0 and len(List()) == 0
    for make in (lambda: Dict({}), lambda: List([])):
        with pytest.raises(LookupError):
            make()


def test_wrong_arguments():
    for make, match in (
        (
            lambda: nn.ModuleDict(3),
            "ModuleDict.update should be called with an iterable of key/value pairs, but got int",
        ),
        (lambda: nn.ModuleDict([1]), "ModuleDict update sequence element #0 should be Iterable; is int"),
        (lambda: nn.ParameterDict(3), "update should be called with an iterable of key/value pairs, but got int"),
        (lambda: nn.ParameterDict({1: tenon.ones(1)}), "as it is not a string"),
        (lambda: nn.ModuleList(3), "ModuleList.extend should be called with an iterable, but got int"),
        (lambda: nn.ParameterList(3), "ParameterList.extend should be called with an iterable, but got int"),
        (
            lambda: nn.ParameterList(tenon.ones(3)),
            "ParameterList.extend should be called with an iterable, but got Tensor",
        ),
    ):
        with pytest.raises(TypeError, match=match):
            make()
    with pytest.raises(ValueError, match="ModuleDict update sequence element #0 has length 1; 2 is required"):
        nn.ModuleDict([("a",)])
    for call in (lambda: nn.ParameterList()(), lambda: nn.ParameterDict()(1)):
        with pytest.raises(RuntimeError, match="should not be called"):
            call()


def test_order_of_parameter_dicts():
    a, b = tenon.ones(1), tenon.ones(2)
    assert list(nn.ParameterDict({"b": b, "a": a})) == ["a", "b"]
    for ordered in ([("b", b), ("a", a)], OrderedDict(b=b, a=a), nn.ParameterDict([("b", b), ("a", a)])):
        assert list(nn.ParameterDict(ordered)) == ["b", "a"]
    params = nn.ParameterDict({"z": a})
    params.update({"c": a, "b": b})
    assert list(params) == ["z", "b", "c"] == [name for name, _ in params.named_parameters()] and list(
        reversed(params)
    ) == ["c", "b", "z"]
    module = nn.ModuleDict({"b": nn.ReLU(), "a": nn.Tanh()})
    assert list(module) == ["b", "a"]


def test_unions_of_parameter_dicts():
    a, b = (
        nn.ParameterDict({"x": tenon.ones(1), "y": tenon.ones(1)}),
        nn.ParameterDict({"0": tenon.zeros(1), "x": tenon.zeros(1)}),
    )
    both = a | b
    assert (
        type(both) is nn.ParameterDict and list(both) == ["x", "y", "0"] and both["x"] is b["x"] and both["y"] is a["y"]
    )
    assert list(a | {"q": tenon.ones(1), "p": tenon.ones(1)}) == ["x", "y", "p", "q"]
    plain = {"q": tenon.ones(1)} | a
    assert type(plain) is dict and list(plain) == ["q", "x", "y"]
    same = a
    a |= b
    assert same is a and list(a) == ["x", "y", "0"] and a["x"] is b["x"]


def test_methods_of_parameter_dicts():
    params = nn.ParameterDict({"a": tenon.ones(1), "b": tenon.ones(2), "c": 3})
    assert params["c"] == 3 and isinstance(params["a"], nn.Parameter) and list(params.state_dict()) == ["a", "b"]
    assert params.get("nothing") is None and params.get("c", 4) == 3
    assert params.setdefault("d", tenon.ones(4)) is params["d"] and params.setdefault("c", 1) == 3
    assert params.popitem()[0] == "d" and params.pop("c") == 3 and len(params) == 2 and not hasattr(params, "c")
    other = params.copy()
    other["e"] = tenon.ones(1)
    assert list(params) == ["a", "b"] and other["a"] is params["a"]
    assert list(params.fromkeys(["p", "q"], tenon.ones(1))) == ["p", "q"]
    assert [key for key, _ in params.items()] == ["a", "b"] and [v.shape[0] for v in params.values()] == [1, 2]
    assert list(copy.deepcopy(params)) == ["a", "b"]
    assert repr(params) == (
        "ParameterDict(\n    (a): Parameter containing: [tenon.FloatTensor of size 1]\n"
        "    (b): Parameter containing: [tenon.FloatTensor of size 2]\n)"
    )
    params.clear()
    assert len(params) == 0 and not list(params.parameters())
    with pytest.raises(KeyError, match="dictionary is empty"):
        params.popitem()


def test_parameter_lists():
    params = nn.ParameterList([tenon.ones(2, 3), nn.Parameter(tenon.ones(())), 3])
    assert len(params) == 3 and params[2] == 3 and list(params.state_dict()) == ["0", "1"]
    assert repr(params) == (
        "ParameterList(\n    (0): Parameter containing: [tenon.float32 of size 2x3]\n"
        "    (1): Parameter containing: [tenon.float32 of size ]\n    (2): Object of type: int\n)"
    )
    assert repr(nn.ParameterList()) == "ParameterList()"
    assert params[-1] == 3 and type(params[:2]) is nn.ParameterList and len(params[:2]) == 2
    params[0] = tenon.zeros(1)
    params += [tenon.ones(1)]
    assert isinstance(params[0], nn.Parameter) and [p.numel() for p in params.parameters()] == [1, 1, 1]
    assert len(copy.deepcopy(params)) == 4
    with pytest.raises(IndexError, match="index 9 is out of range"):
        params[9]
