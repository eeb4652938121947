"""Optimizers: steps as PyTorch's, groups, closures, state dicts."""

import copy

import pytest
import tenon
from tenon import nn, optim

try:
    import torch
except ImportError:
    torch = None
needs_torch = pytest.mark.skipif(
    torch is None, reason="needs PyTorch: ./tenon setup --oracle, and run with build/venv-oracle"
)

CASES = [
    ("SGD", {"lr": 0.1}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "dampening": 0.1, "weight_decay": 0.01}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True, "maximize": True}),
    ("Adam", {"lr": 0.05}),
    ("Adam", {"lr": 0.05, "betas": (0.8, 0.9), "eps": 1e-4, "weight_decay": 0.1, "amsgrad": True}),
    ("AdamW", {"lr": 0.05, "weight_decay": 0.1}),
    ("RMSprop", {"lr": 0.05}),
    ("RMSprop", {"lr": 0.05, "alpha": 0.9, "eps": 1e-3, "weight_decay": 0.1, "momentum": 0.8}),
    ("RMSprop", {"lr": 0.05, "centered": True, "maximize": True}),
    ("RMSprop", {"lr": 0.05, "centered": True, "momentum": 0.5}),
    ("Adagrad", {"lr": 0.1}),
    ("Adagrad", {"lr": 0.1, "lr_decay": 0.1, "weight_decay": 0.1, "initial_accumulator_value": 0.5, "eps": 1e-3}),
    ("Adagrad", {"lr": 0.1, "maximize": True}),
    ("Adadelta", {}),
    ("Adadelta", {"lr": 0.5, "rho": 0.8, "eps": 1e-3, "weight_decay": 0.1, "maximize": True}),
    ("Adamax", {}),
    ("Adamax", {"lr": 0.05, "betas": (0.8, 0.9), "eps": 1e-3, "weight_decay": 0.1, "maximize": True}),
    ("NAdam", {}),
    (
        "NAdam",
        {"lr": 0.05, "betas": (0.8, 0.9), "eps": 1e-3, "weight_decay": 0.1, "momentum_decay": 0.1, "maximize": True},
    ),
    ("NAdam", {"lr": 0.05, "weight_decay": 0.1, "decoupled_weight_decay": True}),
    # Its second moment counts from the sixth step on.
    ("RAdam", {"lr": 0.05}),
    ("RAdam", {"lr": 0.05, "betas": (0.8, 0.99), "eps": 1e-3, "weight_decay": 0.1, "maximize": True}),
    ("RAdam", {"lr": 0.05, "weight_decay": 0.1, "decoupled_weight_decay": True}),
    ("ASGD", {"lr": 0.05}),
    ("ASGD", {"lr": 0.05, "lambd": 0.01, "alpha": 0.5, "t0": 2, "weight_decay": 0.1, "maximize": True}),
    ("Rprop", {}),
    ("Rprop", {"lr": 0.05, "etas": (0.4, 1.5), "step_sizes": (0.01, 0.1), "maximize": True}),
]
START = [[1.0, -2.0], [0.5, 3.0]]


def loss_of(p, k):
    return ((p - k) * (p - k) * (p - 0.5)).sum()


def steps(library, optimizer, p, count, first=0):
    for k in range(first, first + count):
        optimizer.zero_grad()
        loss_of(p, float(k % 3)).backward()
        optimizer.step()


def made(name, kwargs, library):
    p = library.tensor(START, dtype=library.float64, requires_grad=True)
    return p, getattr(library.optim, name)([p], **kwargs)


@needs_torch
@pytest.mark.parametrize("name, kwargs", CASES)
def test_steps_are_pytorchs(name, kwargs):
    (p, ours), (q, theirs) = made(name, kwargs, tenon), made(name, kwargs, torch)
    steps(tenon, ours, p, 6)
    steps(torch, theirs, q, 6)
    assert torch.allclose(torch.tensor(p.tolist(), dtype=torch.float64), q, rtol=1e-12, atol=1e-12)


