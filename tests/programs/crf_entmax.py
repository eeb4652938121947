"""Structured outputs: pytorch-crf, TorchCRF, entmax."""

import torch
from entmax import entmax15, entmax_bisect, sparsemax
from torchcrf import CRF

torch.manual_seed(0)
emissions, tags = torch.randn(6, 2, 5), torch.randint(0, 5, (6, 2))
crf = CRF(5)
loss = -crf(emissions, tags)
loss.backward()
print("crf", loss.item(), crf.decode(emissions), crf.transitions.grad.abs().sum().item())
x = torch.randn(3, 6, requires_grad=True)
for function in (sparsemax, entmax15, lambda x, dim: entmax_bisect(x, alpha=1.3, dim=dim)):
    y = function(x, dim=-1)
    (gradient,) = torch.autograd.grad(y[:, 0].sum(), x)
    print("entmax", y[0].tolist(), gradient.abs().sum().item())
