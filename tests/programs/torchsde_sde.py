"""Stochastic differential equations with torchsde."""

import torch
import torchsde

torch.manual_seed(0)


class SDE(torch.nn.Module):
    noise_type, sde_type = "diagonal", "ito"

    def __init__(self):
        super().__init__()
        self.mu, self.sigma = torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)

    def f(self, t, y):
        return self.mu(y)

    def g(self, t, y):
        return self.sigma(y).sigmoid() * 0.1


sde, y0, ts = SDE(), torch.ones(2, 3), torch.linspace(0, 1, 5)
bm = torchsde.BrownianInterval(t0=0.0, t1=1.0, size=(2, 3), entropy=1)
ys = torchsde.sdeint(sde, y0, ts, bm=bm, dt=0.05, method="euler")
ys[-1].sum().backward()
print("sde", tuple(ys.shape), ys[-1].sum().item(), sde.mu.weight.grad.sum().item())
