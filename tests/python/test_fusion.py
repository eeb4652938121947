"""Compositions that fuse, and tenon.fuse(), against the operators one by one."""

import re
import warnings

import pytest
import tenon
from tenon.nn import functional as F

YAML = """
- func: fusiontest::rms_norm(Tensor self, Tensor weight, float eps=1e-06) -> Tensor
  over: -1
  columns: weight
  rowwise: self * rsqrt(mean(square(self)) + eps) * weight

- func: fusiontest::gated_norm(Tensor x, Tensor weight, Tensor gate) -> Tensor
  composite: rms_norm(x, weight) * silu(gate)

- func: fusiontest::add_norm(Tensor x, Tensor y, Tensor? weight=None, Tensor? bias=None) -> Tensor
  composite: h = x + y; layer_norm(h, {h.size(-1)}, weight, bias)

- func: fusiontest::masked_softmax(Tensor x, Tensor mask, float scale, int dim=-1) -> Tensor
  composite: softmax((x * scale).masked_fill(mask, -inf), dim)

- func: fusiontest::cross_entropy(Tensor x, Tensor target, float smoothing=0.1) -> Tensor
  composite: |
    logp = log_softmax(x, -1);
    nll = -logp.gather(-1, target.unsqueeze(-1)).squeeze(-1);
    ((1 - smoothing) * nll - smoothing * logp.mean({-1})).mean()

- func: fusiontest::perceptron(Tensor x, Tensor w, Tensor b) -> Tensor
  columns: b
  composite: h = matmul(x, w) + b; matmul(gelu(h) * sigmoid(h), w.t()) * 0.5 + x

- func: fusiontest::step(Tensor p, Tensor g, Tensor m, float lr, int n) -> (Tensor, Tensor)
  composite: |
    h = g * clamp_max(1.0 / (sqrt((g * g).sum()) + 1e-6), 1.0);
    m1 = m * 0.9 + h * 0.1;
    std::make_tuple(p - m1 / (1 - std::pow(0.9, n)) * lr, m1)
"""


@pytest.fixture(scope="module")
def libraries():
    entries = YAML[YAML.index("- func: fusiontest::gated_norm") :].replace("fusiontest::", "fusiontest_plain::")
    plain = re.sub(r"\n  composite:", r"\n  fuse: False\n  composite:", entries)
    fused = tenon.load_operators(YAML + "\n" + plain.replace("rms_norm(", "fusiontest::rms_norm("))
    return fused, tenon.ops.fusiontest_plain


def randn(*sizes, dtype=tenon.float32):
    return tenon.randn(*sizes, dtype=tenon.float64).to(dtype)


def run(operator, args):
    """The results, the gradients of a weighted sum, and the gradients of a sum of these."""
    leaves = [x.detach().requires_grad_() if isinstance(x, tenon.Tensor) and x.is_floating_point() else x for x in args]
    results = operator(*leaves)
    results = results if isinstance(results, tuple) else (results,)
    inputs = [x for x in leaves if isinstance(x, tenon.Tensor) and x.requires_grad]
    total = sum((y * tenon.arange(y.numel(), dtype=y.dtype).reshape(y.shape).cos()).sum() for y in results)
    grads = tenon.autograd.grad(total, inputs, create_graph=True)
    second = tenon.autograd.grad(sum((g * g).sum() for g in grads), inputs, allow_unused=True)
    nodes = [y.grad_fn.name() for y in results]
    return [*results, *grads, *(g for g in second if g is not None)], nodes


def same(a, b, tolerance):
    assert a.shape == b.shape and a.dtype == b.dtype
    scale = float(b.detach().abs().max()) if b.numel() else 0
    assert tenon.allclose(a, b, rtol=tolerance, atol=tolerance * max(scale, 1e-3), equal_nan=True)


N, D = 7, 33
CASES = {
    "gated_norm": lambda d: (randn(N, D, dtype=d), randn(D, dtype=d), randn(N, D, dtype=d)),
    "add_norm": lambda d: (randn(N, D, dtype=d), randn(N, D, dtype=d), randn(D, dtype=d)),
    "masked_softmax": lambda d: (randn(N, D, dtype=d), randn(N, D) > 1, 0.3, 0),
    "cross_entropy": lambda d: (randn(N, D, dtype=d), tenon.randint(0, D, (N,)), 0.2),
    "perceptron": lambda d: (randn(N, D, dtype=d), randn(D, 5, dtype=d), randn(5, dtype=d)),
    "step": lambda d: (randn(N, D, dtype=d), randn(N, D, dtype=d), randn(N, D, dtype=d), 0.1, 3),
}


