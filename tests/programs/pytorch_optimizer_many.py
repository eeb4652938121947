"""Optimizers of pytorch_optimizer and torch_optimizer."""

import pytorch_optimizer
import torch
import torch_optimizer


def train(make):
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    x, optimizer = torch.randn(16, 4), make(net.parameters())
    for _ in range(5):
        loss = torch.nn.functional.mse_loss(net(x), x.sum(1, keepdim=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


for name in ("Lion", "AdaBelief", "Lamb", "RAdam", "AdamP", "Adan", "MADGRAD"):
    print(name, train(lambda p: getattr(pytorch_optimizer, name)(p, lr=1e-2)))
for name in ("Yogi", "DiffGrad", "QHAdam", "NovoGrad", "AggMo"):
    print(name, train(lambda p: getattr(torch_optimizer, name)(p, lr=1e-2)))
