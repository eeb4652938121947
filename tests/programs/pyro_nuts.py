"""NUTS and automatic guides of pyro."""

import pyro
import pyro.distributions as dist
import torch
from pyro.infer import MCMC, NUTS, SVI
from pyro.infer.autoguide import AutoNormal

pyro.set_rng_seed(0)
d = torch.randn(10) + 1


def model():
    m = pyro.sample("m", dist.Normal(0.0, 2.0))
    with pyro.plate("p", 10):
        pyro.sample("x", dist.Normal(m, 1.0), obs=d)


mc = MCMC(NUTS(model), num_samples=10, warmup_steps=5, disable_progbar=True)
mc.run()
print("nuts", mc.get_samples()["m"].shape)
g = AutoNormal(model)
s = SVI(model, g, pyro.optim.Adam({"lr": 0.05}), pyro.infer.Trace_ELBO())
for _ in range(5):
    l = s.step()
print("auto", l)
