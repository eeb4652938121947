"""Controlled differential equations with torchcde."""

import torch
import torchcde

torch.manual_seed(0)
x = torch.randn(2, 10, 3)
coefficients = torchcde.hermite_cubic_coefficients_with_backward_differences(x)
path = torchcde.CubicSpline(coefficients)


class F(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 12)

    def forward(self, t, z):
        return self.linear(z).tanh().view(-1, 4, 3)


f = F()
z = torchcde.cdeint(
    X=path, z0=torch.zeros(2, 4), func=f, t=path.interval, adjoint=False, method="rk4", options={"step_size": 0.5}
)
z[:, -1].sum().backward()
print("z", z[:, -1].sum().item(), f.linear.weight.grad.sum().item(), path.evaluate(torch.tensor(2.5)).sum().item())
