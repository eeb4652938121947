"""Operators of one's own in PyTorch; run by build/venv-oracle's Python (test_interop.py)."""

import tenon
import torch
from tenon.interop import torch as interop

ops = tenon.load_operators(
    """
- func: interop::swiglu(Tensor self, Tensor gate, *, Scalar scale=1) -> Tensor
  pointwise: scale * self * gate * sigmoid(gate)
"""
)
kept = interop.register(ops)
x, g = (torch.randn(3, 4, dtype=torch.float64, requires_grad=True) for _ in range(2))
y = torch.ops.interop.swiglu(x, g)
torch.testing.assert_close(y, x * g * torch.sigmoid(g))
expected = torch.autograd.grad((x * g * torch.sigmoid(g)).sum(), (x, g))
for ours, theirs in zip(torch.autograd.grad(y.sum(), (x, g)), expected):
    torch.testing.assert_close(ours, theirs)
torch.testing.assert_close(torch.ops.interop.swiglu(x, g, scale=2), 2 * y)
assert torch.autograd.gradcheck(torch.ops.interop.swiglu, (x, g))
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
print("agrees")