@needs_torch
@pytest.mark.parametrize("name, kwargs", CASES)
def test_state_dicts_go_on_in_the_other_library(name, kwargs, tmp_path):
    (p, ours), (q, theirs) = made(name, kwargs, tenon), made(name, kwargs, torch)
    steps(torch, theirs, q, 3)
    torch.save(theirs.state_dict(), tmp_path / "state.pt")
    state = tenon.load(str(tmp_path / "state.pt"))
    # Loading gives numbers of a state the parameter's dtype.
    theirs = getattr(torch.optim, name)([q], **kwargs)
    theirs.load_state_dict(torch.load(tmp_path / "state.pt"))
    assert set(state["param_groups"][0]) == set(ours.state_dict()["param_groups"][0])
    ours.load_state_dict(state)
    with tenon.no_grad():
        p.copy_(tenon.tensor(q.tolist(), dtype=tenon.float64))
    steps(tenon, ours, p, 3, 3)
    assert [list(s) for s in ours.state_dict()["state"].values() if s] == [
        list(s) for s in state["state"].values() if s
    ]
    tenon.save(ours.state_dict(), str(tmp_path / "state.pt"))
    _, again = made(name, kwargs, torch)
    again.load_state_dict(torch.load(tmp_path / "state.pt"))
    steps(torch, theirs, q, 3, 3)
    assert torch.allclose(torch.tensor(p.tolist(), dtype=torch.float64), q, rtol=1e-12, atol=1e-12)


def test_groups_have_their_own_options():
    a, b = (tenon.ones(1, requires_grad=True) for _ in range(2))
    optimizer = optim.SGD([{"params": [a]}, {"params": b, "lr": 1.0}], lr=0.25)
    (a + b).backward()
    optimizer.step()
    assert a.item() == 0.75 and b.item() == 0
    c = tenon.ones(1, requires_grad=True)
    optimizer.add_param_group({"params": [c], "lr": 2.0})
    assert [g["lr"] for g in optimizer.param_groups] == [0.25, 1.0, 2.0]
    with pytest.raises(ValueError, match="more than one parameter group"):
        optimizer.add_param_group({"params": [a]})


def test_a_parameter_without_gradient_stays():
    a, b = (tenon.ones(1, requires_grad=True) for _ in range(2))
    optimizer = optim.Adam([a, b], lr=0.5)
    a.backward()
    optimizer.step()
    assert b.item() == 1 and b not in optimizer.state and a.item() != 1


@needs_torch
@pytest.mark.parametrize(
    "name, kwargs",
    [("SGD", {"lr": 0.5, "momentum": 0.5}), ("Adam", {"lr": 0.5, "amsgrad": True}), ("Adagrad", {"lr": 0.5})],
)
def test_parameters_that_begin_later(name, kwargs):
    def trained(library):
        a, b = (library.tensor([1.0, 2.0], dtype=library.float64, requires_grad=True) for _ in range(2))
        optimizer = getattr(library.optim, name)([a, b], **kwargs)
        for x, y in ((a, a), (a, b), (b, b)):
            optimizer.zero_grad()
            (x * y).sum().backward()
            optimizer.step()
        return a.tolist() + b.tolist()

    assert trained(tenon) == pytest.approx(trained(torch), rel=1e-12)


def test_closures_are_called_with_gradients_on():
    p = tenon.tensor(2.0, requires_grad=True)
    optimizer = optim.SGD([p], lr=0.5)

    def closure():
        optimizer.zero_grad()
        loss = p * p
        loss.backward()
        return loss

    with tenon.no_grad():
        assert optimizer.step(closure).item() == 4
    assert p.item() == 0


def test_hooks_of_steps():
    p, seen = tenon.ones(1, requires_grad=True), []
    optimizer = optim.SGD([p], lr=1.0)
    handle = optimizer.register_step_pre_hook(lambda o, args, kwargs: seen.append("before"))
    optimizer.register_step_post_hook(lambda o, args, kwargs: seen.append("after"))
    optimizer.step()
    handle.remove()
    optimizer.step()
    assert seen == ["before", "after", "after"]


