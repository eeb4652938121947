"""autograd.Function: changes in place, several places of one tensor, gradients that are missing, views; beside PyTorch where it is installed."""

import pytest
import tenon


def function(lib, forward, backward, name="Mine"):
    members = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    return type(name, (lib.autograd.Function,), members)


def leaf(lib, *values):
    return lib.tensor(list(values) or [1.0, 2.0], requires_grad=True)


def test_mark_dirty_counts_a_change(lib):
    def forward(ctx, x):
        ctx.mark_dirty(x)
        x.detach().numpy()[...] = 5
        return x

    cls = function(lib, forward, lambda ctx, g: g * 0)
    x = leaf(lib) * 1
    y = x * x
    cls.apply(x)
    assert x._version == 1 and x.tolist() == [5, 5]
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()
    plain = lib.ones(2)
    view = plain[:1]
    cls.apply(plain)
    assert plain._version == 1 and view._version == 1
    with lib.no_grad():
        x = leaf(lib)
        cls.apply(x)
        assert x._version == 1 and x.requires_grad


def test_mark_dirty_of_a_view_changes_its_base(lib):
    def forward(ctx, x):
        ctx.mark_dirty(x)
        x.detach().numpy()[...] *= 3
        return x

    x = leaf(lib)
    base = x * 1
    out = function(lib, forward, lambda ctx, g: g * 3).apply(base[:1])
    assert base._version == 1 and base.tolist() == [3, 2] and out.tolist() == [3]
    base.sum().backward()
    assert x.grad.tolist() == [3, 1]


def test_a_tensor_that_is_returned_twice(lib):
    seen = []

    def backward(ctx, g, h):
        seen.append((g.tolist(), h.tolist()))
        return g * 2 + h * 20

    def forward(ctx, x):
        y = x * 2
        return y, y

    x = leaf(lib)
    a, b = function(lib, forward, backward).apply(x)
    assert a is b
    (a + b * 5).sum().backward()
    assert seen == [([0, 0], [6, 6])] and x.grad.tolist() == [120, 120]


def test_gradients_of_outputs_that_have_none_are_zeros(lib):
    seen = []

    def forward(ctx, x):
        y, marked, index, mask = x * 2, x * 3, x.long(), x > 1
        ctx.mark_non_differentiable(marked)
        return y, marked, index, mask, None, "text"

    def backward(ctx, *grads):
        seen.append([g if g is None else (g.tolist(), str(g.dtype).split(".")[1]) for g in grads])
        return grads[0] * 2

    x = leaf(lib)
    y, marked, index, mask, nothing, text = function(lib, forward, backward).apply(x)
    assert not marked.requires_grad and nothing is None and text == "text"
    y.sum().backward()
    assert seen == [[([1, 1], "float32"), ([0, 0], "float32"), ([0, 0], "int64"), ([False, False], "bool"), None, None]]


def test_gradients_that_are_not_made_up(lib):
    seen = []

    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2, x * 3, x.long()

    def backward(ctx, *grads):
        seen.append([g is None for g in grads])
        return grads[0] * 2

    function(lib, forward, backward).apply(leaf(lib))[0].sum().backward()
    assert seen == [[False, True, True]]


def test_views_that_are_not_recorded_require_grad_as_their_base_does(lib):
    cls = function(lib, lambda ctx, x: x.view(-1), lambda ctx, g: g)
    marked = function(lib, lambda ctx, x: (v := x.view(-1), ctx.mark_non_differentiable(v))[0], lambda ctx, g: g)
    same = function(lib, lambda ctx, x: x, lambda ctx, g: g)
    x = leaf(lib)
    with lib.no_grad():
        views = [cls.apply(x), cls.apply(x * 1), x.view(-1)]
        assert not same.apply(x).requires_grad
        assert not cls.apply(lib.ones(2)).requires_grad
    assert [v.requires_grad for v in views] == [True, False, True]
    for view in (*views, marked.apply(x), marked.apply(x * 1)):
        assert view.grad_fn is None and view.is_leaf
    assert marked.apply(x).requires_grad


def test_once_differentiable_is_an_error_wherever_it_would_be_wrong():
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @tenon.autograd.once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x * g

    once, grad = function(tenon, forward, backward), tenon.autograd.grad
    x, w = leaf(tenon), leaf(tenon, 3.0, 4.0)
    (g,) = grad((once.apply(x) * x).sum(), x, create_graph=True)
    assert g.tolist() == [3, 12]
    refused = pytest.raises(
        RuntimeError, match="trying to differentiate twice a function that was marked with @once_differentiable"
    )
    with refused:
        grad(g.sum(), x, retain_graph=True)
    with refused:
        g.sum().backward()
    # The gradients of once depend on x, though those that it was given need none.
    (g,) = grad(once.apply(x).sum(), x, create_graph=True)
    with refused:
        grad((g * x).sum(), x)
    # What they do not depend on can be differentiated.
    (g,) = grad((once.apply(x) * 2).sum(), x, create_graph=True)
    assert grad((g * w).sum(), w)[0].tolist() == [4, 8]
    # Without create_graph nothing is marked.
    (g,) = grad(once.apply(x).sum(), x)
    assert not g.requires_grad


def test_a_backward_within_a_backward_may_be_deep(lib):
    class Deep(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x, depth):
            ctx.depth = depth
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            if ctx.depth == 0:
                return grad * 2, None
            with lib.enable_grad():
                x = lib.ones(1, requires_grad=True)
                Deep.apply(x, ctx.depth - 1).backward(grad)
            return x.grad, None

    x = lib.ones(1, requires_grad=True)
    Deep.apply(x, 2000).backward()
    assert x.grad == 2

    def recursive(n):
        return recursive(n + 1)

    with pytest.raises(RecursionError):  # as ever
        recursive(0)


def test_once_differentiable_takes_any_ctx(lib):
    from types import SimpleNamespace

    from_ctx = lib.autograd.function.once_differentiable(lambda ctx, g: (g * ctx.factor, None))
    assert from_ctx(SimpleNamespace(factor=2), lib.ones(1))[0] == 2
    result, nothing = from_ctx(SimpleNamespace(factor=2), lib.ones(1, requires_grad=True))
    assert nothing is None
    with pytest.raises(RuntimeError, match="once_differentiable"):
        result.sum().backward()


def test_keyword_arguments_of_apply(lib):
    class Scaled(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor, bias):
            ctx.factor = factor
            return x * factor + bias

        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.factor, None, grad

    x, b = lib.ones(2, requires_grad=True), lib.ones(2, requires_grad=True)
    y = Scaled.apply(x, factor=3, bias=b)
    assert y.tolist() == [4, 4]
    y.sum().backward()
    assert x.grad.tolist() == [3, 3] and b.grad.tolist() == [1, 1]
    with pytest.raises(TypeError):
        Scaled.apply(x, 3, b, other=1)


def test_defaults_of_a_forward_without_context(lib):
    class Scaled(lib.autograd.Function):
        @staticmethod
        def forward(x, factor=2, bias=None):
            return x * factor if bias is None else x * factor + bias

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.inputs = inputs

        @staticmethod
        def backward(ctx, grad):
            assert len(ctx.inputs) == len(ctx.needs_input_grad) == 3
            return grad * ctx.inputs[1], None, None if ctx.inputs[2] is None else grad

    x, b = lib.ones(2, requires_grad=True), lib.ones(2, requires_grad=True)
    Scaled.apply(x, bias=b).sum().backward()
    Scaled.apply(x).sum().backward()
    assert x.grad.tolist() == [4, 4] and b.grad.tolist() == [1, 1]
