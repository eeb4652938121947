"""tenon.autograd: against derivatives that are known."""

import threading

import pytest
import tenon
from tenon import autograd
from tenon.autograd import functional


def test_backward_and_grad():
    x = tenon.tensor([1.0, 2.0], requires_grad=True)
    y = (x**3).sum()
    (g,) = autograd.grad(y, x, create_graph=True)
    assert g.tolist() == [3, 12] and x.grad is None
    assert autograd.grad(g.sum(), x)[0].tolist() == [6, 12]
    y.backward()
    assert x.grad.tolist() == [3, 12]
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()
    unused = tenon.ones(1, requires_grad=True)
    assert autograd.grad(x.sum(), unused, allow_unused=True) == (None,)
    assert autograd.grad(x.sum(), unused, materialize_grads=True)[0].tolist() == [0]
    with pytest.raises(RuntimeError):
        autograd.grad(x.sum(), unused)


def test_the_graph_can_be_looked_at():
    x = tenon.ones(2, requires_grad=True)
    y = (x * 2).sum()
    assert y.grad_fn.name() == "SumBackward0" and x.grad_fn is None and x.is_leaf and not y.is_leaf
    (mul, number) = y.grad_fn.next_functions[0]
    assert mul.name() == "MulBackward0" and number == 0 and mul == (y.grad_fn.next_functions[0][0])
    assert mul.next_functions[0][0].name() == "AccumulateGrad" and repr(mul).startswith("<MulBackward0 object at ")


def test_grad_modes_as_contexts_and_decorators():
    x = tenon.ones(1, requires_grad=True)
    with tenon.no_grad():
        assert not (x * 2).requires_grad
        with tenon.enable_grad():
            assert (x * 2).requires_grad
    for decorate in (tenon.no_grad(), tenon.no_grad):
        assert not decorate(lambda: x * 2)().requires_grad
    with tenon.set_grad_enabled(False):
        assert not tenon.is_grad_enabled()
    assert tenon.is_grad_enabled()
    tenon.set_grad_enabled(False)
    assert not tenon.is_grad_enabled()
    tenon.set_grad_enabled(True)

    @tenon.no_grad()
    def rows():
        yield tenon.is_grad_enabled()
        yield tenon.is_grad_enabled()

    for enabled in rows():
        assert not enabled and tenon.is_grad_enabled()
    with pytest.raises(ValueError):
        with tenon.no_grad():
            raise ValueError
    assert tenon.is_grad_enabled()


def test_hooks():
    x = tenon.ones(2, requires_grad=True)
    seen = []
    handle = x.register_hook(lambda g: seen.append(g.tolist()) or g * 3)
    after = x.register_post_accumulate_grad_hook(lambda t: seen.append(t is x))
    (x * 2).sum().backward()
    assert seen == [[2, 2], True] and x.grad.tolist() == [6, 6]
    handle.remove()
    after.remove()
    (x * 2).sum().backward()
    assert len(seen) == 2 and x.grad.tolist() == [8, 8]
    y = x * 2
    y.grad_fn.register_prehook(lambda grads: (grads[0] * 10,))
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append(outputs[0].tolist()))
    y.sum().backward()
    assert seen[-1] == [10, 10]

    def fails(g):
        raise KeyError("mine")

    z = x * 1
    z.register_hook(fails)
    with pytest.raises(KeyError, match="mine"):
        z.sum().backward()
    with pytest.raises(RuntimeError):
        tenon.ones(1).register_hook(fails)


