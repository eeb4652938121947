"""Gradients of each sample and curvature with backpack."""

import torch
from backpack import backpack, extend
from backpack.extensions import BatchGrad, DiagGGNExact, Variance

torch.manual_seed(0)
net = extend(torch.nn.Sequential(torch.nn.Linear(4, 6), torch.nn.Sigmoid(), torch.nn.Linear(6, 3)))
loss_function = extend(torch.nn.CrossEntropyLoss())
x, y = torch.randn(8, 4), torch.randint(0, 3, (8,))
loss = loss_function(net(x), y)
with backpack(BatchGrad(), Variance(), DiagGGNExact()):
    loss.backward()
for p in net.parameters():
    print("p", p.grad_batch.abs().sum().item(), p.variance.sum().item(), p.diag_ggn_exact.sum().item())
