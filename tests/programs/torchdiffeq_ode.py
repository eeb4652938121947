"""Neural ODEs with torchdiffeq, also with the adjoint."""

import torch
from torchdiffeq import odeint, odeint_adjoint

torch.manual_seed(0)


class F(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))

    def forward(self, t, y):
        return self.net(y)


f, y0, t = F(), torch.tensor([[1.0, 0.0]]), torch.linspace(0, 1, 5)
for solve, method in ((odeint, "dopri5"), (odeint, "rk4"), (odeint_adjoint, "dopri5")):
    f.zero_grad()
    y = solve(f, y0, t, method=method)
    y[-1].sum().backward()
    print(method, y[-1].tolist(), f.net[0].weight.grad.sum().item())
