"""Optimizers that optimizers.yaml does not have: Adafactor, LBFGS, Muon."""

import pytest
import tenon
from tenon import optim

try:
    import torch
except ImportError:
    torch = None
needs_torch = pytest.mark.skipif(
    torch is None, reason="needs PyTorch: ./tenon setup --oracle, and run with build/venv-oracle"
)

MATRIX = [[1.0, -2.0, 0.25], [0.5, 3.0, -1.0]]
VECTOR = [0.5, -1.5, 2.0]


def made(library, name, kwargs, dtype="float64", starts=(MATRIX, VECTOR)):
    params = [library.tensor(s, dtype=getattr(library, dtype), requires_grad=True) for s in starts]
    return params, getattr(library.optim, name)(params, **kwargs)


def learn(params, optimizer, count, first=0):
    for k in range(first, first + count):
        optimizer.zero_grad()
        sum(((p - k % 3) * (p - k % 3) * (p - 0.5)).sum() for p in params).backward()
        optimizer.step()


def assert_same(params, expected, tolerance):
    for p, q in zip(params, expected):
        assert torch.allclose(torch.tensor(p.tolist(), dtype=q.dtype), q.detach(), rtol=tolerance, atol=tolerance)


ADAFACTOR = [
    {},
    {"lr": 0.5, "weight_decay": 0.1, "maximize": True},
    {"eps": (1e-2, 0.5), "d": 1.5, "beta2_decay": -0.5},
]


@needs_torch
@pytest.mark.parametrize("kwargs", ADAFACTOR)
def test_adafactor_takes_pytorchs_steps(kwargs, tmp_path):
    starts = (MATRIX, VECTOR, [MATRIX, MATRIX], 2.0)
    (ps, ours), (qs, theirs) = (made(lib, "Adafactor", kwargs, starts=starts) for lib in (tenon, torch))
    learn(ps, ours, 3)
    learn(qs, theirs, 3)
    assert_same(ps, qs, 1e-12)
    torch.save(theirs.state_dict(), tmp_path / "state.pt")
    _, again = made(tenon, "Adafactor", kwargs, starts=starts)
    again.param_groups[0]["params"] = ps
    again.load_state_dict(tenon.load(str(tmp_path / "state.pt")))
    assert [list(s) for s in again.state_dict()["state"].values()] == [
        list(s) for s in theirs.state_dict()["state"].values()
    ]
    learn(ps, again, 3, 3)
    learn(qs, theirs, 3, 3)
    assert_same(ps, qs, 1e-12)


MUON = [
    {},
    {"lr": 0.1, "nesterov": False, "weight_decay": 0, "adjust_lr_fn": "match_rms_adamw"},
    {"lr": 0.1, "momentum": 0.5, "ns_steps": 3, "adjust_lr_fn": "spectral_unclamped"},
]


@needs_torch
@pytest.mark.parametrize("kwargs", MUON)
def test_muon_takes_pytorchs_steps(kwargs):
    tall = [list(row) for row in zip(*MATRIX)]
    (ps, ours), (qs, theirs) = (made(lib, "Muon", kwargs, "float32", (MATRIX, tall)) for lib in (tenon, torch))
    learn(ps, ours, 4)
    learn(qs, theirs, 4)
    # The direction has the digits of bfloat16.
    assert_same(ps, qs, 4 * kwargs.get("lr", 1e-3) * 2**-6)
    assert [list(s) for s in ours.state_dict()["state"].values()] == [["momentum_buffer"]] * 2


LBFGS = [
    {"lr": 0.1, "max_iter": 4},
    {"lr": 0.05, "max_iter": 7, "history_size": 2},
    {"line_search_fn": "strong_wolfe", "max_iter": 5},
    {"line_search_fn": "strong_wolfe", "max_iter": 4, "history_size": 2, "lr": 0.5},
]


def valley(p):
    x = p * p.new_tensor([1.0, 0.5, 2.0])
    a, b, c = x[0], x[1], x[2]
    return (1 - a) ** 2 + 10 * (b - a**2) ** 2 + 5 * (c - b**2) ** 2 + c.cosh()


