"""Optimizers: steps as PyTorch's, groups, closures, state dicts."""

import copy

import pytest
import tenon
from tenon import nn, optim

try:
    import torch
except ImportError:
    torch = None
needs_torch = pytest.mark.skipif(torch is None, reason="needs PyTorch: ./tenon setup --oracle, and run with build/venv-oracle")

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
    ("NAdam", {"lr": 0.05, "betas": (0.8, 0.9), "eps": 1e-3, "weight_decay": 0.1, "momentum_decay": 0.1, "maximize": True}),
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
    assert [list(s) for s in ours.state_dict()["state"].values() if s] == [list(s) for s in state["state"].values() if s]
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
@pytest.mark.parametrize("name, kwargs", [("SGD", {"lr": 0.5, "momentum": 0.5}), ("Adam", {"lr": 0.5, "amsgrad": True}), ("Adagrad", {"lr": 0.5})])
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
