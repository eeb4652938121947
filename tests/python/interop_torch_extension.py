"""Operators of one's own as an extension of PyTorch; run by build/venv-oracle's Python (test_interop.py)."""

import itertools

import torch
from tenon import OperatorError
from tenon.interop import torch as interop
from torch import func

OPERATORS = """
- func: extension::swiglu(Tensor x, Tensor gate, *, float limit=7.0) -> Tensor
  pointwise: where(gate > limit, x * 0.0, x * gate * sigmoid(gate))
- func: extension::plus(Tensor self, Tensor other, Scalar alpha) -> Tensor
  pointwise: self + other * alpha
- func: extension::both(Tensor self) -> (Tensor sine, Tensor cosine)
  pointwise: {sine: sin(self), cosine: cos(self)}
- func: extension::softmax(Tensor self, int dim) -> Tensor
  over: dim
  rowwise: e = exp(self - detach(max(self))); e / sum(e)
- func: extension::cross_entropy(Tensor self, Tensor target, int ignore_index=-100) -> Tensor
  over: -1
  rows: target
  rowwise: t = self - detach(max(self)); where(target == ignore_index, 0, log(sum(exp(t))) - pick(t, target))
- func: extension::layer_norm(Tensor input, SymInt[] shape, Tensor? weight=None, Tensor? bias=None, float eps=1e-05) -> (Tensor out, Tensor mean, Tensor rstd)
  over: shape
  columns: [weight, bias]
  rowwise:
    mean: mean(input)
    rstd: rsqrt(mean(square(input - mean)) + eps)
    out: (input - mean) * rstd * (weight ?? 1) + (bias ?? 0)
"""
mine = interop.build(OPERATORS)
assert interop.build(OPERATORS) is mine
torch.manual_seed(0)


def random(*shape):
    return torch.randn(shape, dtype=torch.float64, requires_grad=True)


def swiglu(x, gate, limit=7.0):
    return torch.where(gate > limit, x * 0.0, x * gate * torch.sigmoid(gate))


def cross_entropy(x, target):
    logits = x.reshape(-1, x.shape[-1]).log_softmax(-1)
    picked = logits.gather(-1, target.reshape(-1, 1).clamp(min=0)).squeeze(-1)
    return torch.where(target == -100, 0.0, -picked.reshape(target.shape))


def layer_norm(x, shape, weight, bias):
    dims = tuple(range(-len(shape), 0))
    mean = x.mean(dims, keepdim=True)
    rstd = torch.rsqrt((x - mean).square().mean(dims, keepdim=True) + 1e-5)
    out = (x - mean) * rstd * (1 if weight is None else weight) + (0 if bias is None else bias)
    return out, mean.flatten(-len(shape)).squeeze(-1), rstd.flatten(-len(shape)).squeeze(-1)


target = torch.tensor([1, 0, -100, 4])
CASES = [
    (mine.swiglu, swiglu, (random(3, 4), random(3, 4))),
    (mine.swiglu, swiglu, (random(2, 1, 4), random(3, 1))),
    (mine.plus, lambda x, y, a: x + y * a, (random(3), random(2, 1), 2.5)),
    (mine.both, lambda x: (x.sin(), x.cos()), (random(3),)),
    (mine.softmax, torch.softmax, (random(3, 5), -1)),
    (mine.softmax, torch.softmax, (random(2, 3, 5), 1)),
    (mine.cross_entropy, cross_entropy, (random(4, 5), target)),
    (mine.layer_norm, layer_norm, (random(2, 3, 5), [3, 5], random(3, 5), random(3, 5))),
    (mine.layer_norm, layer_norm, (random(4, 5), [5], random(5), None)),
]


def is_floating(value):
    return isinstance(value, torch.Tensor) and value.is_floating_point()


def detached(values):
    return [v.detach() if is_floating(v) else v for v in values]


def summed(function):
    """One number of all results, so that each has a gradient of its own."""

    def total(*args):
        results = function(*args)
        results = results if isinstance(results, tuple) else (results,)
        return sum((i + 1) * r.sin().sum() for i, r in enumerate(results))

    return total


def check_transforms(operator, reference, args):
    """vmap over every set of tensors, in the first and the last dimension, around and within the gradient."""
    floating = tuple(i for i, a in enumerate(args) if is_floating(a))
    tensors = [i for i, a in enumerate(args) if isinstance(a, torch.Tensor)]
    for chosen in itertools.product([None, 0, -1], repeat=len(tensors)):
        if set(chosen) == {None}:
            continue
        dims, given = [None] * len(args), detached(args)
        for i, dim in zip(tensors, chosen):
            if dim is None:
                continue
            dims[i] = dim
            copies = [torch.randn_like(given[i]) if is_floating(given[i]) else given[i].roll(k) for k in range(3)]
            given[i] = torch.stack(copies, 0 if dim == 0 else given[i].dim())
        dims = tuple(dims)
        found, expected = (
            (
                func.vmap(f, dims)(*given),
                func.vmap(func.grad(summed(f), floating), dims)(*given),
                func.grad(summed(func.vmap(f, dims)), floating)(*given),
            )
            for f in (operator, reference)
        )
        torch.testing.assert_close(found, expected)
    for transform in (func.jacrev, func.jacfwd):
        found, expected = (transform(f, argnums=floating)(*detached(args)) for f in (operator, reference))
        torch.testing.assert_close(found, expected)
    found, expected = (func.hessian(summed(f), argnums=floating)(*detached(args)) for f in (operator, reference))
    torch.testing.assert_close(found, expected)


