"""What tests/autograd/README.md lists and no other test shows; beside PyTorch where it is installed."""

import gc
import threading
import warnings

import pytest


def leaf(lib, *values, **options):
    return lib.tensor(list(values) or [1.0, 2.0, 3.0], requires_grad=True, **options)


def error(run):
    with pytest.raises(RuntimeError) as raised:
        run()
    return str(raised.value)


# Graph


def test_what_requires_grad(lib):
    x = leaf(lib)
    assert (x * 2).requires_grad and not (x > 1).requires_grad and not x.argmax().requires_grad
    assert not (lib.ones(3) * 2).requires_grad
    values, indices = x.sort()
    assert values.requires_grad and not indices.requires_grad
    with pytest.raises(RuntimeError, match="nly Tensors of floating point"):
        lib.ones(2, dtype=lib.int64).requires_grad_()
    with pytest.raises(RuntimeError, match="can only change requires_grad flags of leaf"):
        (x * 2).requires_grad_(False)


def test_next_functions(lib):
    x = leaf(lib)
    (first, number), (second, _) = (x * lib.ones(3)).grad_fn.next_functions
    assert number == 0 and second is None and first.name().endswith("AccumulateGrad")
    assert (x + 1).grad_fn.next_functions[0][0] == first and first.variable is x


def test_only_what_is_needed_is_saved(lib):
    x = leaf(lib)
    assert (x * 2.0).grad_fn._saved_self is None
    assert (x * lib.ones(3)).grad_fn._saved_self is None
    assert (x * lib.ones(3)).grad_fn._saved_other.tolist() == [1, 1, 1]
    y = x.exp()
    assert y.grad_fn._saved_result.grad_fn is not None
    assert x.sin().grad_fn._saved_self is x


def test_a_gradient_edge_outlives_a_change_in_place(lib):
    x = leaf(lib)
    y = x * 3
    edge = lib.autograd.graph.get_gradient_edge(y)
    y.mul_(2)
    assert lib.autograd.grad(edge, x, lib.ones(3))[0].tolist() == [3, 3, 3]


# Accumulation


def test_accumulation(lib):
    x = leaf(lib)
    given = lib.ones(3)
    x.clone().backward(given)
    assert x.grad.tolist() == [1, 1, 1] and x.grad is not given
    before = x.grad
    (x * 2).sum().backward()
    assert x.grad is before and before.tolist() == [3, 3, 3] and given.tolist() == [1, 1, 1]
    x.grad = None
    (x[:, None] * lib.ones(3, 2)).sum().backward()
    assert x.grad.tolist() == [2, 2, 2]


def test_a_gradient_has_the_strides_of_its_leaf(lib):
    x = lib.ones(3, 2).t().requires_grad_()
    (x * 2).sum().backward()
    assert x.grad.stride() == x.stride() == (1, 2)
    x = lib.ones(1).expand(2, 2).requires_grad_()
    (x * 2).sum().backward()
    assert x.grad.stride() == (2, 1)


def test_backward_with_create_graph_warns(lib):
    x = leaf(lib)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        (x * x).sum().backward(create_graph=True)
        assert len(seen) == 1 and "create_graph=True will create a reference cycle" in str(seen[0].message)
        lib.autograd.grad((x * x).sum(), x, create_graph=True)
        assert len(seen) == 1
    first = x.grad
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (x * 1).sum().backward(create_graph=True)
    assert x.grad is not first and first.tolist() == [2, 4, 6]
    x.grad = None


# Hooks


def test_the_order_of_hooks(lib):
    seen = []
    x = leaf(lib)
    y = x * 2
    y.grad_fn.register_prehook(lambda g: seen.append("node pre"))
    y.grad_fn.register_hook(lambda *g: seen.append("node post"))
    y.retain_grad()
    y.register_hook(lambda g: seen.append("tensor") or g * 2)
    node = y.grad_fn.next_functions[0][0]
    node.register_hook(lambda *g: seen.append("leaf post"))
    node.register_prehook(lambda g: seen.append("leaf pre"))
    x.register_post_accumulate_grad_hook(lambda t: seen.append("accumulated"))
    x.register_hook(lambda g: seen.append("leaf tensor"))
    y.sum().backward()
    assert seen == ["tensor", "node pre", "node post", "leaf tensor", "leaf pre", "accumulated", "leaf post"]
    assert y.grad.tolist() == [2, 2, 2]


