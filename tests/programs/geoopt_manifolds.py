"""Optimization on manifolds with geoopt."""

import geoopt
import torch

torch.manual_seed(0)
ball = geoopt.PoincareBall()
x = geoopt.ManifoldParameter(ball.random_normal(5, 3), manifold=ball)
target = ball.random_normal(5, 3)
optimizer = geoopt.optim.RiemannianAdam([x], lr=0.05)
for _ in range(10):
    optimizer.zero_grad()
    loss = ball.dist(x, target).pow(2).sum()
    loss.backward()
    optimizer.step()
print("loss", loss.item())
sphere = geoopt.manifolds.Sphere()
y = geoopt.ManifoldParameter(sphere.random_uniform(4, 3), manifold=sphere)
sgd = geoopt.optim.RiemannianSGD([y], lr=0.1)
for _ in range(5):
    sgd.zero_grad()
    (y[:, 0].sum()).backward()
    sgd.step()
print("norms", y.norm(dim=-1).tolist(), y[:, 0].sum().item())
