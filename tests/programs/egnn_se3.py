"""Equivariant networks: egnn-pytorch, e3nn."""

import torch
from e3nn import o3
from egnn_pytorch import EGNN

torch.manual_seed(0)
layer = EGNN(dim=8)
feats, coors = layer(torch.randn(1, 6, 8), torch.randn(1, 6, 3))
print("egnn", feats.sum().item(), coors.sum().item())
irreps = o3.Irreps("2x0e + 1x1o")
linear = o3.Linear(irreps, irreps)
x = irreps.randn(4, -1)
print("e3nn", linear(x).sum().item(), o3.spherical_harmonics(2, torch.tensor([[0.3, 0.2, 0.5]]), normalize=True).tolist())
