"""Equivariant networks: egnn-pytorch."""

import torch
from egnn_pytorch import EGNN

torch.manual_seed(0)
layer = EGNN(dim=8)
feats, coors = layer(torch.randn(1, 6, 8), torch.randn(1, 6, 3))
print("egnn", feats.sum().item(), coors.sum().item())
