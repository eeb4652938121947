"""Gradients through an inner loop with higher."""

import higher
import torch

torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
inner = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(10, 2), torch.randn(10, 1)
with higher.innerloop_ctx(net, inner, copy_initial_weights=False) as (f, optimizer):
    for _ in range(3):
        optimizer.step(torch.nn.functional.mse_loss(f(x), y))
    loss = torch.nn.functional.mse_loss(f(x), y)
    loss.backward()
print("loss", loss.item(), net[0].weight.grad.abs().sum().item())
