"""tenon.fuse() of functions as users write them, with gradients, beside the functions themselves and PyTorch's."""

import math

import pytest
import tenon

try:
    import torch
except ImportError:
    torch = None

B, H, S, D = 2, 3, 6, 8
N = H * D


def contrastive_loss(t, q, k):
    q, k = (x / x.square().sum(-1, keepdim=True).sqrt().clamp(min=1e-6) for x in (q, k))
    logits = q @ k.transpose(0, 1) / 0.07
    logp = t.nn.functional.log_softmax(logits, -1)
    return -logp.gather(-1, t.arange(q.shape[0]).unsqueeze(-1)).mean()


def dice_loss(t, x, y):
    p = t.sigmoid(x).flatten(1)
    y = t.sigmoid(y).flatten(1)
    return (1 - (2 * (p * y).sum(-1) + 1) / (p.sum(-1) + y.sum(-1) + 1)).mean()


def distillation(t, student, teacher):
    a = t.nn.functional.log_softmax(student / 2.0, -1)
    b = t.nn.functional.softmax(teacher.detach() / 2.0, -1)
    return (b * (b.clamp(min=1e-8).log() - a)).sum(-1).mean() * 4


def triplet(t, a, p, n):
    near, far = ((a - p).square().sum(-1) + 1e-6).sqrt(), ((a - n).square().sum(-1) + 1e-6).sqrt()
    return t.relu(near - far + 0.5).mean()


def wing_loss(t, x, y):
    e = (x - y).abs()
    return t.where(e < 0.6, 0.6 * t.log1p(e / 0.3), e - (0.6 - 0.6 * math.log(3.0))).mean(-1)


def alibi_attention(t, q, k, v):
    place = t.arange(S).to(q.dtype)
    slope = t.tensor([0.5, 0.25, 0.125]).reshape(H, 1, 1)
    scores = q @ k.transpose(-2, -1) / math.sqrt(D) + slope * (place - place.unsqueeze(-1))
    late = place > place.unsqueeze(-1)
    return t.nn.functional.softmax(scores.masked_fill(late, float("-inf")), -1) @ v


def capped_window_attention(t, q, k, v):
    scores = 5 * t.tanh(q @ k.transpose(-2, -1) / 5)
    i = t.arange(S)
    far = (i - i.unsqueeze(-1)).abs() > 2
    return (t.softmax(scores.masked_fill(far, -1e9), -1) @ v).transpose(1, 2).reshape(B, S, N)


def linear_attention(t, q, k, v):
    q, k = t.nn.functional.elu(q) + 1, t.nn.functional.elu(k) + 1
    return (q @ (k.transpose(-2, -1) @ v)) / (q @ k.sum(-2).unsqueeze(-1) + 1e-6)


