"""torchquad's integrals and torchode's solvers."""

import math

import torch
import torchode as to
from torchquad import Boole, GaussLegendre, MonteCarlo, Simpson, Trapezoid, set_log_level

set_log_level("ERROR")


def function(x):
    return torch.sin(x[:, 0]) + torch.exp(x[:, 1])


domain = torch.tensor([[0.0, 1.0], [-1.0, 1.0]], dtype=torch.float64)
for rule in (Trapezoid(), Simpson(), Boole(), GaussLegendre()):
    print(
        type(rule).__name__, rule.integrate(function, dim=2, N=5**4, integration_domain=domain, backend="torch").item()
    )
limits = torch.tensor([[0.0, 1.0]], dtype=torch.float64, requires_grad=True)
value = Simpson().integrate(lambda x: x[:, 0] ** 3, dim=1, N=101, integration_domain=limits)
value.backward()
print("gradient", value.item(), limits.grad.tolist())
print(
    "monte carlo",
    abs(MonteCarlo().integrate(function, dim=2, N=20000, integration_domain=domain, seed=0).item() - 3.27) < 0.1,
)


def pendulum(t, y):
    return torch.stack((y[..., 1], -torch.sin(y[..., 0])), dim=-1)


start = torch.tensor([[1.0, 0.0], [0.5, 0.2], [2.0, -0.3]])
times = torch.linspace(0, 3, 7).repeat(3, 1)
term = to.ODETerm(pendulum)
for method in (to.Dopri5, to.Tsit5, to.Heun):
    step = method(term=term)
    controller = to.IntegralController(atol=1e-6, rtol=1e-3, term=term)
    solver = to.AutoDiffAdjoint(step, controller)
    solution = solver.solve(to.InitialValueProblem(y0=start, t_eval=times))
    print(method.__name__, solution.ys[:, -1].tolist(), solution.stats["n_steps"].tolist(), solution.status.tolist())
rate = torch.tensor(0.7, requires_grad=True)
term = to.ODETerm(lambda t, y, args: -args * y, with_args=True)
solver = to.AutoDiffAdjoint(to.Dopri5(term=term), to.PIDController(1e-6, 1e-4, 0.2, 0.3, 0.0, term=term))
solution = solver.solve(
    to.InitialValueProblem(y0=torch.ones(2, 1), t_start=torch.zeros(2), t_end=torch.ones(2)), args=rate
)
solution.ys.sum().backward()
print("adjoint", solution.ys.flatten().tolist(), rate.grad.item(), -2 * math.exp(-0.7))
