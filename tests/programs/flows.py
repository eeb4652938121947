"""Normalizing flows: nflows, normflows, zuko."""

import normflows as nf
import torch
import zuko
from nflows.distributions.normal import StandardNormal
from nflows.flows.base import Flow
from nflows.transforms.autoregressive import MaskedAffineAutoregressiveTransform
from nflows.transforms.base import CompositeTransform
from nflows.transforms.permutations import ReversePermutation

torch.manual_seed(0)
x = torch.randn(16, 2)
flow = Flow(CompositeTransform([ReversePermutation(2), MaskedAffineAutoregressiveTransform(2, 8)]), StandardNormal([2]))
loss = -flow.log_prob(x).mean()
loss.backward()
print("nflows", loss.item())
layers = [nf.flows.AffineCouplingBlock(nf.nets.MLP([1, 8, 2], init_zeros=True)), nf.flows.Permute(2, mode="swap")]
model = nf.NormalizingFlow(nf.distributions.base.DiagGaussian(2), layers)
print("normflows", model.forward_kld(x).item())
maf = zuko.flows.MAF(features=2, transforms=2, hidden_features=(8,))
print("zuko", -maf().log_prob(x).mean().item(), tuple(maf().sample((3,)).shape))
nsf = zuko.flows.NSF(2, context=1, transforms=1, hidden_features=(8,))
print("spline", -nsf(torch.zeros(1)).log_prob(x).mean().item())
