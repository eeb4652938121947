"""POT: optimal transport of tensors, with gradients."""

import numpy as np
import ot
import torch

rng = np.random.default_rng(0)
a = torch.tensor(rng.dirichlet(np.ones(6)), requires_grad=True)
b = torch.tensor(rng.dirichlet(np.ones(5)), requires_grad=True)
xs, xt = torch.tensor(rng.normal(size=(6, 2)), requires_grad=True), torch.tensor(rng.normal(size=(5, 2)))
cost = ot.dist(xs, xt)
print("cost", cost.shape, cost.sum().item())
value = ot.emd2(a, b, cost)
value.backward()
print("emd2", value.item(), xs.grad.norm().item(), a.grad.tolist())
uniform = torch.full((6,), 1 / 6, dtype=torch.float64), torch.full((5,), 1 / 5, dtype=torch.float64)
fixed = cost.detach()
plan = ot.sinkhorn(*uniform, fixed, reg=0.5)
print(
    "sinkhorn",
    plan.sum(1).tolist(),
    (plan * fixed).sum().item(),
    ot.sinkhorn2(*uniform, fixed, 0.5, method="sinkhorn_log").item(),
)
print("unbalanced", ot.unbalanced.sinkhorn_unbalanced2(*uniform, fixed, 0.5, 1.0).item())
c1, c2 = ot.dist(xs.detach(), xs.detach()), ot.dist(xt, xt)
gromov = ot.gromov.gromov_wasserstein2(c1, c2, *uniform, "square_loss")
print("gromov", gromov.item())
print(
    "sliced",
    ot.sliced_wasserstein_distance(
        xs.detach(), xt, n_projections=8, projections=torch.eye(2, dtype=torch.float64)
    ).item(),
)
print(
    "line", ot.wasserstein_1d(xs[:, 0].detach(), xt[:, 0], p=2).item(), ot.emd2_1d(xs[:, :1].detach(), xt[:, :1]).item()
)
print(
    "barycenter", ot.bregman.barycenter(torch.stack([a.detach(), a.detach().flip(0)], 1), c1 / c1.max(), 0.05).tolist()
)
mapped = ot.da.SinkhornTransport(reg_e=1.0).fit(Xs=xs.detach(), Xt=xt).transform(Xs=xs.detach())
print("adaptation", mapped.shape, mapped.norm().item())
mean, matrix = torch.zeros(2, dtype=torch.float64), torch.eye(2, dtype=torch.float64)
print("bures", ot.gaussian.bures_wasserstein_distance(mean, mean + 1, matrix, 2 * matrix).item())
solved = ot.solve(fixed, *uniform, reg=0.1, reg_type="KL")
print("solve", solved.value.item(), solved.plan.shape, solved.potentials[0].shape)
