"""tenon.fuse() of functions as programs write them: losses, norms, gates, masks and steps, against the functions."""

import math

import pytest
import tenon
from tenon import nn
from tenon.nn import functional as F

B, H, S, D = 2, 3, 5, 6
N = H * D


def parameter(*sizes):
    return tenon.randn(*sizes).requires_grad_()


def rotary(x, cos, sin):
    a, b = x.chunk(2, dim=-1)
    return x * cos + tenon.cat((-b, a), dim=-1) * sin


def interleaved_rotary(x, angle):
    even, odd = x[..., 0::2], x[..., 1::2]
    return tenon.stack([even * angle.cos() - odd * angle.sin(), odd * angle.cos() + even * angle.sin()], -1).flatten(-2)


def gated_chunks(x):
    a, b = x.chunk(2, dim=-1)
    c, d = x.split(x.shape[-1] // 2, dim=-1)
    return F.silu(a) * b + c * F.gelu(d)


def causal_attention(q, k, v):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    mask = tenon.ones(q.shape[-2], q.shape[-2], dtype=tenon.bool).tril()
    return F.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1) @ v


def huber(a, b, delta=0.7):
    error = a - b
    return tenon.where(error.abs() < delta, 0.5 * error * error, delta * (error.abs() - 0.5 * delta)).mean()


def standardized_in_double(x):
    wide = x.to(tenon.float64)
    return ((wide - wide.mean()) / (wide.std() + 1e-5)).to(x.dtype)


def scaled_without_gradient(x):
    with tenon.no_grad():
        scale = x.abs().amax(-1, keepdim=True)
    rounded = tenon.round(x * 4) / 4
    return (x / scale).tanh() * scale + (x + (rounded - x).detach())


def chosen_by_integers(x, i):
    return tenon.where((i % 2 == 0) & (x > 0), x * 2, x.abs()) + i.to(x.dtype)


def step_with_local_changes(w, g, m):
    m = m.clone().mul_(0.9).add_(g, alpha=0.1)
    size = m.abs().clamp_(min=1e-3)
    total = tenon.zeros(w.shape)
    total += m.div(size)
    return w.sub(total, alpha=0.1), m


def positions(x, index, table):
    return F.layer_norm(x + table[: x.shape[1]] + F.embedding(index, table), (x.shape[-1],))


PROGRAMS = {
    rotary: lambda: (parameter(B, H, S, D), tenon.randn(S, D), tenon.randn(S, D)),
    interleaved_rotary: lambda: (parameter(B, S, H, D), parameter(S, 1, D // 2)),
    gated_chunks: lambda: (parameter(B, S, 2 * D),),
    causal_attention: lambda: tuple(parameter(B, H, S, D) for _ in range(3)),
    huber: lambda: (parameter(B, S), tenon.randn(B, S)),
    standardized_in_double: lambda: (parameter(B, N),),
    scaled_without_gradient: lambda: (parameter(B, N),),
    chosen_by_integers: lambda: (parameter(B, N), tenon.randint(0, 9, (B, N))),
    step_with_local_changes: lambda: tuple(tenon.randn(B, N) for _ in range(3)),
    positions: lambda: (parameter(B, S, N), tenon.randint(0, S, (B, S)), parameter(S, N)),
}


def same(a, b):
    assert a.shape == b.shape and a.dtype == b.dtype
    assert tenon.allclose(a, b, rtol=1e-4, atol=1e-5)


def test_programs():
    # One function, so that one library is built.
    tenon.manual_seed(0)
    arguments = {function.__name__: make() for function, make in PROGRAMS.items()}

    def all_of_them(arguments):
        return {function.__name__: function(*arguments[function.__name__]) for function in PROGRAMS}

    made, expected = tenon.fuse(all_of_them)(arguments), all_of_them(arguments)
    assert made.keys() == expected.keys() and type(made["step_with_local_changes"]) is tuple
    for name, result in made.items():
        results = result if isinstance(result, tuple) else (result,)
        wanted = expected[name] if isinstance(result, tuple) else (expected[name],)
        for a, b in zip(results, wanted):
            same(a, b)
        leaves = [x for x in arguments[name] if x.requires_grad]
        if leaves:
            weight = tenon.arange(float(result.numel())).reshape(result.shape).cos()
            for a, b in zip(*(tenon.autograd.grad((y * weight).sum(), leaves) for y in (result, expected[name]))):
                same(a, b)


def test_parameters_and_modes_of_modules_are_those_of_the_call():
    tenon.manual_seed(0)
    module = nn.Sequential(nn.Linear(N, N), nn.Dropout(0.5), nn.Tanh())
    fused, x = tenon.fuse(module.eval()), parameter(B, N)
    same(fused(x), module(x))
    same(fused(x), module(x))
    module[0].weight = nn.Parameter(tenon.randn(N, N))
    same(fused(x), module(x))
    grads = [tenon.autograd.grad(f(x).sum(), [x, *module.parameters()]) for f in (fused, module)]
    for a, b in zip(*grads):
        same(a, b)
    module.train()
    with pytest.warns(RuntimeWarning, match=r"Sequential is traced again: a module's train\(\) or eval\(\) was called"):
        dropped = fused(x)
    assert not tenon.equal(fused(x), dropped)


def test_fused_functions_in_fused_functions():
    inner = tenon.fuse(lambda x: x * 0.5 + 1)
    outer = tenon.fuse(lambda x: inner(x) * tenon.sigmoid(x))
    x = parameter(B, N)
    same(outer(x), (x * 0.5 + 1) * tenon.sigmoid(x))
    assert not inner._variants
    # Batches of these shapes, and derivatives of derivatives.
    batch = tenon.randn(3, B, N)
    same(tenon.vmap(outer)(batch), (batch * 0.5 + 1) * tenon.sigmoid(batch))
    first = [tenon.autograd.grad(y.sum(), x, create_graph=True)[0] for y in (outer(x), outer.__wrapped__(x))]
    same(*(tenon.autograd.grad((g * g).sum(), x)[0] for g in first))
    assert len(outer._variants) == 1
