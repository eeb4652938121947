"""The nodes of the graph as objects, and places in it; beside PyTorch where it is installed."""

import gc
import warnings

import pytest
import tenon


def leaf(lib, *values):
    return lib.tensor(list(values) or [1.0, 2.0], requires_grad=True)


def mine(lib):
    class MyFn(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            ctx.factor = 3
            return x * 3

        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.factor

    return MyFn


def test_the_class_of_a_node_has_its_name(lib):
    x = leaf(lib)
    for y, name in [
        (x.sum(), "SumBackward0"),
        (x * x, "MulBackward0"),
        (x.view(-1), "ViewBackward0"),
        (mine(lib).apply(x), "MyFnBackward"),
    ]:
        node = y.grad_fn
        assert type(node).__name__ == node.name() == name and name in repr(node)
        assert isinstance(node, lib.autograd.graph.Node)
    accumulator = x.sum().grad_fn.next_functions[0][0]
    assert type(accumulator).__name__ == "AccumulateGrad" and accumulator.variable is x
    assert type((x * 2).grad_fn) is type((x * 3).grad_fn) is not type((x + 2).grad_fn)


def test_a_node_is_one_object(lib):
    x = leaf(lib)
    y = x * 2
    node = y.grad_fn
    assert y.grad_fn is node and (y + 1).grad_fn.next_functions[0][0] is node
    assert x.sum().grad_fn.next_functions[0][0] is node.next_functions[0][0]
    assert {node: 1}[y.grad_fn] == 1 and node != (x * 2).grad_fn and node != 3
    names = []
    for _ in range(100):  # memory of nodes that have gone is used again
        names.append(type((x * 2).grad_fn).__name__)
        names.append(type((x + 2).grad_fn).__name__)
    assert names == ["MulBackward0", "AddBackward0"] * 100


def test_a_node_keeps_the_graph(lib):
    x = leaf(lib)
    node = (x * 2 * x).grad_fn
    gc.collect()
    assert node(lib.ones(2))[1].tolist() == [2, 4]
    with pytest.raises(AttributeError):
        node.anything = 1


def test_nodes_are_called(lib):
    x, y = leaf(lib), leaf(lib, 3.0, 5.0)
    assert x.sum().grad_fn(lib.tensor(2.0)).tolist() == [2, 2]
    node = (x * y).grad_fn
    a, b = node(lib.tensor([1.0, 10.0]))
    assert a.tolist() == [3, 50] and b.tolist() == [1, 20] and a.requires_grad
    with lib.no_grad():
        assert not node(lib.ones(2))[0].requires_grad
    assert node(None) == (None, None)
    assert x.grad is None
    accumulator = x.sum().grad_fn.next_functions[0][0]
    with lib.no_grad():
        assert accumulator(lib.ones(2)) == () and x.grad.tolist() == [1, 1]
    for wrong, message in [
        (lambda: node(), "expected 1 arguments, got 0 instead"),
        (lambda: node(lib.ones(2), lib.ones(2)), "expected 1 arguments, got 2 instead"),
        (lambda: node(g=lib.ones(2)), "keyword arguments are not supported"),
        (lambda: node(3), "argument 0 is not a"),
    ]:
        with pytest.raises(TypeError, match=message):
            wrong()
    z = (x * y).sum()
    node = z.grad_fn.next_functions[0][0]
    z.backward()
    with pytest.raises(RuntimeError, match="second time"):
        node(lib.ones(2))


def test_nodes_have_metadata(lib):
    y = leaf(lib) * 2
    assert y.grad_fn.metadata == {}
    y.grad_fn.metadata["where"] = "here"
    gc.collect()
    assert y.grad_fn.metadata == {"where": "here"} and (leaf(lib) * 2).grad_fn.metadata == {}
    assert mine(lib).apply(leaf(lib)).grad_fn.metadata == {}


def test_the_node_of_a_function_shows_its_ctx(lib):
    x = leaf(lib)
    node = mine(lib).apply(x).grad_fn
    assert node.factor == 3 and node.saved_tensors[0] is x and node.needs_input_grad == (True,)
    with pytest.raises(AttributeError):
        node.nothing  # noqa: B018
    y = mine(lib).apply(x)
    node = y.grad_fn
    y.sum().backward()
    with pytest.raises(RuntimeError, match="second time"):
        node.saved_tensors  # noqa: B018


def test_places_as_inputs(lib):
    autograd, edge_of = lib.autograd, lib.autograd.graph.get_gradient_edge
    x = leaf(lib)
    y = x * 3
    z = (y * y).sum()
    place, of_x, of_z = edge_of(y), edge_of(x), edge_of(z)
    assert autograd.grad(z, place, retain_graph=True)[0].tolist() == [6, 12]
    assert autograd.grad(z, {"a": place}, retain_graph=True)["a"].tolist() == [6, 12]
    assert autograd.grad(of_z, x, retain_graph=True)[0].tolist() == [18, 36]
    assert autograd.grad([place, z], x, [lib.ones(2), None], retain_graph=True)[0].tolist() == [21, 39]
    assert autograd.grad(z, [place, of_x, x], retain_graph=True)[1].tolist() == [18, 36]
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for scalar outputs"):
        autograd.grad(place, x)
    with pytest.raises(RuntimeError, match="Mismatch in shape"):
        autograd.grad(place, x, lib.ones(3), retain_graph=True)


def test_backward_between_places(lib):
    autograd, edge_of = lib.autograd, lib.autograd.graph.get_gradient_edge
    x, w = leaf(lib), leaf(lib)
    y = x * w * 3
    z = (y * y).sum()
    autograd.backward(z, inputs=edge_of(y), retain_graph=True)
    assert x.grad is None and w.grad is None
    autograd.backward(z, inputs=edge_of(x), retain_graph=True)
    assert x.grad.tolist() == [18, 144] and w.grad is None
    z.backward(inputs=[edge_of(x)], retain_graph=True)
    z.backward(inputs=edge_of(x), retain_graph=True)
    assert x.grad.tolist() == [54, 432]
    y.retain_grad()
    z.backward(inputs=[y, edge_of(x)], retain_graph=True)
    assert y.grad.tolist() == [6, 24] and x.grad.tolist() == [72, 576] and w.grad is None
    autograd.backward(edge_of(z), retain_graph=True)
    autograd.backward([edge_of(y)], [lib.ones(2)], retain_graph=True)
    assert x.grad.tolist() == [93, 726] and w.grad.tolist() == [21, 150]
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for scalar outputs"):
        autograd.backward(edge_of(y))
    with pytest.raises(RuntimeError, match="cannot be empty"):
        z.backward(inputs=[])


def test_asking_for_a_gradient_that_never_comes_warns(lib):
    x = leaf(lib)
    y = x * 2
    with pytest.warns(UserWarning, match="The .grad attribute of a Tensor that is not a leaf Tensor is being accessed"):
        assert y.grad is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert x.grad is None and y.detach().grad is None and lib.ones(2).grad is None
        with lib.no_grad():
            assert x.view(-1).grad is None
        y.retain_grad()
        assert y.grad is None
        y.sum().backward()
        assert y.grad.tolist() == [1, 1]
        with pytest.raises(UserWarning):
            (x * 2).grad  # noqa: B018


def test_graphs_can_be_walked_as_tools_do():
    """torchviz and its like: by class name and next_functions, each node once."""
    x = leaf(tenon)
    seen = set()

    def walk(node):
        if node in seen:
            return
        seen.add(node)
        for following, _ in node.next_functions:
            if following is not None:
                walk(following)

    y = x.sin()
    walk((y * y + y).sum().grad_fn)
    assert sorted(type(n).__name__ for n in seen) == [
        "AccumulateGrad",
        "AddBackward0",
        "MulBackward0",
        "SinBackward0",
        "SumBackward0",
    ]