def minimize(library, kwargs, p, optimizer, count, sign=1):
    calls = []

    def closure():
        calls.append(1)
        optimizer.zero_grad()
        loss = sign * valley(p)
        loss.backward()
        return loss

    losses = [optimizer.step(closure).item() for _ in range(count)]
    return losses, len(calls)


@needs_torch
@pytest.mark.parametrize("kwargs", LBFGS)
@pytest.mark.parametrize("maximize", [False, True])
def test_lbfgs_takes_pytorchs_steps(kwargs, maximize, tmp_path):
    kwargs, sign = {**kwargs, "maximize": maximize}, -1 if maximize else 1
    start = ([1.0, -2.0, 3.0],)
    ((p,), ours), ((q,), theirs) = (made(lib, "LBFGS", kwargs, starts=start) for lib in (tenon, torch))
    ours_at, theirs_at = minimize(tenon, kwargs, p, ours, 2, sign), minimize(torch, kwargs, q, theirs, 2, sign)
    assert ours_at[1] == theirs_at[1] and ours_at[0] == pytest.approx(theirs_at[0], rel=1e-9)
    assert_same([p], [q], 1e-9)
    torch.save(theirs.state_dict(), tmp_path / "state.pt")
    state = tenon.load(str(tmp_path / "state.pt"))
    assert set(ours.state_dict()["state"][0]) == set(state["state"][0])
    _, again = made(tenon, "LBFGS", kwargs, starts=start)
    again.load_state_dict(state)
    again.param_groups[0]["params"][0].data.copy_(p)
    (r,) = again.param_groups[0]["params"]
    minimize(tenon, kwargs, r, again, 2, sign)
    minimize(torch, kwargs, q, theirs, 2, sign)
    assert_same([r], [q], 1e-8)


@needs_torch
def test_lbfgs_of_complex_parameters_and_without_gradients():
    def run(library):
        p = library.tensor([1 + 2j, -0.5j], dtype=library.complex128, requires_grad=True)
        unused = library.ones(2, dtype=library.float64, requires_grad=True)
        optimizer = library.optim.LBFGS([p, unused], lr=0.1, max_iter=3)

        def closure():
            optimizer.zero_grad()
            loss = ((p - 1).abs() ** 2).sum() + (p.abs() ** 4).sum()
            loss.backward()
            return loss

        optimizer.step(closure)
        optimizer.step(closure)
        assert unused.tolist() == [1, 1]
        return p.tolist()

    assert run(tenon) == pytest.approx(run(torch), rel=1e-9)


def parameter(shape=(3,)):
    return tenon.ones(shape, requires_grad=True)


@pytest.mark.parametrize(
    "make, error, text",
    [
        (lambda: optim.Adafactor([parameter()], d=0.5), ValueError, "Clipping threshold d should be >= 1 but is: 0.5"),
        (lambda: optim.Adafactor([parameter()], beta2_decay=1), ValueError, "beta2_decay should be <= 0 but is: 1"),
        (lambda: optim.Muon([parameter()]), ValueError, "Muon only supports 2D parameters"),
        (lambda: optim.Muon([parameter((2, 2))], adjust_lr_fn="x"), ValueError, "function x is not supported"),
        (lambda: optim.LBFGS([parameter()], lr=-1), ValueError, "Invalid learning rate: -1"),
        (
            lambda: optim.LBFGS([{"params": [parameter()]}, {"params": [parameter()]}]),
            ValueError,
            "doesn't support per-parameter options",
        ),
        (
            lambda: optim.LBFGS([parameter()], line_search_fn="wolfe").step(lambda: parameter().sum()),
            RuntimeError,
            "only 'strong_wolfe' is supported",
        ),
    ],
)
def test_errors(make, error, text):
    with pytest.raises(error, match=text):
        make()


def test_complex_parameters_are_refused():
    p = tenon.ones(2, 2, dtype=tenon.complex64, requires_grad=True)
    p.grad = tenon.ones(2, 2, dtype=tenon.complex64)
    for name in ("Adafactor", "Muon"):
        with pytest.raises(RuntimeError, match=f"{name} does not support complex parameters"):
            getattr(optim, name)([p]).step()
