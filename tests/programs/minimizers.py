"""Minimizers, neural differential equations and widths: pytorch-minimize, torchdyn, mup."""

import torch
from mup import MuReadout, set_base_shapes
from mup.optim import MuAdam
from torch import nn
from torchdyn.core import NeuralODE
from torchmin import least_squares, minimize

torch.manual_seed(0)


def rosenbrock(x):
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


start = torch.tensor([1.3, 0.7, 0.8], dtype=torch.float64)
for method in ("bfgs", "l-bfgs", "cg", "newton-cg", "trust-ncg"):
    result = minimize(rosenbrock, start, method=method, max_iter=200)
    print(method, result.success, [round(v, 3) for v in result.x.tolist()])
fit = least_squares(
    lambda p: p[0] * torch.tensor([1.0, 2.0, 3.0]) + p[1] - torch.tensor([3.0, 5.0, 7.0]), torch.zeros(2)
)
print("least squares", [round(v, 3) for v in fit.x.tolist()])
field = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 2))
ode = NeuralODE(field, sensitivity="adjoint", solver="rk4", atol=1e-4, rtol=1e-4)
times, path = ode(torch.ones(3, 2), torch.linspace(0, 1, 5))
path[-1].sum().backward()
print("ode", tuple(path.shape), round(path.sum().item(), 4), round(field[0].weight.grad.abs().sum().item(), 4))


def model(width):
    return nn.Sequential(nn.Linear(4, width), nn.ReLU(), MuReadout(width, 2))


wide = set_base_shapes(model(16), model(4), delta=model(8))
optimizer = MuAdam(wide.parameters(), lr=0.1)
wide(torch.ones(1, 4)).sum().backward()
optimizer.step()
print("mup", [group["lr"] for group in optimizer.param_groups], wide[2].width_mult())
