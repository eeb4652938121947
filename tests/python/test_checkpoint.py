"""Checkpointed calls: what they may end with, changes between the calls, what they keep alive; beside PyTorch where it is installed."""

import gc
import importlib
import weakref

import pytest
import tenon


def module_of(lib):
    return importlib.import_module(f"{lib.__name__}.utils.checkpoint")


def square(lib):
    class Square(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return 2 * x * grad

    return Square


def grad_within(lib, x):
    return lib.autograd.grad((x**3).sum(), x, create_graph=True)[0]


# What the function ends with saves a value last. (name, f(lib, checkpoint, x))
ENDS = {
    "custom Function": lambda lib, cp, x: square(lib).apply(x),
    "nested": lambda lib, cp, x: cp(lib.sin, x, use_reentrant=False),
    "nested, residual": lambda lib, cp, x: x + cp(lib.sin, x, use_reentrant=False),
    "nested, of a Function": lambda lib, cp, x: cp(square(lib).apply, x, use_reentrant=False),
    "reentrant within": lambda lib, cp, x: cp(lib.sin, x, use_reentrant=True),
    "grad": lambda lib, cp, x: grad_within(lib, x),
    "vjp": lambda lib, cp, x: lib.autograd.functional.vjp(lib.sin, x, lib.ones(2), create_graph=True)[1],
    "jvp": lambda lib, cp, x: lib.autograd.functional.jvp(lib.sin, x, lib.ones(2), create_graph=True)[1],
    "jacobian": lambda lib, cp, x: lib.autograd.functional.jacobian(lib.sin, x, create_graph=True).sum(0),
    "hvp": lambda lib, cp, x: lib.autograd.functional.hvp(lambda t: (t**3).sum(), x, lib.ones(2), create_graph=True)[1],
    "operator": lambda lib, cp, x: x * x,
    "index": lambda lib, cp, x: x[[1, 0]],
    "module with a hook": lambda lib, cp, x: hooked(lib)(x),
}


def hooked(lib):
    module = lib.nn.Tanh()
    module.register_full_backward_hook(lambda module, grad_in, grad_out: None)
    return module


@pytest.mark.parametrize("early_stop", [True, False])
@pytest.mark.parametrize("end", ENDS)
def test_a_call_may_end_with_anything(lib, end, early_stop):
    f, cp = ENDS[end], module_of(lib)
    expected, found = (lib.tensor([1.0, 2.0], requires_grad=True) for _ in range(2))
    f(lib, cp.checkpoint, expected).sum().backward()
    with cp.set_checkpoint_early_stop(early_stop):
        y = cp.checkpoint(lambda x: f(lib, cp.checkpoint, x), found, use_reentrant=False)
    y.sum().backward()
    assert found.grad.tolist() == pytest.approx(expected.grad.tolist())


def test_an_error_of_the_function_passes(lib):
    calls = []

    def f(x):
        calls.append(x)
        if len(calls) == 2:
            raise KeyError("mine")
        return square(lib).apply(x)

    y = module_of(lib).checkpoint(f, lib.ones(2, requires_grad=True), use_reentrant=False)
    with pytest.raises(KeyError, match="mine"):
        y.sum().backward()


@pytest.mark.parametrize("place", ["keyword", "dict", "list", "nested"])
def test_a_change_between_the_calls_is_an_error(place):
    x, w = tenon.tensor(3.0), tenon.tensor(1.0, requires_grad=True)
    run, args, kwargs = {
        "keyword": (lambda w, x: w * x, (w,), {"x": x}),
        "dict": (lambda w, d: w * d["x"], (w, {"x": x}), {}),
        "list": (lambda w, values: w * values[0], (w, [x]), {}),
        "nested": (lambda w, d: w * d["x"][0], (w,), {"d": {"x": (x,)}}),
    }[place]
    checkpoint = module_of(tenon).checkpoint
    checkpoint(run, *args, **kwargs, use_reentrant=False).backward()
    assert w.grad == 3
    y = checkpoint(run, *args, **kwargs, use_reentrant=False)
    x.add_(100)
    with pytest.raises(RuntimeError, match="has been modified by an inplace operation.*expected version"):
        y.backward()


def test_what_the_function_changes_itself_is_no_error(lib):
    count = lib.zeros(())

    def f(x, count):
        count.add_(1)
        return square(lib).apply(x)

    x = lib.ones(2, requires_grad=True)
    y = module_of(lib).checkpoint(f, x, count=count, use_reentrant=False).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert count == 3 and x.grad.tolist() == [4, 4]


def test_a_reentrant_call_that_reaches_its_output_is_freed(lib):
    class Holder:
        pass

    def run(retain):
        x, holder = lib.ones(2, requires_grad=True), Holder()

        def f(x):
            assert holder is not None
            return x * 2

        holder.y = module_of(lib).checkpoint(f, x, use_reentrant=True)
        for keep in (True, False) if retain else (False,):
            holder.y.sum().backward(retain_graph=keep)
        assert x.grad.tolist() == [4, 4] if retain else [2, 2]
        with pytest.raises(RuntimeError, match="second time"):
            holder.y.sum().backward()
        return weakref.ref(holder)

    for retain in (False, True):
        dead = run(retain)
        gc.collect()
        assert dead() is None


def test_a_reentrant_call_can_be_tried_again_after_an_error(lib):
    fails = [True]

    def f(x):
        if lib.is_grad_enabled() and fails.pop():
            raise ValueError("once")
        return x * 2

    x = lib.ones(2, requires_grad=True)
    y = module_of(lib).checkpoint(f, x, use_reentrant=True).sum()
    with pytest.raises(ValueError, match="once"):
        y.backward()
    fails.append(False)
    y.backward()
    assert x.grad.tolist() == [2, 2]
