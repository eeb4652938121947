"""Backward hooks of modules: when they are called, with what, and what they keep alive; beside PyTorch where it is installed."""

import collections
import gc
import weakref

import pytest


def module(lib, forward):
    return type("Mine", (lib.nn.Module,), {"forward": lambda self, *args, **kwargs: forward(*args, **kwargs)})()


def hooked(lib, forward, hook=None):
    """The module, and what its hook gets: lists in place of tensors."""
    made, seen = module(lib, forward), []

    def listed(grads):
        return tuple(g.tolist() if isinstance(g, lib.Tensor) else g for g in grads)

    made.register_full_backward_hook(lambda m, gi, go: seen.append((listed(gi), listed(go))))
    if hook:
        made.register_full_backward_hook(hook)
    return made, seen


def leaf(lib):
    return lib.tensor([1.0, 2.0], requires_grad=True)


def test_hooks_keep_no_graph(lib):
    def run(register):
        net = lib.nn.Linear(2, 2)
        getattr(net, register)(lambda *args: None)
        alive = []

        class Tagged(lib.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.tag = Tag()
                alive.append(weakref.ref(ctx.tag))
                return x * 1

            @staticmethod
            def backward(ctx, grad):
                return grad

        for _ in range(3):
            net(Tagged.apply(lib.randn(2, 2, requires_grad=True))).sum().backward()
        net(Tagged.apply(lib.randn(2, 2, requires_grad=True)))  # without a backward pass
        return net, alive

    class Tag:
        pass

    for register in ("register_full_backward_hook", "register_full_backward_pre_hook"):
        net, alive = run(register)
        gc.collect()
        assert [a() for a in alive] == [None] * 4, register


def test_forward_sees_its_arguments_as_they_are(lib):
    seen = []

    def forward(a, b, c):
        seen.append((a.requires_grad, b.requires_grad, b.grad_fn, c.requires_grad))
        return a * 2, b, c

    net, grads = hooked(lib, forward)
    out = net(leaf(lib), lib.zeros(2), lib.zeros(2, dtype=lib.int64))
    assert seen == [(True, False, None, False)]
    assert [o.requires_grad for o in out] == [True, False, False]
    out[0].sum().backward()
    assert grads == [(([2, 2], [0, 0], [0, 0]), ([1, 1], None, None))]


def test_hooks_are_called_once_in_double_backward(lib):
    net, seen = hooked(lib, lambda x: x**3)
    x = leaf(lib)
    (g,) = lib.autograd.grad(net(x).sum(), x, create_graph=True)
    assert len(seen) == 1
    g.sum().backward()
    assert len(seen) == 1 and x.grad.tolist() == [6, 12]
    x.grad = None
    y = net(x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert len(seen) == 3 and x.grad.tolist() == [6, 24]


@pytest.mark.filterwarnings("ignore:Full backward hook is firing")
def test_no_input_that_requires_grad(lib):
    w = leaf(lib)
    net, seen = hooked(lib, lambda x, n=None: x * w, lambda *args: (None,))
    net(lib.ones(2)).sum().backward()
    assert seen == [((None,), ([1, 1],))] and w.grad.tolist() == [1, 1]
    net(lib.ones(2), 3).sum().backward()
    assert seen[1] == ((None, None), ([1, 1],))
    net, seen = hooked(lib, lambda x: x * w)
    net(x=leaf(lib)).sum().backward()  # keyword arguments are not looked at
    assert seen == [((), ([1, 1],))]
    net, seen = hooked(lib, lambda x: x * w, lambda *args: (lib.ones(2),))
    with pytest.raises(RuntimeError, match="no input requires gradient should always return None"):
        net(lib.ones(2)).sum().backward()


def test_arguments_and_results_without_gradients(lib):
    net, seen = hooked(lib, lambda x, y: (x * 2, "text", x.argmax()))
    net(leaf(lib), leaf(lib))[0].sum().backward()
    assert seen == [(([2, 2], [0, 0]), ([1, 1], None, None))]
    net, seen = hooked(lib, lambda x: (x * 2, x * 3))
    net(leaf(lib))[0].sum().backward()
    assert seen == [(([2, 2],), ([1, 1], None))]


def test_hooks_may_give_other_gradients(lib):
    net, seen = hooked(lib, lambda x: x * 2, lambda m, gi, go: (gi[0] * 10,))
    net.register_full_backward_pre_hook(lambda m, go: (go[0] + 1,))
    x = leaf(lib)
    net(x).sum().backward()
    assert seen == [(([4, 4],), ([2, 2],))] and x.grad.tolist() == [40, 40]
    for register, name in [
        ("register_full_backward_hook", "grad_input"),
        ("register_full_backward_pre_hook", "grad_output"),
    ]:
        net = module(lib, lambda x: x * 2)
        getattr(net, register)(lambda m, *grads: (grads[0][0], grads[0][0]))
        with pytest.raises(RuntimeError, match=f"returned an invalid number of {name}, got 2, but expected 1"):
            net(x).sum().backward()


def test_results_keep_their_kind(lib):
    Pair = collections.namedtuple("Pair", "a b")
    net, seen = hooked(lib, lambda x: Pair(x * 2, 3))
    out = net(leaf(lib))
    assert isinstance(out, Pair) and out.b == 3
    out.a.sum().backward()
    assert seen == [(([2, 2],), ([1, 1], None))]
    for kind, of in [(dict, lambda x: {"a": x * 2}), (list, lambda x: [x * 2])]:
        net, seen = hooked(lib, of)
        with pytest.warns(UserWarning, match="For backward hooks to be called, module output should be a Tensor"):
            out = net(leaf(lib))
        assert isinstance(out, kind)
        (out["a"] if kind is dict else out[0]).sum().backward()
        assert seen == []


def test_what_goes_in_and_comes_out_is_not_changed_in_place(lib):
    net, _ = hooked(lib, lambda x: x.mul_(2))
    with pytest.raises(RuntimeError, match="is a view and is being modified inplace"):
        net(leaf(lib) * 1)
    net, _ = hooked(lib, lambda x: x + 2)
    with pytest.raises(RuntimeError, match="is a view and is being modified inplace"):
        net(leaf(lib) * 1).add_(1)


def test_hooks_within_no_grad_are_not_called(lib):
    net, seen = hooked(lib, lambda x: x * 2)
    with lib.no_grad():
        assert net(leaf(lib)).tolist() == [2, 4]
    assert seen == []


# ---- the hook of a module's last operation, which is older ----


def test_the_hook_of_the_last_operation(lib):
    layer, seen = lib.nn.Tanh(), []
    handle = layer.register_backward_hook(lambda m, grad_input, grad_output: seen.append((m, grad_input, grad_output)))
    x = leaf(lib)
    layer(x).backward(lib.tensor([1.0, 2.0]))
    assert seen[0][0] is layer and lib.equal(seen[0][1][0], x.grad) and seen[0][2][0].tolist() == [1, 2]
    with pytest.raises(
        RuntimeError, match="Cannot use both regular backward hooks and full backward hooks on a single"
    ):
        layer.register_full_backward_hook(lambda *args: None)
    handle.remove()
    layer(x).sum().backward()
    assert len(seen) == 1


def test_the_hook_of_the_last_operation_of_every_module(lib, monkeypatch):
    seen, hooks = [], lib.nn.modules.module
    monkeypatch.setattr(hooks, "_global_is_full_backward_hook", None, raising=False)  # it stays decided otherwise
    register = hooks.register_module_backward_hook
    with register(lambda m, grad_input, grad_output: seen.append(type(m).__name__)):
        net = lib.nn.Sequential(lib.nn.Tanh(), lib.nn.Sigmoid())
        net(leaf(lib)).sum().backward()
        with pytest.raises(RuntimeError, match="as a global Module hook"):
            hooks.register_module_full_backward_hook(lambda *args: None)
    # The last operation of Sequential is that of its last module.
    assert sorted(seen) == ["Sequential", "Sigmoid", "Tanh"]


@pytest.mark.parametrize(
    "forward, words",
    [
        (lambda x: x * 2 + x.exp(), "contains multiple autograd Nodes"),
        (lambda x: (x * 2, x * 3), "generated by different autograd Nodes"),
        (lambda x: {"y": x * 2}, "does not return a single Tensor"),
    ],
)
def test_the_hook_of_the_last_operation_says_what_it_misses(lib, forward, words):
    made = module(lib, forward)
    made.register_backward_hook(lambda *args: None)
    with pytest.warns(FutureWarning, match=words):
        made(leaf(lib))