def test_loading_checks_the_groups_and_copies():
    p = tenon.ones(2, requires_grad=True)
    optimizer = optim.SGD([p], lr=0.1, momentum=0.9)
    p.sum().backward()
    optimizer.step()
    state = optimizer.state_dict()
    before = copy.deepcopy(state["state"][0]["momentum_buffer"]).tolist()
    other = optim.SGD([tenon.ones(2, requires_grad=True)], lr=5.0, momentum=0.9)
    other.load_state_dict(state)
    assert other.param_groups[0]["lr"] == 0.1
    optimizer.step()
    assert other.state_dict()["state"][0]["momentum_buffer"].tolist() == before
    with pytest.raises(ValueError, match="doesn't match the size"):
        optim.SGD([tenon.ones(1), tenon.ones(1)], lr=1.0).load_state_dict(state)


@pytest.mark.parametrize("make, text", [
    (lambda: optim.SGD([], lr=1.0), "empty parameter list"),
    (lambda: optim.SGD([tenon.ones(1)], lr=-1.0), "Invalid learning rate: -1"),
    (lambda: optim.SGD([tenon.ones(1)], nesterov=True), "Nesterov"),
    (lambda: optim.Adam([tenon.ones(1)], betas=(0.9, 1.0)), "Invalid beta parameter at index 1: 1.0"),
    (lambda: optim.SGD([tenon.ones(1, requires_grad=True) * 2], lr=1.0), "non-leaf"),
    (lambda: optim.RMSprop([tenon.ones(1)], alpha=-1), "Invalid alpha value: -1"),
    (lambda: optim.Adagrad([tenon.ones(1)], lr_decay=-1), "Invalid lr_decay value: -1"),
    (lambda: optim.Adadelta([tenon.ones(1)], rho=2), "Invalid rho value: 2"),
    (lambda: optim.Adamax([tenon.ones(1)], betas=(1, 0)), "Invalid beta parameter at index 0: 1"),
    (lambda: optim.NAdam([tenon.ones(1)], momentum_decay=-1), "Invalid momentum_decay value: -1"),
    (lambda: optim.RAdam([tenon.ones(1)], eps=-1), "Invalid epsilon value: -1"),
    (lambda: optim.ASGD([tenon.ones(1)], weight_decay=-1), "Invalid weight_decay value: -1"),
    (lambda: optim.Rprop([tenon.ones(1)], etas=(2, 1)), "Invalid eta values: 2, 1"),
])  # fmt: skip
def test_errors(make, text):
    with pytest.raises(ValueError, match=text):
        make()
    with pytest.raises(TypeError, match="iterable of Tensors"):
        optim.SGD(tenon.ones(1), lr=1.0)


def test_a_module_learns():
    tenon.manual_seed(0)
    net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
    x = tenon.tensor([[0.0, 0], [0, 1], [1, 0], [1, 1]])
    y = tenon.tensor([[0.0], [1], [1], [0]])
    optimizer = optim.Adam(net.parameters(), lr=0.05)
    for _ in range(300):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(net(x), y)
        loss.backward()
        optimizer.step()
    assert loss.item() < 0.01


# Where two steps from 1 + 2i on |z|^2 lead, as PyTorch 2.15 says.
COMPLEX = {
    "Adam": 0.8004 + 1.8002j,
    "AdamW": 0.7985 + 1.7963j,
    "RMSprop": 0.0000 + 0.5510j,
    "Adagrad": 0.8331 + 1.8311j,
    "Adadelta": 0.9994 + 1.9994j,
    "NAdam": 0.8200 + 1.8179j,
}


@pytest.mark.parametrize("name", COMPLEX)
def test_steps_of_complex_parameters_are_pytorchs(name):
    z = tenon.tensor([1 + 2j], requires_grad=True)
    optimizer = getattr(optim, name)([z], lr=0.1)
    for _ in range(2):
        optimizer.zero_grad()
        z.abs().square().sum().backward()
        optimizer.step()
    assert z.item() == pytest.approx(COMPLEX[name], abs=2e-4)