@pytest.mark.parametrize("dtype", [tenon.float64, tenon.float32])
@pytest.mark.parametrize("name", CASES)
def test_results_and_gradients_of_the_operators(libraries, name, dtype):
    tenon.manual_seed(0)
    fused, plain = libraries
    args = CASES[name](dtype)
    values, nodes = run(getattr(fused, name), args)
    expected, _ = run(getattr(plain, name), args)
    # The kernel ran, unless operators come last: the mean over rows, the product's residual.
    if name not in ("cross_entropy",):
        assert "Fused" in nodes[0], nodes
    assert len(values) == len(expected)
    for a, b in zip(values, expected):
        same(a, b, 1e-10 if dtype == tenon.float64 else 2e-4)


def test_half_types_are_rounded_once(libraries):
    tenon.manual_seed(0)
    fused, plain = libraries
    args = CASES["gated_norm"](tenon.bfloat16)
    exact = plain.gated_norm(*(x.double() for x in args))
    error = [float((f(*args).double() - exact).abs().max()) for f in (fused.gated_norm, plain.gated_norm)]
    assert fused.gated_norm(*args).dtype == tenon.bfloat16
    assert error[0] <= error[1] and error[0] < 0.04


X, W = randn(N, D), randn(D)
OTHERS = {
    "a value per row that is broadcast": ("gated_norm", (randn(N, 1), randn(1), X)),
    "the norm's shape is not the result's": ("gated_norm", (randn(1, D), W, X)),
    "a gate that is broadcast": ("gated_norm", (X, W, randn(D))),
    "another rank": ("gated_norm", (randn(2, N, D), W, X)),
    "dtypes": ("gated_norm", (X, W, X.double())),
    "integers": ("add_norm", (X, tenon.ones(N, D, dtype=tenon.int64))),
    "an empty tensor": ("masked_softmax", (X[:0], X[:0] > 0, 1.0, -1)),
    "a strided tensor": ("gated_norm", (randn(D, N).t(), W, randn(D, N).t())),
    "a mask that is broadcast": ("masked_softmax", (X, X[:1] > 0, 1.0, -1)),
    "no dimensions": ("masked_softmax", (X[0, 0], X[0, 0] > 0, 1.0, -1)),
    "a bias of another shape": ("perceptron", (X, randn(D, 5), randn(N, 5))),
    "a target of another shape": ("cross_entropy", (randn(2, N, D), tenon.randint(0, D, (2, N)), 0.1)),
}


@pytest.mark.parametrize("case", OTHERS)
def test_other_calls_are_those_of_the_operators(libraries, case):
    fused, plain = libraries
    name, args = OTHERS[case]
    with tenon.no_grad():
        same(getattr(fused, name)(*args), getattr(plain, name)(*args), 1e-5)