def test_old_hooks_see_the_old_gradient(lib):
    x = leaf(lib)
    y = x * 1
    seen = []
    y.register_hook(lambda g: seen.append(g.tolist()))
    y.retain_grad()
    y.mul_(5)
    y.register_hook(lambda g: seen.append(g.tolist()))
    y.sum().backward()
    assert seen == [[1, 1, 1], [5, 5, 5]] and y.grad.tolist() == [1, 1, 1]


def test_hooks_of_several_tensors(lib):
    register = lib.autograd.graph.register_multi_grad_hook
    x, y = leaf(lib), leaf(lib)
    seen = []
    hook = register((x, y), lambda grads: seen.append([None if g is None else g.tolist() for g in grads]))
    (x * 2).sum().backward()
    assert seen == [[[2, 2, 2], None]]
    (x * y).sum().backward()
    assert seen[1:] == [[[1, 2, 3], [1, 2, 3]]]
    hook.remove()
    hook = register((x, y), lambda grad: seen.append(grad.tolist()), mode="any")
    (x * y).sum().backward()
    assert seen[2:] == [[1, 2, 3]]
    hook.remove()
    (x * y).sum().backward()
    assert len(seen) == 3


# Versions


def test_versions(lib):
    x = lib.ones(4)
    view, detached = x.view(2, 2), x.detach()
    view.add_(1)
    detached.mul_(2)
    assert x._version == view._version == detached._version == 2 and x.data._version == 0
    x[0] = 3
    lib.add(x, 1, out=x)
    x.unsqueeze_(0)
    with lib.no_grad():
        x.zero_()
    assert x._version == 6
    x.requires_grad_().detach_()
    x.numpy()[0] = 7
    assert x._version == 6
    lib.autograd.graph.increment_version(x)
    assert x._version == view._version == 7
    y = lib.ones(4)
    y.add_(1)
    y.data = lib.ones(3)
    assert y._version == 1 and y.shape == (3,)


def test_increment_version_is_noticed(lib):
    x = leaf(lib)
    y = x.exp()
    lib.autograd.graph.increment_version(y)
    assert "modified by an inplace operation" in error(lambda: y.sum().backward())
    several = [lib.ones(1), lib.ones(1)]
    lib.autograd.graph.increment_version(several)
    assert [t._version for t in several] == [1, 1]


# Saved tensors


def test_detach_of_what_is_saved(lib):
    x = leaf(lib)
    y = x * 1
    z = y.sin()
    y.detach_()
    assert "detached in-place" in error(lambda: z.sum().backward())
    y = x.exp()
    z = y * 1
    y.detach_()
    z.sum().backward()
    assert x.grad.tolist() == y.tolist()


def test_saved_tensor_hooks(lib):
    x = leaf(lib)
    hooks = lib.autograd.graph.saved_tensors_hooks
    with hooks(lambda t: t * 2, lambda t: t):
        with hooks(lambda t: t, lambda t: t * 10):
            y = x * x
    y.sum().backward()
    assert x.grad.tolist() == [20, 40, 60]
    with hooks(lambda t: t, lambda t: "text"):
        z = x * x
    with pytest.raises((TypeError, RuntimeError)):
        z.sum().backward()
    packed = []
    with hooks(lambda t: packed.append(1) or t, lambda t: t):
        x * 3.0
        x * lib.ones(3)
    assert len(packed) == 1


# In place and views


def test_setitem(lib):
    x, v = leaf(lib), leaf(lib, 5.0)
    y = x * 1
    y[1:] = v
    (y * y).sum().backward()
    assert x.grad.tolist() == [2, 0, 0] and v.grad.tolist() == [20]
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        x.fill_(0)