def rotary_heads(t, x, angle):
    cos, sin = t.cat([angle.cos(), angle.cos()], -1), t.cat([angle.sin(), angle.sin()], -1)
    half = t.cat([-x[..., D // 2 :], x[..., : D // 2]], -1)
    return x * cos + half * sin


def rotary_by_halves(t, x, angle):
    a, b = x.chunk(2, -1)
    cos, sin = angle.cos(), angle.sin()
    return t.cat([a * cos - b * sin, b * cos + a * sin], -1) * 0.5


def three_parts(t, x, y):
    parts = t.cat([x[:, :2] * 2 + 1, t.sigmoid(y[:, :3]) * y[:, 3:6], x[:, 3:]], 1)
    return t.where(parts > 0, parts, 0.1 * parts) * y[:, : parts.shape[1]] + x[:, :1]


def changed_part(t, x, y):
    a = x * 2 + 1
    both = t.cat([a, y * 3], -1)
    a.mul_(5)
    return both * t.cat([y, x], -1) + a.sum(-1, keepdim=True)


def softmax_in_heads(t, x, scale, bias):
    heads = t.softmax(x.reshape(B, S, H, D), -1)
    return t.tanh(heads.reshape(B, S, N) * scale + bias) * x


def group_norm_gate(t, x, weight, bias, gate):
    y = t.nn.functional.layer_norm(x.reshape(B, H, -1), (N // H * S,)).reshape(B, N, S)
    return t.nn.functional.silu(y * weight + bias) * gate + x


def group_norm_silu(t, x, weight, bias):
    return t.nn.functional.silu(t.nn.functional.group_norm(x, H, weight, bias)) + x


def batch_norm_by_hand(t, x, weight, bias):
    mean = x.mean((0, 2), keepdim=True)
    var = (x - mean).square().mean((0, 2), keepdim=True)
    return t.relu((x - mean) * t.rsqrt(var + 1e-5) * weight.reshape(1, -1, 1) + bias.reshape(1, -1, 1))


def standardized_weights(t, w):
    flat = w.reshape(w.shape[0], -1)
    flat = (flat - flat.mean(1, keepdim=True)) / (flat.std(1, keepdim=True) + 1e-5)
    return flat.reshape(w.shape) * 0.7 + w.var((1, 2)).reshape(-1, 1, 1)


def lstm_cell(t, gates, c):
    i, f, g, o = gates.chunk(4, -1)
    c = t.sigmoid(f + 1) * c + t.sigmoid(i) * t.tanh(g)
    return t.cat([t.sigmoid(o) * t.tanh(c), c], -1)


def highway(t, x, h, w):
    gate = t.sigmoid(x * w - 1)
    return gate * t.nn.functional.gelu(h) + (1 - gate) * x


def mixed_images(t, x, mean, std):
    mixed = 0.7 * x + 0.3 * x.flip(0)
    gray = mixed.mean(1, keepdim=True)
    jittered = (gray + (mixed - gray) * 1.4).clamp(0.0, 1.0)
    return (jittered - mean.reshape(1, -1, 1)) / std.abs().reshape(1, -1, 1).clamp(min=0.1)


def heat_step(t, u):
    inner = u[:, 1:-1] + 0.1 * (u[:, 2:] - 2 * u[:, 1:-1] + u[:, :-2])
    return t.cat([u[:, :1], inner, u[:, -1:]], 1) * 0.99


def pair_energy(t, x):
    d = x.unsqueeze(1) - x.unsqueeze(0)
    r2 = (d * d).sum(-1) + t.eye(x.shape[0]) * 1e3 + 0.5
    inverse = (1.0 / r2) ** 3
    return 2 * (inverse * inverse - inverse).sum()


def leapfrog(t, q, p):
    for _ in range(2):
        half = p - 0.05 * t.sin(q)
        q = q + 0.1 * half
        p = half - 0.05 * t.sin(q)
    return t.stack([q, p])


def soft_argmax(t, x):
    p = t.softmax(x.flatten(1) * 3, -1).reshape(x.shape)
    grid = t.arange(x.shape[-1]).to(x.dtype)
    return (p * grid).sum((1, 2)), p


FUNCTIONS = {
    contrastive_loss: [(S, D), (S, D)],
    dice_loss: [(B, S, D), (B, S, D)],
    distillation: [(B, D), (B, D)],
    triplet: [(B, D)] * 3,
    wing_loss: [(B, D), (B, D)],
    alibi_attention: [(B, H, S, D)] * 3,
    capped_window_attention: [(B, H, S, D)] * 3,
    linear_attention: [(B, H, S, D)] * 3,
    rotary_heads: [(B, H, S, D), (S, D // 2)],
    rotary_by_halves: [(B, S, H, D), (S, 1, D // 2)],
    three_parts: [(B, 7), (B, 9)],
    changed_part: [(B, D), (B, D)],
    softmax_in_heads: [(B, S, N), (N,), (S, N)],
    group_norm_gate: [(B, N, S), (N, 1), (N, 1), (B, N, S)],
    group_norm_silu: [(B, N, S), (N,), (N,)],
    batch_norm_by_hand: [(B, N, S), (N,), (N,)],
    standardized_weights: [(H, D, 3)],
    lstm_cell: [(B, 4 * D), (B, D)],
    highway: [(B, D), (B, D), (D,)],
    mixed_images: [(B, H, S), (H,), (H,)],
    heat_step: [(B, S + 3)],
    pair_energy: [(S, 3)],
    leapfrog: [(B, D), (B, D)],
    soft_argmax: [(B, S, D)],
}


def values(function, sizes):
    """The same numbers in each library."""
    start = len(function.__name__)
    return [
        [math.sin(start + 1.7 * i + 0.37 * i * i + k) for i in range(math.prod(size))] for k, size in enumerate(sizes)
    ]


def arguments(t, function):
    sizes = FUNCTIONS[function]
    made = [t.tensor(v).reshape(size) for v, size in zip(values(function, sizes), sizes)]
    return [x.requires_grad_() for x in made]


def results_and_gradients(t, results, leaves):
    results = results if isinstance(results, tuple) else (results,)
    total = sum((y * t.arange(float(y.numel())).reshape(y.shape).cos()).sum() for y in results)
    return [*results, *t.autograd.grad(total, leaves, allow_unused=True)]


def numbers(t, tensors):
    return [None if x is None else t.zeros(x.shape).add(x.detach()).reshape(-1).tolist() for x in tensors]


def all_results(t, functions_of, results):
    return {
        f.__name__: numbers(t, results_and_gradients(t, results[f.__name__], functions_of[f.__name__]))
        for f in FUNCTIONS
    }


@pytest.fixture(scope="module")
def fused():
    # One function, so that one library is built.
    def run(inputs):
        return {f.__name__: f(tenon, *inputs[f.__name__]) for f in FUNCTIONS}

    inputs = {f.__name__: arguments(tenon, f) for f in FUNCTIONS}
    with tenon.no_grad():
        forward = {
            name: numbers(tenon, y if isinstance(y, tuple) else (y,)) for name, y in tenon.fuse(run)(inputs).items()
        }
    return forward, all_results(tenon, inputs, tenon.fuse(run)(inputs))


def same(made, expected):
    assert len(made) == len(expected)
    for a, b in zip(made, expected):
        assert (a is None) == (b is None)
        if a is not None:
            assert a == pytest.approx(b, rel=2e-4, abs=2e-5, nan_ok=True)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_results_and_gradients(fused, function):
    forward, made = (one[function.__name__] for one in fused)
    inputs = arguments(tenon, function)
    same(made, numbers(tenon, results_and_gradients(tenon, function(tenon, *inputs), inputs)))
    same(forward, made[: len(forward)])
    if torch is not None:
        inputs = arguments(torch, function)
        same(made, numbers(torch, results_and_gradients(torch, function(torch, *inputs), inputs)))
