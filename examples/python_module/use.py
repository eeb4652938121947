"""Trains with the operators of fused.yaml."""

import fused
import tenon

tenon.manual_seed(0)
x = tenon.randn(4, 8, dtype=tenon.float64, requires_grad=True)
gate = tenon.randn(4, 8, dtype=tenon.float64, requires_grad=True)
assert tenon.autograd.gradcheck(fused.swiglu, (x, gate))
fused.swiglu(x, gate, scale=2).sum().backward()
silu = x * x.sigmoid()
print("agrees:", (gate.grad - 2 * silu.detach()).abs().max().item() < 1e-12)