@pytest.mark.parametrize("name, kwargs", [*CASES, ("Adamax", {"lr": 0.5}), ("Rprop", {"etas": (0.4, 1.5)})])
def test_complex_parameters_step_as_pairs(name, kwargs):
    start = [[1 + 2j, -0.5 + 0.25j], [0.5j, 3 - 1j]]
    z = tenon.tensor(start, dtype=tenon.complex128, requires_grad=True)
    p = tenon.view_as_real(tenon.tensor(start, dtype=tenon.complex128)).clone().requires_grad_()
    pair = [(z, getattr(optim, name)([z], **kwargs)), (p, getattr(optim, name)([p], **kwargs))]
    for k in range(6):
        for x, optimizer in pair:
            optimizer.zero_grad()
            parts = tenon.view_as_real(x) if x.is_complex() else x
            loss_of(parts, float(k % 3)).backward()
            optimizer.step()
    assert tenon.view_as_real(z).flatten().tolist() == pytest.approx(p.flatten().tolist(), rel=1e-12)
    for ours, real in zip(pair[0][1].state[z].values(), pair[1][1].state[p].values()):
        assert not ours.dim() or ours.dtype == tenon.complex128
        flat = tenon.view_as_real(ours) if ours.is_complex() else ours
        assert flat.flatten().tolist() == pytest.approx(real.flatten().tolist(), rel=1e-12)


@pytest.mark.parametrize(
    "default, expected",
    [("bfloat16", "float32"), ("float16", "float32"), ("float32", "float32"), ("float64", "float64")],
)
def test_counters_do_not_take_half_types(default, expected):
    tenon.set_default_dtype(getattr(tenon, default))
    try:
        for name in sorted({name for name, _ in CASES} - {"SGD"}):
            p = tenon.ones(2, dtype=tenon.float32, requires_grad=True)
            optimizer = getattr(optim, name)([p], lr=1e-4)
            p.sum().backward()
            for _ in range(2):
                optimizer.step()
            state = optimizer.state[p]
            for key in type(optimizer).scalars:
                assert state[key].dtype == getattr(tenon, expected), (name, key)
            state["step"].fill_(299)
            optimizer.step()
            assert state["step"].item() == 300
    finally:
        tenon.set_default_dtype(tenon.float32)


@pytest.mark.parametrize(
    "clear",
    [lambda p: optim.SGD([p]).zero_grad(set_to_none=False), lambda p: module_of(p).zero_grad(set_to_none=False)],
)
def test_gradients_are_zeroed_in_place(clear):
    flat, p = tenon.ones(4), nn.Parameter(tenon.ones(2))
    p.grad = flat[:2]
    held = p.grad
    clear(p)
    assert flat.tolist() == [0, 0, 1, 1] and p.grad is held
    # One with a graph loses it.
    ((p * p).sum() * 3).backward(create_graph=True)
    held = p.grad
    clear(p)
    assert p.grad is held and not held.requires_grad and held.grad_fn is None and held.tolist() == [0, 0]


def module_of(parameter):
    module = nn.Module()
    module.p = parameter
    return module


def test_grad_has_another_name():
    p = tenon.ones(2, requires_grad=True)
    p._grad = tenon.full((2,), 3.0)
    assert p.grad.tolist() == [3, 3]
    p._grad = None
    assert p.grad is None and p._grad is None
    with pytest.raises(RuntimeError, match="size"):
        p._grad = tenon.ones(3)


def test_a_copy_of_a_parameter_has_no_gradient():
    p, t = nn.Parameter(tenon.ones(2)), tenon.ones(2, requires_grad=True)
    for x in (p, t):
        x.grad = tenon.ones(2)
    assert copy.deepcopy(p).grad is None and copy.deepcopy(t).grad.tolist() == [1, 1] and p.grad.tolist() == [1, 1]
    net = nn.Linear(2, 2)
    net(tenon.ones(1, 2)).sum().backward()
    assert all(q.grad is None for q in copy.deepcopy(net).parameters())