def test_views_follow_their_base(lib):
    x = leaf(lib)
    y = x * 1
    early = y.view(3, 1)
    assert early.view(3)._base is y
    y.mul_(2)
    with lib.no_grad():
        assert early.grad_fn.name() == "AsStridedBackward0"
    early.sum().backward()
    assert x.grad.tolist() == [2, 2, 2]
    base, w = lib.zeros(3), leaf(lib, 1.0)
    seen = base[0]
    base[0:1] = w
    assert base.requires_grad and seen.requires_grad


def test_what_a_view_shows_changes_in_place(lib):
    changes = {
        "t_": lambda v: v.t_(),
        "transpose_": lambda v: v.transpose_(0, 1),
        "squeeze_": lambda v: v.squeeze_(),
        "unsqueeze_": lambda v: v.unsqueeze_(0),
        "as_strided_": lambda v: v.as_strided_((2,), (1,), 1),
    }
    for name, change in changes.items():
        x = leaf(lib)
        y = x * 2
        view, other = y.view(1, 3), y.view(3)
        change(view)
        assert view._base is y and view.grad_fn.name().lower().startswith(name[:-1].replace("_", "")), name
        weights = lib.arange(1.0, view.numel() + 1)
        (first,) = lib.autograd.grad((view.reshape(-1) * weights).sum(), x, retain_graph=True)
        expected = [2, 4, 6] if view.numel() == 3 else [0, 2, 4]
        assert first.tolist() == expected, name
        assert lib.autograd.grad(other.sum(), x, retain_graph=True)[0].tolist() == [2, 2, 2]
        view.mul_(3)
        expected = [6, 6, 6] if view.numel() == 3 else [2, 6, 6]
        assert lib.autograd.grad(y.sum(), x, retain_graph=True)[0].tolist() == expected, name
        assert lib.autograd.grad(other.sum(), x)[0].tolist() == expected, name
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
        leaf(lib).view(1, 3).t_()


def test_a_view_of_another_dtype_is_apart(lib):
    w = lib.tensor([2.0, 3.0], requires_grad=True)
    y = w * 1
    view = y.view(lib.float64)
    assert not view.requires_grad and view._base is None and view.data_ptr() == y.data_ptr()
    view.copy_(lib.ones(2).view(lib.float64))
    assert y.tolist() == [1, 1] and y._version == 1
    base = lib.ones(2)
    view = base.view(lib.float64)
    base.mul_(w)
    assert base.requires_grad and not view.requires_grad
    assert lib.autograd.grad(base.sum(), w)[0].tolist() == [1, 1]


# The engine


def test_inputs_of_backward(lib):
    x, w = leaf(lib), leaf(lib)
    y = x * w
    z = y * 2
    z.sum().backward(inputs=[y], retain_graph=True)
    assert y.grad.tolist() == [2, 2, 2] and x.grad is None and w.grad is None
    z.sum().backward(inputs=x)
    assert x.grad.tolist() == [2, 4, 6] and w.grad is None
    assert "cannot be empty" in error(lambda: (x * 1).sum().backward(inputs=[]))


def test_roots_add_up(lib):
    x = leaf(lib)
    y = x * 2
    lib.autograd.backward([y.sum(), y.sum(), (y * y).sum()])
    assert x.grad.tolist() == [12, 20, 28]


def test_reentrance_and_errors(lib):
    x = leaf(lib)

    def inner(g):
        with lib.enable_grad():
            t = leaf(lib)
            (t * 2).sum().backward()
        assert not lib.is_grad_enabled()
        return g * t.grad

    y = x * 1
    y.register_hook(inner)
    y.sum().backward()
    assert x.grad.tolist() == [2, 2, 2]

    def fails(g):
        raise KeyError("child")

    x.grad = None
    z = x * 1
    z.register_hook(fails)
    with pytest.raises(KeyError, match="child"):
        (z * x).sum().backward()
    assert lib.is_grad_enabled()