ERRORS = {
    "shapes": ("gated_norm", (X, W, randn(N, D + 1))),
    "a weight": ("gated_norm", (X, randn(D + 1), X)),
    "a dimension": ("masked_softmax", (X, X > 0, 1.0, 2)),
    "a mask": ("masked_softmax", (X, X, 1.0, -1)),
    "a target": ("cross_entropy", (X, tenon.zeros(N), 0.1)),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors_are_those_of_the_operators(libraries, case):
    fused, plain = libraries
    name, args = ERRORS[case]
    messages = []
    for library in (fused, plain):
        with pytest.raises((RuntimeError, IndexError)) as raised:
            getattr(library, name)(*args)
        messages.append(str(raised.value).replace("fusiontest_plain", "fusiontest"))
    assert messages[0] == messages[1]


def test_fused_functions():
    tenon.manual_seed(0)
    scale = randn(D)

    @tenon.fuse
    def block(x, y, *, power=2.0):
        a, b = x[..., : D // 3], x[..., D // 3 :]
        turned = tenon.cat([-b, a], -1)
        return F.softmax((x * 0.5 + turned * scale).clamp(max=1.5), dim=-1) * power, (x + y).mean(-1)

    x, y = randn(N, D).requires_grad_(), randn(N, D)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made, expected = block(x, y, power=2.0), block.__wrapped__(x, y)
        block(y, x, power=2.0)
    assert type(made) is tuple and "Fused" in made[0].grad_fn.name()
    for a, b in zip(made, expected):
        same(a, b, 1e-5)
    grads = [tenon.autograd.grad((a * a).sum() + b.sum(), x)[0] for a, b in (made, expected)]
    same(*grads, 1e-4)
    with pytest.warns(RuntimeWarning, match=r"block is traced again: power is 3.0, was 2.0"):
        same(block(x, y, power=3.0)[0], expected[0] * 1.5, 1e-4)


def test_a_function_that_is_fused_in_the_background():
    calls = []

    @tenon.fuse(background=True)
    def block(x, y):
        calls.append(None)
        return tenon.sigmoid(x * 0.731) * y + 1

    x, y = tenon.randn(3, 4), tenon.randn(3, 4)
    expected = tenon.sigmoid(x * 0.731) * y + 1
    assert tenon.allclose(block(x, y), expected)
    block.wait()
    before = len(calls)
    assert tenon.allclose(block(x, y), expected)
    assert len(calls) == before  # the operator ran, not the function


def test_the_next_call_raises_what_a_build_in_the_background_did(monkeypatch):
    monkeypatch.setenv("CXX", "no-such-compiler")
    block = tenon.fuse(lambda x: x * 2.0625, background=True)
    x = tenon.ones(2)
    with pytest.raises(RuntimeError, match="cannot run no-such-compiler"):
        block(x)  # raises already if the thread was quick
        block.wait()
        block(x)


def test_a_fused_module():
    tenon.manual_seed(0)
    module = tenon.nn.Sequential(tenon.nn.Linear(D, 16), tenon.nn.Tanh(), tenon.nn.LayerNorm(16))
    fused, x = tenon.fuse(module), randn(N, D)
    made = fused(x)
    same(made, module(x), 1e-5)
    grads = [tenon.autograd.grad((y * y * y).sum(), module.parameters()) for y in (made, module(x))]
    for a, b in zip(*grads):
        same(a, b, 1e-4)


def test_operators_that_are_called_between_kernels():
    tenon.manual_seed(0)
    library = tenon.library.Library("fusiontest_between", "DEF")
    library.define("twice(Tensor x) -> Tensor")
    library.impl("twice", lambda x: x * 2, "CompositeImplicitAutograd")
    norms = [tenon.nn.BatchNorm1d(D) for _ in range(2)]

    def block(norm, x, total, scale):
        y = norm(tenon.relu(x) * 2)
        total.add_(y.detach().abs() + 1)
        wave = tenon.exp(tenon.ops.fusiontest_between.twice(y) * 1j) * scale
        return (wave * wave.conj()).real + wave.real * total, total * 2

    fused = tenon.fuse(lambda *args: block(norms[0], *args))
    inputs = [randn(N, D).requires_grad_(), tenon.zeros(N, D), randn(D).requires_grad_()]
    others = [inputs[0], tenon.zeros(N, D), inputs[2]]
    for _ in range(2):
        made, expected = fused(*inputs), block(norms[1], *others)
        for a, b in zip(made, expected):
            same(a, b, 1e-5)
        grads = [
            tenon.autograd.grad((results[0] ** 2).sum(), [inputs[0], inputs[2], *norm.parameters()])
            for results, norm in ((made, norms[0]), (expected, norms[1]))
        ]
        for a, b in zip(*grads):
            same(a, b, 1e-4)
        same(inputs[1], others[1], 1e-5)
        for name, own in norms[0].state_dict().items():
            same(own.float(), norms[1].state_dict()[name].float(), 1e-5)
    assert len(fused._variants) == 1


def test_what_a_trace_cannot_have():
    def reads(x):
        if x.sum() > 0:
            return x * 2
        return x

    def numbers(x):
        return x * x.max().item()

    def writes(x):
        part = x[0]
        x.mul_(2)
        return part

    def gives(x):
        return 3

    errors = {
        reads: r"test_fusion.py:\d+: `if x.sum\(\) > 0:`: aten::\w+ depends on the values",
        numbers: r"`return x \* x.max\(\).item\(\)`: aten::item depends on the values",
        writes: r"test_fusion.py:\d+: `x.mul_\(2\)`: aten::mul_\S* writes to a tensor that shares memory",
    }
    for function, message in errors.items():
        with pytest.raises(RuntimeError, match=message):
            tenon.fuse(function)(X)
    with pytest.raises(TypeError, match="gives a tensor or several, got int"):
        tenon.fuse(gives)(X)