@needs_torch
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name, kwargs", CASES)
def test_a_parameter_listed_twice_steps_twice(name, kwargs):
    def trained(library):
        p, q = (library.tensor(START, dtype=library.float64, requires_grad=True) for _ in range(2))
        optimizer = getattr(library.optim, name)([p, p, q], **kwargs)
        for k in range(4):
            optimizer.zero_grad()
            (loss_of(p, float(k % 3)) + loss_of(q, 1.0)).backward()
            optimizer.step()
        state = optimizer.state_dict()
        return p.flatten().tolist() + q.flatten().tolist(), state["param_groups"][0]["params"], list(state["state"])

    (ours, *numbers), (theirs, *expected) = trained(tenon), trained(torch)
    assert ours == pytest.approx(theirs, rel=1e-12) and numbers == expected


def test_a_parameter_listed_twice_is_warned_of():
    p, q = (tenon.ones(1, requires_grad=True) for _ in range(2))
    with pytest.warns(UserWarning, match="parameter group with duplicate parameters"):
        optimizer = optim.SGD([p, p, q], lr=0.25)
    (p + q).backward()
    optimizer.step()
    assert p.item() == 0.5 and q.item() == 0.75
    assert optimizer.state_dict()["param_groups"][0]["params"] == [1, 1, 2]


def unrolled(library, name, kwargs, count, start):
    """A loss after some steps, and its gradient with respect to where they began."""
    start = library.tensor(start, dtype=library.float64, requires_grad=True)
    p = start.clone()
    optimizer = getattr(library.optim, name)([p], differentiable=True, **kwargs)
    if name == "SGD" and kwargs.get("momentum"):  # PyTorch's first buffer is without history
        optimizer.state[p]["momentum_buffer"] = library.zeros_like(p).detach()
    for k in range(count):
        p.grad = 3 * (start - 0.3 * k) ** 2
        optimizer.step()
    loss = (p * p).sum()
    return loss.item(), library.autograd.grad(loss, start)[0].flatten().tolist()


@needs_torch
@pytest.mark.parametrize("name, kwargs", CASES)
def test_differentiable_steps_are_pytorchs(name, kwargs):
    (ours, gradient), (theirs, expected) = (unrolled(library, name, kwargs, 1, START) for library in (tenon, torch))
    assert [ours, *gradient] == pytest.approx([theirs, *expected], rel=1e-5)  # PyTorch's counters are float32 here


