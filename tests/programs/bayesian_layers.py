"""Layers with random weights of bayesian-torch, and hyperbolic layers of hypll."""

import torch
from bayesian_torch.layers import (
    Conv2dReparameterization,
    LinearFlipout,
    LinearReparameterization,
    LSTMReparameterization,
)
from bayesian_torch.models.dnn_to_bnn import dnn_to_bnn, get_kl_loss
from hypll import nn as hnn
from hypll.manifolds.euclidean import Euclidean
from hypll.manifolds.poincare_ball import Curvature, PoincareBall
from hypll.optim import RiemannianAdam, RiemannianSGD
from hypll.tensors import TangentTensor
from torch import nn

torch.manual_seed(0)
x = torch.randn(8, 4)
linear = LinearReparameterization(4, 3, prior_mean=0, prior_variance=1, posterior_mu_init=0, posterior_rho_init=-3.0)
output, kl = linear(x)
print("linear", output.shape, kl.item(), linear.kl_loss().item())
(output.square().sum() + kl).backward()
print("gradients", linear.mu_weight.grad.norm().item(), linear.rho_weight.grad.norm().item())
convolution = Conv2dReparameterization(1, 2, 3)
print("convolution", convolution(torch.randn(2, 1, 6, 6))[0].shape, convolution.kl_loss().item())
print("flipout", LinearFlipout(4, 3)(x)[0].shape, LSTMReparameterization(4, 3)(torch.randn(2, 5, 4))[0].shape)
network = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
dnn_to_bnn(
    network,
    {
        "prior_mu": 0.0,
        "prior_sigma": 1.0,
        "posterior_mu_init": 0.0,
        "posterior_rho_init": -3.0,
        "type": "Reparameterization",
        "moped_enable": True,
        "moped_delta": 0.2,
    },
)
network(x)
print("converted", [type(layer).__name__ for layer in network], get_kl_loss(network).item())

manifold = PoincareBall(c=Curvature(1.0))
points = manifold.expmap(TangentTensor(torch.randn(6, 4) * 0.1, man_dim=1, manifold=manifold))
model = nn.Sequential(
    hnn.HLinear(4, 5, manifold=manifold), hnn.HReLU(manifold=manifold), hnn.HLinear(5, 2, manifold=manifold)
)
optimizer = RiemannianAdam(model.parameters(), lr=0.01)
for _ in range(3):
    optimizer.zero_grad()
    result = manifold.logmap(x=None, y=model(points)).tensor
    loss = nn.functional.cross_entropy(result, torch.arange(6) % 2)
    loss.backward()
    optimizer.step()
    print("loss", loss.item())
print(
    "distance",
    manifold.dist(
        points, manifold.expmap(TangentTensor(-0.1 * torch.ones(6, 4), man_dim=1, manifold=manifold))
    ).tolist(),
    points.tensor.norm(dim=1).max().item() < 1,
)
print("flat", hnn.ChangeManifold(Euclidean())(points).shape, RiemannianSGD(model.parameters(), lr=0.1).defaults["lr"])