class Cube(autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.save_for_backward(x)
        ctx.factor = factor
        return factor * x**3, x.sum()

    @staticmethod
    def backward(ctx, grad, unused):
        assert ctx.needs_input_grad == (True, False)
        (x,) = ctx.saved_tensors
        return 3 * ctx.factor * x**2 * grad, None


def test_functions_of_users():
    x = tenon.tensor([2.0], dtype=tenon.float64, requires_grad=True)
    y, total = Cube.apply(x, 2)
    assert y.grad_fn.name() == "CubeBackward" and repr(y).endswith("grad_fn=<CubeBackward>)")
    y.backward()
    assert x.grad.tolist() == [24]
    assert autograd.gradcheck(lambda a: Cube.apply(a, 2)[0], (x,))
    assert autograd.gradgradcheck(lambda a: Cube.apply(a, 2)[0], (x,))
    assert not Cube.apply(x.detach(), 2)[0].requires_grad


def test_functions_with_setup_context_and_in_place():
    class Twice(autograd.Function):
        @staticmethod
        def forward(x):
            return x.mul_(2)

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.mark_dirty(inputs[0])

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    x = tenon.ones(2, requires_grad=True)
    y = x * 1
    z = Twice.apply(y)
    assert z is y
    z.sum().backward()
    assert x.grad.tolist() == [2, 2]


def test_wrong_functions_say_what_is_wrong():
    class Wrong(autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            return grad, grad

    x = tenon.ones(1, requires_grad=True)
    with pytest.raises(RuntimeError, match="WrongBackward returned an incorrect number of gradients"):
        Wrong.apply(x).backward()
    with pytest.warns(DeprecationWarning, match="should not be instantiated"):
        wrong = Wrong()
    with pytest.raises(RuntimeError, match="apply"):
        wrong(x)

    class Once(Wrong):
        @staticmethod
        @autograd.once_differentiable
        def backward(ctx, grad):
            return grad * 2

    (g,) = autograd.grad(Once.apply(x), x, create_graph=True)
    assert g.tolist() == [2]
    with pytest.raises(RuntimeError):
        g.backward()


def test_gradcheck_finds_a_wrong_gradient():
    class Wrong(autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * x

        @staticmethod
        def backward(ctx, grad):
            return grad

    x = tenon.tensor([3.0], dtype=tenon.float64, requires_grad=True)
    with pytest.raises(autograd.gradcheck.__globals__["GradcheckError"]):
        autograd.gradcheck(Wrong.apply, (x,))
    assert autograd.gradcheck(Wrong.apply, (x,), raise_exception=False) is False


def test_derivatives_of_functions():
    x = tenon.tensor([1.0, 2.0])
    assert functional.jacobian(lambda a: a * a, x).tolist() == [[2, 0], [0, 4]]
    assert functional.hessian(lambda a: (a**3).sum(), x).tolist() == [[6, 0], [0, 12]]
    both = functional.jacobian(lambda a, b: a * b, (x, x))
    assert len(both) == 2 and both[1].tolist() == [[1, 0], [0, 2]]
    value, product = functional.vjp(lambda a: (a * a).sum(), x)
    assert value.item() == 5 and product.tolist() == [2, 4]
    assert functional.jvp(lambda a: a * a, x, tenon.ones(2))[1].tolist() == [2, 4]
    assert functional.hvp(lambda a: (a**3).sum(), x, tenon.ones(2))[1].tolist() == [6, 12]
    assert functional.vhp(lambda a: (a**3).sum(), x, tenon.ones(2))[1].tolist() == [6, 12]


def test_saved_tensors_hooks():
    packed = []
    x = tenon.tensor([1.0, 2.0], requires_grad=True)
    with autograd.graph.saved_tensors_hooks(lambda t: packed.append(t.tolist()) or (t,), lambda p: p[0]):
        y = x.exp()
    y.sum().backward()
    assert len(packed) == 1 and x.grad.tolist() == x.exp().tolist()
    with autograd.graph.disable_saved_tensors_hooks("not here"):
        with pytest.raises(RuntimeError, match="not here"):
            autograd.graph.saved_tensors_hooks(id, id).__enter__()
    with autograd.graph.save_on_cpu():
        (x * x).sum().backward()


@pytest.mark.parametrize("reentrant", [False, True])
def test_checkpoint(reentrant):
    from tenon.utils.checkpoint import checkpoint, checkpoint_sequential

    calls = []

    def f(a, scale, shift=1.0):
        calls.append(1)
        return a.sin().exp() * scale + shift

    x = tenon.tensor([0.5, 1.0], requires_grad=True)
    f(x, 2.0).sum().backward()
    expected, x.grad = x.grad.tolist(), None
    keywords = {} if reentrant else {"shift": 1.0}
    checkpoint(f, x, 2.0, **keywords, use_reentrant=reentrant).sum().backward()
    assert x.grad.tolist() == expected and len(calls) == 3
    y = checkpoint_sequential([tenon.sin, tenon.exp, tenon.cos], 2, x, use_reentrant=reentrant)
    assert y.tolist() == x.sin().exp().cos().tolist()


def test_a_checkpointed_function_that_differs_is_an_error():
    from tenon.utils.checkpoint import CheckpointError, checkpoint

    shapes = iter([2, 1])

    def f(a):
        return a[: next(shapes)].exp()

    with pytest.raises(CheckpointError):
        checkpoint(f, tenon.ones(2, requires_grad=True), use_reentrant=False).sum().backward()


def test_anomaly_mode_names_the_operation(capfd):
    x = tenon.zeros(1, requires_grad=True)
    with autograd.detect_anomaly():
        with pytest.raises(RuntimeError, match="SqrtBackward0"):
            (x.sqrt() * 0).backward()
    assert not tenon.is_anomaly_enabled()


def test_hooks_and_gradients_change_while_backward_runs():
    x = tenon.randn(5000, requires_grad=True)  # of a size that lets go of the interpreter's lock

    def run():
        for _ in range(200):
            (x * 2).sum().backward()

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        hook = x.register_hook(lambda g: g * 1)
        x.grad = None
        assert x.grad is None or x.grad.shape == (5000,)
        hook.remove()
    for thread in threads:
        thread.join()
    x.grad = None
    (x * 2).sum().backward()
    assert x.grad[:2].tolist() == [2, 2]


def test_several_threads_run_backward_at_once():
    results = []

    def work(n):
        x = tenon.full((64, 64), float(n), requires_grad=True)
        x.register_hook(lambda g: g + 1)
        for _ in range(5):
            x.grad = None
            (x @ x).sum().backward()
        results.append((n, x.grad[0, 0].item()))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == [(n, 2.0 * 64 * n + 1) for n in range(1, 5)]


def test_inference_mode():
    x = tenon.ones(2, requires_grad=True)
    with tenon.inference_mode():
        assert tenon.is_inference_mode_enabled() and not tenon.is_grad_enabled()
        y = x * 2
        assert y.is_inference() and not y.requires_grad and not x.is_inference()
        y.add_(1)
        with tenon.inference_mode(mode=False):
            assert (x * 2).requires_grad
    assert not tenon.is_inference_mode_enabled() and tenon.is_grad_enabled()
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor outside InferenceMode"):
        y.add_(1)
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        x * y
    with pytest.raises(RuntimeError, match="Inference tensors do not track version counter"):
        y._version
    assert not y.clone().is_inference()

    @tenon.inference_mode()
    def decorated():
        return (x * 2).is_inference()

    @tenon.inference_mode
    def bare():
        return tenon.is_inference_mode_enabled()

    @tenon.inference_mode(False)
    def normal():
        return tenon.is_inference_mode_enabled()

    assert decorated() and bare()
    with tenon.inference_mode():
        assert not normal()

    def generator():
        yield tenon.is_inference_mode_enabled()
        yield tenon.is_inference_mode_enabled()

    modes = tenon.inference_mode(generator)()
    assert next(modes) and not tenon.is_inference_mode_enabled() and next(modes)


def test_forward_mode():
    from tenon.autograd import forward_ad

    x, v = tenon.tensor([1.0, 2.0]), tenon.tensor([3.0, 5.0])
    with pytest.raises(RuntimeError, match="no level exists"):
        forward_ad.make_dual(x, v)
    with forward_ad.dual_level() as level:
        assert level == 0
        dual = forward_ad.make_dual(x, v)
        with tenon.no_grad():
            primal, tangent = forward_ad.unpack_dual(dual**3)
        assert primal.tolist() == [1, 8] and tangent.tolist() == [9, 60]
        assert forward_ad.unpack_dual(x).tangent is None
        with pytest.raises(RuntimeError, match="Nested forward mode AD is not supported"):
            forward_ad.enter_dual_level()
        kept = dual * 2
    assert forward_ad.unpack_dual(kept).tangent is None
    with pytest.raises(RuntimeError, match="not the last one"):
        forward_ad.exit_dual_level()
