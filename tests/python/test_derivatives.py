"""jvp of Functions, gradcheck's modes, functional's strategies, gradients in batches; beside PyTorch where it is installed."""

import pytest
import tenon


def forward_ad(lib):
    return lib.autograd.forward_ad


def function(lib, forward, jvp, backward=None):
    members = {"forward": staticmethod(forward), "backward": staticmethod(backward or (lambda ctx, g: g * 2))}
    if jvp is not None:
        members["jvp"] = staticmethod(jvp)
    return type("Mine", (lib.autograd.Function,), members)


def tangent(lib, cls, *more):
    x = lib.tensor([1.0, 2.0], dtype=lib.float64)
    with forward_ad(lib).dual_level():
        dual = forward_ad(lib).make_dual(x, lib.tensor([3.0, 5.0], dtype=lib.float64))
        out = cls.apply(dual, *more)
        out = out if isinstance(out, tuple) else (out,)
        found = [forward_ad(lib).unpack_dual(o).tangent if isinstance(o, lib.Tensor) else None for o in out]
    return [None if t is None else t.tolist() for t in found]


def twice(ctx, x, *more):
    return x * 2


def test_jvp_of_a_function(lib):
    seen = []

    def forward(ctx, x, factor, y):
        seen.append(forward_ad(lib).unpack_dual(x).tangent)
        ctx.save_for_forward(x, y)
        ctx.factor = factor
        return x * y * factor, x.sum(), "text"

    def jvp(ctx, dx, dfactor, dy):
        x, y = ctx.saved_tensors
        seen.append((dfactor, dy.tolist(), lib.is_grad_enabled()))
        return (dx * y + x * dy) * ctx.factor, dx.sum(), None

    cls = function(lib, forward, jvp, lambda ctx, g, h, text: (g, None, None))
    y = lib.tensor([7.0, 9.0], dtype=lib.float64)
    assert tangent(lib, cls, 2, y) == [[42, 90], 8, None]
    assert seen == [None, (None, [0, 0], True)]