@pytest.mark.parametrize("name, kwargs", CASES)
def test_gradients_go_through_several_steps(name, kwargs):
    step, differences = 1e-6, []
    for i in range(4):
        ends = []
        for shift in (step, -step):
            flat = [x for row in START for x in row]
            flat[i] += shift
            ends.append(unrolled(tenon, name, kwargs, 7, [flat[:2], flat[2:]])[0])
        differences.append((ends[0] - ends[1]) / (2 * step))
    assert unrolled(tenon, name, kwargs, 7, START)[1] == pytest.approx(differences, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("name, kwargs", CASES)
def test_differentiable_steps_are_steps(name, kwargs):
    p, q = (tenon.tensor(START, dtype=tenon.float64, requires_grad=True) for _ in range(2))
    r = q.clone()
    plain, recorded = getattr(optim, name)([p], **kwargs), getattr(optim, name)([r], differentiable=True, **kwargs)
    for k in range(7):
        p.grad = tenon.cos(p.detach() + k)
        r.grad = tenon.cos(r.detach() + k)
        plain.step()
        recorded.step()
    assert r.flatten().tolist() == pytest.approx(p.flatten().tolist(), rel=1e-12)
    assert r.grad_fn is not None and tenon.autograd.grad(r.sum(), q)[0].shape == q.shape


def test_a_learning_rate_with_a_gradient():
    start, lr = tenon.tensor([1.0, 2.0], requires_grad=True), tenon.tensor(0.1, requires_grad=True)
    p = start.clone()
    optimizer = optim.SGD([p], lr=lr, differentiable=True)
    p.grad = tenon.tensor([3.0, 4.0])
    optimizer.step()
    p.sum().backward()
    assert lr.grad.item() == -7 and start.grad.tolist() == [1, 1]
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
        leaf = tenon.ones(1, requires_grad=True)
        leaf.grad = tenon.ones(1)
        optim.SGD([leaf], differentiable=True).step()
    with pytest.raises(RuntimeError, match="`fused` does not support `differentiable`"):
        optim.Adam([start], fused=True, differentiable=True)


def test_a_learning_rate_that_is_a_tensor():
    for name in sorted({name for name, _ in CASES}):
        p, q = (tenon.tensor(START, dtype=tenon.float64, requires_grad=True) for _ in range(2))
        lr = tenon.tensor(0.5, dtype=tenon.float64)
        pair = (p, getattr(optim, name)([p], lr=lr)), (q, getattr(optim, name)([q], lr=0.5))
        for x, optimizer in pair:
            scheduler = optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
            steps(tenon, optimizer, x, 2)
            scheduler.step()
            steps(tenon, optimizer, x, 2)
        assert p.tolist() == q.tolist(), name
        assert (
            lr.item() == 0.25
            and pair[0][1].param_groups[0]["lr"] is lr
            and pair[0][1].param_groups[0]["initial_lr"].item() == 0.5
        )


class Halving(optim.Optimizer):
    """One as programs write it: with a step() of its own, and a counter that is a plain number."""

    def __init__(self, params, lr=0.5):
        super().__init__(params, {"lr": lr})

    def __setstate__(self, state):
        super().__setstate__(state)
        for group in self.param_groups:
            group.setdefault("newer", True)

    @tenon.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                p.mul_(group["lr"])
                self.state[p]["step"] = self.state[p].get("step", 0) + 1
        self.state["all"] = {"calls": 1}


class Twice(Halving):
    def step(self, closure=None):
        super().step(closure)
        super().step(closure)


def test_hooks_of_optimizers_with_a_step_of_their_own():
    seen = []
    for kind, expected in ((Halving, 0.5), (Twice, 0.25)):
        p = tenon.ones(1, requires_grad=True)
        optimizer = kind([p])
        optimizer.register_step_pre_hook(lambda o, args, kwargs: seen.append(("before", args[0] is o, kwargs)))
        optimizer.register_step_post_hook(lambda o, args, kwargs: seen.append("after"))
        optimizer.step()
        assert p.item() == expected and seen == [("before", True, {}), "after"]
        seen.clear()
        state = optimizer.state_dict()
        assert state["state"]["all"] == {"calls": 1}
        other = kind([tenon.ones(1, requires_grad=True)])
        other.load_state_dict(state)
        assert other.state_dict()["state"] == state["state"]  # the counter stays a number
        assert other.param_groups[0]["newer"] and copy.deepcopy(optimizer).param_groups[0]["newer"]


def test_a_hook_may_change_the_arguments():
    p = tenon.ones(1, requires_grad=True)
    optimizer = optim.SGD([p], lr=1.0)
    optimizer.register_step_pre_hook(lambda o, args, kwargs: ((args[0], lambda: 7), kwargs))
    assert optimizer.step() == 7
    optimizer.register_step_pre_hook(lambda o, args, kwargs: 3)
    with pytest.raises(RuntimeError, match=r"must return None or a tuple of \(new_args, new_kwargs\), but got 3"):
        optimizer.step()


def test_hooks_of_all_optimizers():
    from tenon.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

    seen, optimizer = [], optim.SGD([tenon.ones(1)], lr=1.0)
    with (
        register_optimizer_step_pre_hook(lambda o, *_: seen.append(("before", o))),
        register_optimizer_step_post_hook(lambda o, *_: seen.append(("after", o))),
    ):
        optimizer.step()
    optimizer.step()
    assert seen == [("before", optimizer), ("after", optimizer)]


def test_hooks_of_state_dicts():
    optimizer, seen = optim.SGD([tenon.ones(1)], lr=1.0), []
    optimizer.register_state_dict_pre_hook(lambda o: seen.append("second"))
    optimizer.register_state_dict_pre_hook(lambda o: seen.append("first"), prepend=True)
    optimizer.register_state_dict_post_hook(lambda o, state: state.update(more=1))
    optimizer.register_state_dict_post_hook(lambda o, state: {**state, "most": 2})
    state = optimizer.state_dict()
    assert seen == ["first", "second"] and state["more"] == 1 and state["most"] == 2
    seen.clear()

    def halve(o, state):
        seen.append(sorted(state))
        state["param_groups"] = [{**group, "lr": group["lr"] / 2} for group in state["param_groups"]]

    optimizer.register_load_state_dict_pre_hook(halve)
    handle = optimizer.register_load_state_dict_post_hook(lambda o: seen.append(o.param_groups[0]["lr"]))
    optimizer.load_state_dict(state)
    assert seen == [["more", "most", "param_groups", "state"], 0.5] and state["param_groups"][0]["lr"] == 1
    handle.remove()
    optimizer.load_state_dict(state)
    assert len(seen) == 3


def test_counters_of_old_files_are_numbers():
    p = tenon.ones(1, requires_grad=True)
    optimizer = optim.ASGD([p])
    p.sum().backward()
    optimizer.step()
    state = optimizer.state_dict()
    state["state"][0].update(step=3, eta=0.5, mu=1)
    optimizer.load_state_dict(state)
    optimizer.step()
    assert optimizer.state[p]["step"].item() == 4


def test_copies_of_an_optimizer_stand_alone():
    p, seen = tenon.ones(1, requires_grad=True), []
    optimizer = optim.Adam([p])
    optimizer.register_step_pre_hook(lambda *_: seen.append(1))
    p.sum().backward()
    optimizer.step()
    other = copy.deepcopy(optimizer)
    (q,) = other.param_groups[0]["params"]
    q.grad = tenon.ones(1)
    other.step()
    assert (
        len(seen) == 1 and q is not p and other.state[q]["step"].item() == 2 and optimizer.state[p]["step"].item() == 1
    )


def test_names_of_parameters():
    a, b = (tenon.ones(1, requires_grad=True) for _ in range(2))
    optimizer = optim.SGD([("a", a), ("b", b)])
    assert optimizer.state_dict()["param_groups"][0]["param_names"] == ["a", "b"]
    with pytest.raises(ValueError, match="Some param names are missing"):
        optim.SGD([("a", a), b])
    with pytest.raises(ValueError, match="cannot add param group without names"):
        optimizer.add_param_group({"params": tenon.ones(1)})


def test_clipping():
    p, q = (tenon.zeros(2, requires_grad=True) for _ in range(2))
    p.grad, q.grad = tenon.tensor([3.0, 0.0]), tenon.tensor([0.0, 4.0])
    assert (
        nn.utils.get_total_norm([p.grad, q.grad]).item() == 5
        and nn.utils.get_total_norm(p.grad, float("inf")).item() == 3
    )
    assert nn.utils.clip_grad_norm_([p, q], 2.5, foreach=True).item() == 5
    assert p.grad.tolist() == pytest.approx([1.5, 0]) and q.grad.tolist() == pytest.approx([0, 2])
    nn.utils.clip_grads_with_norm_(iter([p, q]), 1.0, tenon.tensor(2.0))
    assert p.grad.tolist() == pytest.approx([0.75, 0])
    nn.utils.clip_grad_value_([p, q], 0.5, foreach=False)
    assert p.grad.tolist() == [0.5, 0] and q.grad.tolist() == [0, 0.5]
    assert nn.utils.clip_grad_norm_([], 1.0).item() == 0
    used = (x for x in [p, q])
    list(used)
    with pytest.warns(UserWarning, match="`parameters` is an empty generator, no gradient clipping will occur"):
        assert nn.utils.clip_grad_norm_(used, 1.0).item() == 0
    p.grad.fill_(float("nan"))
    with pytest.raises(RuntimeError, match="non-finite, so it cannot be clipped. To disable this error"):
        nn.utils.clip_grad_norm_([p], 1.0, error_if_nonfinite=True)


def test_optimizer_as_text(lib):
    groups = [{"params": [lib.ones(1, requires_grad=True)], "lr": lr} for lr in (0.5, 0.25)]
    text = repr(lib.optim.SGD(groups, lr=1.0))
    assert "    weight_decay: 0\n\nParameter Group 1\n    dampening: 0\n" in text and text.endswith(
        "weight_decay: 0\n)"
    )
