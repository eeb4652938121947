"""Variational inference with pyro."""

import pyro
import pyro.distributions as dist
import torch
from pyro.infer import SVI, Trace_ELBO
from pyro.optim import Adam

pyro.set_rng_seed(0)
data = torch.tensor([1.0] * 7 + [0.0] * 3)


def model():
    p = pyro.sample("p", dist.Beta(2.0, 2.0))
    with pyro.plate("data", len(data)):
        pyro.sample("x", dist.Bernoulli(p), obs=data)


def guide():
    loc = pyro.param("loc", torch.tensor(0.0))
    scale = pyro.param("scale", torch.tensor(0.5), constraint=dist.constraints.positive)
    pyro.sample("p", dist.TransformedDistribution(dist.Normal(loc, scale), [dist.transforms.SigmoidTransform()]))


svi = SVI(model, guide, Adam({"lr": 0.05}), Trace_ELBO())
for _ in range(20):
    loss = svi.step()
print("loss", loss, pyro.param("loc").item(), pyro.param("scale").item())