def test_jvp_of_views_and_in_place(lib):
    def view(ctx, x):
        return x.view_as(x)

    def in_place(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    assert tangent(lib, function(lib, view, lambda ctx, g: g.view_as(g))) == [[3, 5]]
    assert tangent(lib, function(lib, in_place, lambda ctx, g: g.mul_(2))) == [[6, 10]]
    for forward, jvp, message in [
        (view, lambda ctx, g: g * 1, "returning a view .* but the jvp is not returning a view"),
        (in_place, lambda ctx, g: g * 2, "not modifying the forward mode gradients inplace"),
        (in_place, lambda ctx, g: g.mul_(2).clone().mul_(1), "not returning the forward mode gradients as-is"),
    ]:
        with pytest.raises(RuntimeError, match=message):
            tangent(lib, function(lib, forward, jvp))


def test_wrong_jvps(lib):
    with pytest.raises(NotImplementedError, match="You must implement the jvp function for custom autograd.Function"):
        tangent(lib, function(lib, twice, None))
    with pytest.raises(RuntimeError, match=r"invalid number of forward gradients \(expected 1 but got 2\)"):
        tangent(lib, function(lib, twice, lambda ctx, g: (g, g)))
    with pytest.raises(RuntimeError, match="forward gradient that has a different size than that of the original"):
        tangent(lib, function(lib, twice, lambda ctx, g: lib.ones(3, dtype=lib.float64)))
    with pytest.raises(RuntimeError, match="returned a gradient at position 0"):
        tangent(lib, function(lib, lambda ctx, x: x > 1, lambda ctx, g: g))
    with pytest.raises(KeyError, match="mine"):
        tangent(lib, function(lib, twice, lambda ctx, g: {}["mine"]))


def test_vjp_is_another_name_of_backward(lib):
    class Twice(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def vjp(ctx, g):
            return g * 2

    x = lib.ones(2, requires_grad=True)
    Twice.apply(x).sum().backward()
    assert x.grad.tolist() == [2, 2]
    Twice.backward = staticmethod(lambda ctx, g: g)
    with pytest.raises(RuntimeError, match="Implementing both 'backward' and 'vjp'"):
        Twice.apply(x).sum().backward()


def test_gradcheck_in_forward_and_fast_mode(lib):
    autograd = lib.autograd
    x = lib.tensor([0.5, -1.5], dtype=lib.float64, requires_grad=True)
    right = function(lib, twice, lambda ctx, g: g * 2)
    wrong = function(lib, twice, lambda ctx, g: g * 2.5)
    for fast in (False, True):
        options = {"check_forward_ad": True, "fast_mode": fast}
        assert autograd.gradcheck(right.apply, (x,), **options)
        assert autograd.gradcheck(lambda t: (t.exp(), t * t), (x,), check_batched_grad=True, **options)
        assert autograd.gradcheck(wrong.apply, (x,), fast_mode=fast)
        with pytest.raises(RuntimeError, match="forward mode"):
            autograd.gradcheck(wrong.apply, (x,), **options)
        assert not autograd.gradcheck(wrong.apply, (x,), raise_exception=False, **options)
        with pytest.raises(NotImplementedError):
            autograd.gradcheck(function(lib, twice, None).apply, (x,), **options)
        assert autograd.gradgradcheck(lambda t: t.sin() * t, (x,), check_fwd_over_rev=True, fast_mode=fast)
    with pytest.raises(AssertionError, match="at least one of check_forward_ad or check_backward_ad"):
        autograd.gradcheck(right.apply, (x,), check_backward_ad=False)


def test_functional_by_forward_mode(lib):
    functional = lib.autograd.functional
    x = lib.tensor([[1.0, 2.0]], dtype=lib.float64)
    y = lib.tensor([3.0, 4.0], dtype=lib.float64)

    def two(a, b):
        return a * b.exp(), (a * b).sum()

    def scalar(a, b):
        return (a**3 * b).sum()

    def lists(value):
        return [lists(v) for v in value] if isinstance(value, (tuple, list)) else value.tolist()

    forward = functional.jacobian(two, (x, y), strategy="forward-mode", vectorize=True)
    assert lists(forward) == lists(functional.jacobian(two, (x, y)))
    single = functional.jacobian(lambda a: a * a, x, strategy="forward-mode", vectorize=True)
    assert tuple(single.shape) == (1, 2, 1, 2)
    h = functional.hessian(scalar, (x, y), outer_jacobian_strategy="forward-mode", vectorize=True)
    assert lists(h) == lists(functional.hessian(scalar, (x, y)))
    assert lists(functional.jacobian(two, (x, y), vectorize=True)) == lists(forward)
    for vectorize in (False, True):
        rows = functional.jacobian(two, (x, y), vectorize=vectorize)
        assert [type(row) for row in (rows, *rows)] == [tuple] * 3
        assert [type(row) for row in functional.hessian(scalar, (x, y), vectorize=vectorize)] == [tuple] * 2
    with pytest.raises(RuntimeError, match="`strict=True` and `vectorized=True` are not supported together"):
        functional.jacobian(two, (x, y), strict=True, vectorize=True)
    with pytest.raises(NotImplementedError, match="create_graph"):
        functional.jacobian(two, (x, y), strategy="forward-mode", create_graph=True, vectorize=True)
    with pytest.raises(AssertionError, match='"forward-mode" or "reverse-mode"'):
        functional.jacobian(two, (x, y), strategy="sideways")


def test_products_by_forward_mode():
    functional = tenon.autograd.functional
    x, v = tenon.tensor([1.0, 2.0]), tenon.tensor([3.0, 5.0])
    for strategy in ("reverse-mode", "forward-mode"):
        assert functional.jvp(lambda a: a**3, x, v, strategy=strategy)[1].tolist() == [9, 60]
        assert functional.hvp(lambda a: (a**3).sum(), x, v, strategy=strategy)[1].tolist() == [18, 60]


def test_gradients_in_batches_and_materialized(lib):
    grad = lib.autograd.grad
    x = lib.tensor([1.0, 2.0], requires_grad=True)
    unused = lib.ones(1, requires_grad=True)
    y, total = x * x, x.sum()
    rows = lib.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    (g,) = grad(y, x, rows, is_grads_batched=True, retain_graph=True)
    assert g.tolist() == [[2, 0], [0, 4], [2, 4]]
    g, none = grad(
        (y, total), (x, unused), (rows, lib.ones(3)), is_grads_batched=True, retain_graph=True, allow_unused=True
    )
    assert g.tolist() == [[3, 1], [1, 5], [3, 5]] and none is None
    g, zero = grad(y, (x, unused), rows, is_grads_batched=True, retain_graph=True, materialize_grads=True)
    assert zero.tolist() == [0]
    with pytest.raises(RuntimeError, match=r"output\[0\] has a shape of torch.Size\(\[2\]\)"):
        grad(y, x, lib.ones(2), is_grads_batched=True, retain_graph=True)
    with pytest.raises(ValueError):
        grad((y, total), x, (rows, lib.ones(2)), is_grads_batched=True, retain_graph=True)
    with pytest.raises(ValueError, match="allow_unused=False"):
        grad(total, x, materialize_grads=True, allow_unused=False)
    by_name = grad(total, {"x": x, "unused": unused}, materialize_grads=True, create_graph=True)
    assert by_name["x"].tolist() == [1, 1] and by_name["unused"].requires_grad


def test_gradients_between_places_in_the_graph(lib):
    edge = lib.autograd.graph.get_gradient_edge
    x = lib.tensor([1.0, 2.0], requires_grad=True)
    y = x * 3
    before, ones = edge(y), lib.ones(2)
    z = y.mul_(2) * 1
    assert lib.autograd.grad(before, x, ones, retain_graph=True)[0].tolist() == [3, 3]
    assert lib.autograd.grad((edge(z),), (x, before), (ones,), retain_graph=True)[0].tolist() == [6, 6]
    batch = lib.autograd.grad(before, x, lib.ones(3, 2), is_grads_batched=True, retain_graph=True)
    assert batch[0].tolist() == [[3, 3]] * 3
    with pytest.raises(RuntimeError, match="materialize_grads cannot be used when the given input is a GradientEdge"):
        unused = edge(lib.ones(1, requires_grad=True))
        lib.autograd.grad(edge(z), (x, unused), (ones,), materialize_grads=True)


def test_comparisons_in_place_have_gradients_of_zeros(lib):
    for name, args in (("gt_", (0,)), ("eq_", (lib.ones(2),))):
        x = lib.tensor([1.0, -2.0], requires_grad=True)
        y = x * 3
        getattr(y, name)(*args)
        assert y.requires_grad and y.grad_fn.name().startswith(name[:-1].title() + "Backward")
        y.sum().backward()
        assert x.grad.tolist() == [0, 0]


def checkpoint_of(lib):
    import importlib

    return importlib.import_module(f"{lib.__name__}.utils.checkpoint")


def test_selective_checkpoint():
    from functools import partial

    cp = checkpoint_of(tenon)
    contexts = cp.create_selective_checkpoint_contexts
    w = tenon.randn(3, 3)

    def f(x):
        return tenon.nn.functional.linear(x.exp(), w).sin()

    def gradient(context_fn):
        x = tenon.ones(2, 3, requires_grad=True)
        y = cp.checkpoint(f, x, use_reentrant=False, context_fn=context_fn)
        with tenon.profiler.profile() as prof:
            y.sum().backward()
        names = [e.name for e in prof.events() if e.kind == "operator"]
        return x.grad.tolist(), names

    x = tenon.ones(2, 3, requires_grad=True)
    f(x).sum().backward()
    seen = []

    def policy(ctx, op, *args):
        seen.append((op, len(args), tuple(ctx.op_output.shape), ctx.is_recompute))
        return cp.CheckpointPolicy.MUST_SAVE if op == "aten::linear" else cp.CheckpointPolicy.PREFER_RECOMPUTE

    for fn in (
        partial(contexts, policy),
        partial(contexts, ["aten::linear"]),
        partial(contexts, [tenon.ops.aten.linear]),
    ):
        assert gradient(fn)[0] == x.grad.tolist()
    assert seen[:3] == [
        ("aten::exp", 1, (2, 3), False),
        ("aten::linear", 3, (2, 3), False),
        ("aten::sin", 1, (2, 3), False),
    ]
    assert gradient(partial(contexts, lambda ctx, op, *args: True))[0] == x.grad.tolist()
    with pytest.raises(ValueError, match="no operator 'aten::linar'"):
        contexts(["aten::linar"])
    with pytest.raises(ValueError, match="Expected op in `op_list`"):
        contexts([3])
    with pytest.raises(TypeError, match="policy_fn_or_list must be either a function or a list of ops."):
        contexts(3)

    def fails(ctx, op, *args):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        gradient(partial(contexts, fails))


def test_checkpoint_debug_names_the_operator_that_differs():
    cp = checkpoint_of(tenon)
    calls = []

    def f(x):
        calls.append(1)
        return x.exp().sin() if len(calls) % 2 else x.exp().sum().sin()

    def message(**options):
        x = tenon.ones(2, requires_grad=True)
        y = cp.checkpoint(f, x, use_reentrant=False, **options).sum()
        with pytest.raises(cp.CheckpointError) as error:
            y.backward()
        return str(error.value)

    expected = "The first operator that differs is number 2:\noriginal forward: aten::sin(Float[2]) -> Float[2]"
    assert expected in message(debug=True)
    assert expected not in message()
    with cp.set_checkpoint_debug_enabled(True):
        assert expected in message()


def test_debug_goes_with_neither_contexts_nor_reentrance(lib):
    cp = checkpoint_of(lib)
    x = lib.ones(2, requires_grad=True)
    with pytest.raises(ValueError, match="debug=True is incompatible with non-default context_fn"):
        cp.checkpoint(lambda t: t, x, use_reentrant=False, debug=True, context_fn=lambda: (None, None))
    with pytest.raises(ValueError, match="`debug`.* is only supported when use_reentrant=False"):
        cp.checkpoint(lambda t: t, x, use_reentrant=True, debug=True)


def test_keyword_arguments_of_checkpointed_calls(lib):
    cp = checkpoint_of(lib)
    x = lib.ones(2, requires_grad=True)

    def scaled(t, by=1):
        return (t * by).exp()

    for call in (
        lambda: cp.checkpoint(scaled, x, by=2, use_reentrant=True),
        lambda: cp.checkpoint(use_reentrant=True)(scaled)(x, by=2),
        lambda: cp.checkpoint(by=2, use_reentrant=False),
        lambda: cp.checkpoint_sequential([scaled], 1, x, by=2, use_reentrant=False),
    ):
        with pytest.raises(ValueError, match="Unexpected keyword arguments: by"):
            call()
    plain = lib.autograd.grad(scaled(x, by=2).sum(), x)[0]
    for y in (cp.checkpoint(scaled, x, by=2, use_reentrant=False), cp.checkpoint(use_reentrant=False)(scaled)(x, by=2)):
        assert lib.autograd.grad(y.sum(), x)[0].tolist() == plain.tolist()


def test_a_decorator_makes_checkpointed_calls(lib):
    calls = []

    class Block:
        @checkpoint_of(lib).checkpoint(use_reentrant=False, preserve_rng_state=False)
        def run(self, t):
            """Doc."""
            calls.append(self)
            return t.sin().exp()

    block, x = Block(), lib.ones(2, requires_grad=True)
    assert Block.run.__doc__ == "Doc."
    block.run(x).sum().backward()
    assert calls == [block, block]


@pytest.mark.parametrize("reentrant", [False, True])
def test_a_checkpointed_function_may_give_anything(lib, reentrant):
    x = lib.ones(2, requires_grad=True)
    calls = []

    def f(t):
        calls.append(t)
        return t.exp(), 3, None

    y, three, none = checkpoint_of(lib).checkpoint(f, x, use_reentrant=reentrant)
    assert three == 3 and none is None
    y.sum().backward()
    assert len(calls) == 2 and x.grad.allclose(x.exp())
    if not reentrant:
        result = checkpoint_of(lib).checkpoint(lambda t: {"y": t.exp(), "n": [1]}, x, use_reentrant=False)
        result["y"].sum().backward()
        assert result["n"] == [1] and x.grad.allclose(2 * x.exp())


def test_a_callback_runs_when_the_pass_has_ended(lib):
    x, seen = lib.ones(2, requires_grad=True), []
    y = x * 2

    def hook(grad):
        lib.autograd.graph.queue_callback(lambda: seen.append(x.grad.tolist()))

    y.register_hook(hook)
    y.sum().backward()
    assert seen == [[2, 2]]
    with pytest.raises(RuntimeError, match="Final callbacks can only be installed during backward pass"):
        lib.autograd.graph.queue_callback(lambda: None)


def test_arguments_of_gradcheck(lib):
    x = lib.ones(2, dtype=lib.float64, requires_grad=True)
    options = {"check_grad_dtypes": True, "masked": False, "check_batched_forward_grad": False}
    assert lib.autograd.gradcheck(lambda t: t * t, x, **options)
    assert lib.autograd.gradgradcheck(lambda t: t * t, x, check_grad_dtypes=True)
    with pytest.raises(AssertionError, match="check_batched_forward_grad=True requires check_forward_ad to be True"):
        lib.autograd.gradcheck(lambda t: t * t, x, check_batched_forward_grad=True)


def test_gradcheck_of_what_is_cut_off(lib):
    x = lib.tensor([0.5, 1.5], dtype=lib.float64, requires_grad=True)
    assert not lib.autograd.gradcheck(lambda q: q.detach(), (x,), raise_exception=False)  # a view of the input
    assert not lib.autograd.gradcheck(lambda q: q.detach().sin(), (x,), raise_exception=False)
    assert lib.autograd.gradcheck(lambda q: lib.ones(2, dtype=lib.float64), (x,))
    with pytest.raises(RuntimeError):
        lib.autograd.gradcheck(lambda q: q.detach()[:1], (x,))


def test_polygamma_in_place_keeps_what_its_gradient_needs():
    x = tenon.tensor([1.5, 2.5], dtype=tenon.float64, requires_grad=True)
    y = x * 1
    y.polygamma_(2)
    y.sum().backward()
    assert x.grad.tolist() == pytest.approx(tenon.polygamma(3, x.detach()).tolist(), rel=1e-12)
