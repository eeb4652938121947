"""Hamiltonian Monte Carlo with pyro."""

import pyro
import pyro.distributions as dist
import torch
from pyro.infer import HMC, MCMC

pyro.set_rng_seed(0)
data = torch.randn(20) + 2


def model():
    mu = pyro.sample("mu", dist.Normal(0.0, 5.0))
    pyro.sample("obs", dist.Normal(mu, 1.0).expand([20]).to_event(1), obs=data)


mcmc = MCMC(
    HMC(model, step_size=0.1, num_steps=4, adapt_step_size=False), num_samples=20, warmup_steps=5, disable_progbar=True
)
mcmc.run()
print("near 2", abs(mcmc.get_samples()["mu"].mean().item() - data.mean().item()) < 0.5)
