"""Equivariant networks: e3nn."""

import torch
from e3nn import o3

torch.manual_seed(0)
irreps = o3.Irreps("2x0e + 1x1o")
print("harmonics", o3.spherical_harmonics(2, torch.tensor([[0.3, 0.2, 0.5]]), normalize=True).tolist())
linear = o3.Linear(irreps, irreps)
x = irreps.randn(4, -1)
print("e3nn", linear(x).sum().item())
