"""torchjd: Jacobians of many losses, joined by aggregators, and Gramians of batches."""

import torch
from torch import nn
from torchjd.aggregation import (
    IMTLG,
    MGDA,
    AlignedMTL,
    ConFIG,
    Mean,
    PCGrad,
    TrimmedMean,
    UPGrad,
    UPGradWeighting,
)
from torchjd.autogram import Engine
from torchjd.autojac import backward, jac, jac_to_grad, mtl_backward

torch.manual_seed(0)
matrix = torch.tensor([[-4.0, 1.0, 1.0], [6.0, 1.0, 1.0], [1.0, -2.0, 0.5]])
for aggregator in (UPGrad(), MGDA(), Mean(), IMTLG(), AlignedMTL(), ConFIG(), TrimmedMean(1)):
    print(type(aggregator).__name__, aggregator(matrix).tolist())
print("projected", PCGrad()(matrix[:2]).norm().item() > 0)

network = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 2))
x, target = torch.randn(6, 5), torch.randn(6, 2)
losses = (network(x) - target).square().mean(dim=0)
backward(losses)
print("jacobians", [tuple(parameter.jac.shape) for parameter in network.parameters()])
jac_to_grad(list(network.parameters()), UPGrad())
print("gradients", [parameter.grad.norm().item() for parameter in network.parameters()])

shared, heads = nn.Linear(5, 4), [nn.Linear(4, 1), nn.Linear(4, 1)]
features = shared(x).tanh()
tasks = [(head(features)[:, 0] - target[:, i]).square().mean() for i, head in enumerate(heads)]
mtl_backward(tasks, features=features)
jac_to_grad(list(shared.parameters()), UPGrad())
print("tasks", shared.weight.grad.norm().item(), [head.weight.grad.norm().item() for head in heads])
a = torch.randn(3, requires_grad=True)
print("jacobian", [part.shape for part in jac([a.square(), a.sum()], [a])])

engine = Engine(network, batch_dim=0)
network.zero_grad()
each = (network(x) - target).square().mean(dim=1)
gramian = engine.compute_gramian(each)
weights = UPGradWeighting()(gramian)
each.backward(weights)
print("gramian", gramian.diagonal().tolist(), weights.sum().item(), network[0].weight.grad.norm().item())