def test_deep_graphs_are_freed(lib):
    y = leaf(lib)
    for _ in range(20000):
        y = y + 1
    del y
    gc.collect()


def test_threads(lib):
    x = leaf(lib)
    threads = [threading.Thread(target=lambda: (x * 1).sum().backward()) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert x.grad.tolist() == [4, 4, 4]


# Modes


def test_modes_decorate_generators_and_classes_of_calls(lib):
    @lib.no_grad()
    def rows():
        for _ in range(2):
            got = yield lib.is_grad_enabled()
            assert got is None or got == "sent"

    g = rows()
    assert next(g) is False and lib.is_grad_enabled()
    assert g.send("sent") is False
    with pytest.raises(StopIteration):
        next(g)

    @lib.enable_grad()
    def on():
        return lib.is_grad_enabled()

    with lib.no_grad():
        assert on()
    with lib.set_grad_enabled(False):
        assert not lib.is_grad_enabled()


# Custom functions


def test_a_function_that_skips_and_marks(lib):
    class Split(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x, scale, nothing):
            ctx.set_materialize_grads(False)
            ctx.save_for_backward(None, x)
            whole = x.long()
            ctx.mark_non_differentiable(whole)
            return x * scale, whole, x + 1

        @staticmethod
        def backward(ctx, g, unused, h):
            none, x = ctx.saved_tensors
            assert none is None and unused is None and h is None
            assert ctx.needs_input_grad == (True, False, False)
            return g * 2, None, None, None  # trailing None is allowed

    x = leaf(lib)
    y, whole, z = Split.apply(x, 2, None)
    assert not whole.requires_grad and z.requires_grad
    y.sum().backward()
    assert x.grad.tolist() == [2, 2, 2]


def test_a_function_that_returns_its_input(lib):
    class Same(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x, x

        @staticmethod
        def backward(ctx, g, h):
            return g + h

    a, b = Same.apply(leaf(lib) * 1)
    assert a is b or a._base is b._base


# Values where derivatives are a choice


def test_conventions_at_ties_and_corners(lib):
    def gradient(f, *values):
        x = leaf(lib, *values)
        f(x).sum().backward()
        return x.grad.tolist()

    assert gradient(lambda x: x.max(), 2.0, 2.0, 1.0) == [0.5, 0.5, 0]
    assert gradient(lambda x: x.amax(), 2.0, 2.0, 1.0) == [0.5, 0.5, 0]
    assert sorted(gradient(lambda x: x.max(0).values, 2.0, 2.0, 1.0)) == [0, 0, 1]
    assert gradient(lambda x: lib.maximum(x, lib.zeros(1)), 0.0) == [0.5]
    assert (
        gradient(lambda x: x.abs(), 0.0)
        == gradient(lambda x: x.relu(), 0.0)
        == gradient(lambda x: x.norm(), 0.0)
        == [0]
    )
    assert gradient(lambda x: x.sqrt(), 0.0) == [float("inf")]
    assert gradient(lambda x: x.clamp(0, 1), 0.5, 2.0) == [1, 0]


def test_complex_gradients(lib):
    z = lib.tensor([1 + 2j], requires_grad=True)
    (z.abs() ** 2).sum().backward()
    assert z.grad.tolist() == pytest.approx([2 + 4j])
    z.grad = None
    (z * z).backward(lib.tensor([1 + 0j]))
    assert z.grad.tolist() == [2 - 4j]


def test_forward_mode_in_place(lib):
    fwd = lib.autograd.forward_ad
    x, v = lib.tensor([1.0, 2.0]), lib.tensor([3.0, 5.0])
    with fwd.dual_level():
        base = lib.zeros(2, 2)
        view = base[0]
        view.copy_(fwd.make_dual(x, v))
        assert fwd.unpack_dual(base).tangent.tolist() == [[3, 5], [0, 0]]
        base.mul_(2)
        assert fwd.unpack_dual(view).tangent.tolist() == [6, 10]
        assert fwd.unpack_dual(view.detach()).tangent is None
        with pytest.raises(RuntimeError, match="out="):
            lib.mul(fwd.make_dual(x, v), 2, out=lib.zeros(2))


# Dtypes of gradients


def test_gradients_of_another_dtype(lib):
    x = leaf(lib)
    assert x.grad_dtype == lib.float32 and (x * 2).grad_dtype == lib.float32
    y = x * 2
    x.grad_dtype = lib.float64
    seen = []
    x.register_hook(lambda grad: seen.append(grad.dtype))
    y.sum().backward()
    (x * 2).sum().backward()
    assert x.grad.dtype == lib.float64 and x.grad.tolist() == [4, 4, 4] and seen == [lib.float64] * 2
    assert lib.autograd.grad((x * 2).sum(), x)[0].dtype == lib.float64
    with pytest.raises(
        RuntimeError, match="Cannot set grad_dtype to 'Half' because there is already a gradient with dtype"
    ):
        x.grad_dtype = lib.float16
    with pytest.raises(RuntimeError, match="attempting to assign a gradient with dtype .* to a tensor with grad_dtype"):
        x.grad = lib.ones(3)
    x.grad_dtype = None
    assert x.grad_dtype is None
    (x * 2).sum().backward()
    assert x.grad.dtype == lib.float64 and x.grad.tolist() == [6, 6, 6]
    x.grad = None
    (x * 2).sum().backward()
    assert x.grad.dtype == lib.float32
    x.grad = lib.ones(3, dtype=lib.float64)
    x.grad = None
    x.grad_dtype = lib.float32
    (x * 2).sum().backward()
    assert x.grad.dtype == lib.float32
    with pytest.raises(RuntimeError, match="grad_dtype can only be set on leaf tensors"):
        y.grad_dtype = lib.float64
    with pytest.raises(RuntimeError, match="grad_dtype must be a .*dtype or None, but got str"):
        x.grad_dtype = "a"


def test_gradients_of_any_dtype_stay_as_they_are(lib):
    class Doubling(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            return grad.double()

    x = leaf(lib)
    Doubling.apply(x).sum().backward()
    assert x.grad.dtype == lib.float32
    x.grad, x.grad_dtype = None, None
    Doubling.apply(x).sum().backward()
    assert x.grad.dtype == lib.float64


def test_saved_tensors_may_be_changed_in_place(lib):
    allow = lib.autograd.graph.allow_mutation_on_saved_tensors
    x = leaf(lib)
    with allow():
        y = x.clone()
        square, exp = (y * y).sum(), y.exp()
        part = y[:2]
        product = (part * part).sum()
        y.sin_()
        part.zero_()
        exp.zero_()
        y.mul_(y)
        assert y.tolist() != [0, 0, 0]
        assert lib.autograd.grad(square, x, retain_graph=True)[0].tolist() == [2, 4, 6]
        assert lib.autograd.grad(product, x)[0].tolist() == [2, 4, 0]
        (result,) = lib.autograd.grad(y.sum(), x)
        assert result[:2].tolist() == [0, 0] and abs(result[2].item() - (lib.tensor(6.0).sin()).item()) < 1e-6
        with lib.no_grad():
            x.mul_(2)
        assert x.tolist() == [2, 4, 6]
        z = (x * 1).exp()
        total = z.sum()
        z.add_(1)
        assert lib.autograd.grad(total, x)[0].allclose(x.exp())
        kept = (x * x).sum()
    with pytest.raises(
        (AssertionError, RuntimeError),
        match="Trying to backward outside of the 'allow_mutation_on_saved_tensors' context",
    ):
        kept.backward()
    with allow(), pytest.raises(RuntimeError, match="allow_mutation_on_saved_tensors contexts cannot be nested"):
        with allow():
            pass
    with allow() as scope:
        kept = (x * x).sum()
        scope.clear()
        with pytest.raises((AssertionError, RuntimeError), match="Trying to backward outside of"):
            kept.backward()
