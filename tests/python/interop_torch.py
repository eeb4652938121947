"""Operators of one's own in PyTorch; run by build/venv-oracle's Python (test_interop.py)."""

import gc

import tenon
import torch
from tenon.interop import torch as interop

ops = tenon.load_operators(
    """
- func: interop::swiglu(Tensor self, Tensor gate, *, Scalar scale=1) -> Tensor
  pointwise: scale * self * gate * sigmoid(gate)
- func: interop::cube(Tensor self) -> Tensor
  pointwise: self * self * self
- func: interop::weighted(Tensor[] list, Tensor weight, int[] dims=[]) -> Tensor
  composite: cat(list, 0) * weight
- func: interop::top(Tensor self) -> (Tensor values, Tensor indices)
  composite: max(self * self, 0)
"""
)
interop.register(ops)
gc.collect()  # nothing need be kept of what it gives
x, g = (torch.randn(3, 4, dtype=torch.float64, requires_grad=True) for _ in range(2))
y = torch.ops.interop.swiglu(x, g)
torch.testing.assert_close(y, x * g * torch.sigmoid(g))
expected = torch.autograd.grad((x * g * torch.sigmoid(g)).sum(), (x, g))
for ours, theirs in zip(torch.autograd.grad(y.sum(), (x, g)), expected):
    torch.testing.assert_close(ours, theirs)
torch.testing.assert_close(torch.ops.interop.swiglu(x, g, scale=2), 2 * y)
assert torch.autograd.gradcheck(torch.ops.interop.swiglu, (x, g))
assert torch.autograd.gradgradcheck(torch.ops.interop.swiglu, (x, g))
assert torch.ops.interop.swiglu(x.to("meta"), g.to("meta")).shape == (3, 4)
checks = torch.library.opcheck(torch.ops.interop.swiglu.default, (x, g), {"scale": 2})
assert set(checks.values()) == {"SUCCESS"} and "test_aot_dispatch_dynamic" in checks, checks


# Compiled as a whole, without a graph break, and differentiated.
@torch.compile(fullgraph=True, backend="aot_eager")
def compiled(x, g):
    return (torch.ops.interop.swiglu(x, g, scale=2) + 1).square().sum()


found = torch.autograd.grad(compiled(x, g), (x, g))
expected = torch.autograd.grad((2 * x * g * torch.sigmoid(g) + 1).square().sum(), (x, g))
for ours, theirs in zip(found, expected):
    torch.testing.assert_close(ours, theirs)
# One that needs no gradient has none.
(only,) = torch.autograd.grad(compiled(x, g.detach()), (x,))
torch.testing.assert_close(only, expected[0])

# Gradients of gradients: 6 x of 3 x^2, and the derivative of x^3 + (3 x^2)^2 at 2.
t = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
y = torch.ops.interop.cube(t)
(first,) = torch.autograd.grad(y, t, create_graph=True)
(y + first**2).backward(retain_graph=True)
assert t.grad.item() == 12 + 2 * 12 * 12
(second,) = torch.autograd.grad(first, t, create_graph=True)
(third,) = torch.autograd.grad(second, t)
assert (second.item(), third.item()) == (12, 6)

# Of lists, and of several results of which some have none.
weight = torch.randn(12, dtype=torch.float64, requires_grad=True)
a, b = (torch.randn(6, dtype=torch.float64, requires_grad=True) for _ in range(2))
assert torch.autograd.gradcheck(lambda a, b, w: torch.ops.interop.weighted([a, b], w), (a, b, weight))
assert torch.autograd.gradgradcheck(lambda a, w: torch.ops.interop.weighted([a, b.detach()], w, [0]), (a, weight))
values, indices = torch.ops.interop.top(x)
assert torch.equal(indices, (x * x).max(0)[1])
torch.testing.assert_close(torch.autograd.grad(values.sum(), x), torch.autograd.grad((x * x).max(0)[0].sum(), x))

# An edited text, registered once more.
mine = interop.register(
    tenon.load_operators("- func: interop::cube(Tensor self) -> Tensor\n  pointwise: self * self * self * 2\n")
)
assert mine is torch.ops.interop and mine.cube(t).item() == torch.ops.interop.cube(t).item() == 16
print("agrees")
