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
# Not the fourth one: the derivative is computed outside of what torch.compile can trace.
parts = ("test_schema", "test_autograd_registration", "test_faketensor")
checks = torch.library.opcheck(torch.ops.interop.swiglu.default, (x, g), test_utils=parts)
assert set(checks.values()) == {"SUCCESS"}, checks
print("agrees")
