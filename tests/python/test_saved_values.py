"""What nodes keep for backward, as their attributes; beside PyTorch where it is installed."""

import pytest
import tenon


def node_of(make, library=tenon):
    x = library.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = library.tensor([[2.0, 3.0], [5.0, 7.0]], requires_grad=True)
    return make(library, x, y).grad_fn


def saved_names(node):
    return {name for name in dir(node) if name.startswith("_saved_")}


def test_tensors_and_numbers_that_a_node_keeps():
    node = node_of(lambda t, x, y: x * y)
    assert saved_names(node) == {"_saved_self", "_saved_other"}
    assert node._saved_self.tolist() == [[1, 2], [3, 4]] and node._saved_other.tolist() == [[2, 3], [5, 7]]
    assert saved_names(node_of(lambda t, x, y: t.add(x, y, alpha=3))) >= {"_saved_alpha"}
    node = node_of(lambda t, x, y: t.softmax(x, 1))
    assert node._saved_dim == 1 and node._saved_result.requires_grad
    assert node._saved_result.grad_fn == node
    node = node_of(lambda t, x, y: t.sum(x, (0,), keepdim=True))
    assert node._saved_self_sym_sizes == (2, 2) and node._saved_dim == (0,) and node._saved_keepdim is True
    with pytest.raises(AttributeError, match="'SumBackward1' object has no attribute '_saved_self'"):
        node._saved_self
    with pytest.raises(AttributeError):
        node.nonsense


def test_what_is_not_needed_is_none():
    x = tenon.ones(2, requires_grad=True)
    node = (x * tenon.ones(2)).grad_fn
    assert node._saved_self is None and node._saved_other.tolist() == [1, 1]


def test_after_release_the_values_are_gone():
    x = tenon.ones(2, requires_grad=True)
    y = x.exp()
    y.sum().backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.grad_fn._saved_result


def test_a_changed_value_is_an_error():
    x = tenon.ones(2, requires_grad=True)
    a = x + 1
    y = a * a
    a.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.grad_fn._saved_self


def test_hooks_of_one_saved_tensor():
    x = tenon.tensor([2.0], requires_grad=True)
    y = x * x
    y.grad_fn._raw_saved_self.register_hooks(lambda t: t * 10, lambda t: t)
    y.backward()
    assert x.grad.tolist() == [2 + 20]
    with pytest.raises(RuntimeError, match="after it has been freed"):
        y.grad_fn._raw_saved_other.register_hooks(lambda t: t, lambda t: t)


def test_lists():
    x = tenon.ones(3, requires_grad=True)
    node = x[tenon.tensor([0, 2])].grad_fn
    assert [t if t is None else t.tolist() for t in node._saved_indices] == [[0, 2]]


OPERATORS = {
    "mul": lambda t, x, y: x * y,
    "add": lambda t, x, y: t.add(x, y, alpha=2),
    "div": lambda t, x, y: x / y,
    "exp": lambda t, x, y: x.exp(),
    "log": lambda t, x, y: x.log(),
    "tanh": lambda t, x, y: x.tanh(),
    "mm": lambda t, x, y: x.mm(y),
    "sum": lambda t, x, y: x.sum(),
    "sum_dim": lambda t, x, y: x.sum(1, keepdim=True),
    "mean": lambda t, x, y: x.mean(),
    "transpose": lambda t, x, y: x.transpose(0, 1),
    "permute": lambda t, x, y: x.permute(1, 0),
    "select": lambda t, x, y: x.select(1, 0),
    "softmax": lambda t, x, y: t.softmax(x, 1),
    "amax": lambda t, x, y: x.amax(1),
    "index_select": lambda t, x, y: x.index_select(0, t.tensor([1, 1])),
    "gather": lambda t, x, y: x.gather(1, t.tensor([[0], [1]])),
    "leaky_relu": lambda t, x, y: t.nn.functional.leaky_relu(x, 0.3),
    "cat": lambda t, x, y: t.cat([x, y], 1),
}


def flat(value):
    """The numbers of a tensor, a list or a single value."""
    value = value.tolist() if hasattr(value, "tolist") else value
    return [number for one in value for number in flat(one)] if isinstance(value, (list, tuple)) else [value]


@pytest.mark.parametrize("name", sorted(OPERATORS))
def test_the_same_names_and_values_as_pytorch(name):
    torch = pytest.importorskip("torch")
    ours, theirs = node_of(OPERATORS[name]), node_of(OPERATORS[name], torch)
    assert ours.name() == theirs.name()
    common = saved_names(ours) & saved_names(theirs)
    assert common, (saved_names(ours), saved_names(theirs))
    for attribute in common:
        assert flat(getattr(ours, attribute)) == pytest.approx(flat(getattr(theirs, attribute)), rel=1e-5), attribute