for operator, reference, args in CASES:
    torch.testing.assert_close(operator(*args), reference(*args))
    checks = torch.library.opcheck(operator.default, args)
    assert set(checks.values()) == {"SUCCESS"} and "test_aot_dispatch_dynamic" in checks, checks
    assert torch.autograd.gradcheck(operator, args, check_forward_ad=True, check_batched_grad=True)
    assert torch.autograd.gradgradcheck(operator, args)
    check_transforms(operator, reference, args)
    wanted = [a for a in args if is_floating(a)]
    torch._dynamo.reset()
    compiled = torch.compile(summed(operator), fullgraph=True, backend="aot_eager")
    expected = torch.autograd.grad(summed(reference)(*args), wanted)
    torch.testing.assert_close(torch.autograd.grad(compiled(*args), wanted), expected)
    # What needs no gradient has none.
    loss = summed(operator)(args[0], *detached(args[1:]))
    torch.testing.assert_close(torch.autograd.grad(loss, args[:1])[0], expected[0])
    # On meta tensors there are only shapes, dtypes and strides.
    on_meta = [a.detach().to("meta") if isinstance(a, torch.Tensor) else a for a in args]
    results = operator(*on_meta), operator(*args)
    for shape, result in zip(*(r if isinstance(r, tuple) else (r,) for r in results)):
        assert (shape.shape, shape.dtype, shape.stride()) == (result.shape, result.dtype, result.stride())

# Dtypes as in PyTorch; memory formats stay.
half, floats, whole = torch.randn(4, 5).half(), torch.randn(4, 5), torch.arange(20).reshape(4, 5)
torch.testing.assert_close(mine.swiglu(half, half), swiglu(half.float(), half.float()).half())
kinds = [half, floats, whole, half.bfloat16(), floats.double(), whole > 3, torch.tensor(2.0), whole.to(torch.uint8)]
for x, y in itertools.product(kinds, repeat=2):
    for number in (2, 2.5):
        assert mine.plus(x, y, number).dtype == torch.result_type(x + y, number), (x.dtype, y.dtype, number)
    if torch.bool not in (x.dtype, y.dtype):
        tolerance = {torch.float16: 1e-2, torch.bfloat16: 5e-2}.get((x + y).dtype, 1e-6)
        expected = torch.add(x, y, alpha=2)
        torch.testing.assert_close(mine.plus(x, y, 2), expected, rtol=tolerance, atol=tolerance)
assert mine.swiglu(whole, whole).dtype == torch.float32
torch.testing.assert_close(mine.plus(floats.cfloat() * 1j, floats, 2j), floats * 3j)
image = torch.randn(2, 3, 4, 5).contiguous(memory_format=torch.channels_last)
assert mine.swiglu(image, image).stride() == image.stride()
strided = torch.randn(6, 40)[::2, 1::3]
torch.testing.assert_close(mine.softmax(strided, 0), strided.softmax(0))
large = torch.randn(300, 70001)
torch.testing.assert_close(mine.swiglu(large, large), swiglu(large, large))
assert mine.swiglu(torch.ones(0, 3), torch.ones(3)).shape == (0, 3)

# Under autocast tensors get the widest of their dtypes. A result of one value per row is computed in float.
with torch.autocast("cpu", torch.bfloat16):
    assert mine.swiglu(half.bfloat16(), floats).dtype == torch.float32
    assert mine.softmax(half.bfloat16(), 0).dtype == torch.bfloat16
    assert mine.cross_entropy(half.bfloat16(), whole[:, 0] % 5).dtype == torch.float32


def error_of(call):
    try:
        call()
    except (RuntimeError, IndexError, OperatorError) as error:
        return str(error)
    raise AssertionError("no error")


assert "must match the size of tensor b (4)" in error_of(lambda: mine.swiglu(torch.ones(3), torch.ones(4)))
bad = torch.tensor([9])
assert "[extension::cross_entropy] 'target' holds 9" in error_of(lambda: mine.cross_entropy(torch.ones(1, 3), bad))
assert "expected to be in range of [-1, 0]" in error_of(lambda: mine.softmax(torch.ones(3), 2))
assert "is not implemented for 'ComplexFloat'" in error_of(lambda: mine.swiglu(torch.ones(3) * 1j, torch.ones(3)))
composite = "- func: extension::twice(Tensor self) -> Tensor\n  composite: self + self\n"
assert "operators.yaml:1:3: error: `extension::twice` has no kernel" in error_of(lambda: interop.build(composite))
print("agrees")
