"""Distances of samples with geomloss."""

import torch
from geomloss import SamplesLoss

torch.manual_seed(0)
a, b = torch.randn(20, 2, requires_grad=True), torch.randn(30, 2) + 1
for kind in ("sinkhorn", "gaussian", "laplacian", "energy"):
    loss = SamplesLoss(kind, p=2, blur=0.1, backend="tensorized")(a, b)
    (gradient,) = torch.autograd.grad(loss, a)
    print(kind, loss.item(), gradient.abs().sum().item())
