"""Variational Gaussian processes of gpytorch."""

import gpytorch
import torch

torch.manual_seed(0)


class SVGP(gpytorch.models.ApproximateGP):
    def __init__(self, z):
        d = gpytorch.variational.CholeskyVariationalDistribution(z.size(0))
        super().__init__(gpytorch.variational.VariationalStrategy(self, z, d))
        self.mean_module, self.covar_module = (
            gpytorch.means.ConstantMean(),
            gpytorch.kernels.ScaleKernel(gpytorch.kernels.MaternKernel(nu=2.5)),
        )

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))


x = torch.linspace(0, 1, 30).unsqueeze(-1)
y = torch.sin(6 * x).squeeze()
m, lik = SVGP(x[::5].clone()), gpytorch.likelihoods.GaussianLikelihood()
o = torch.optim.Adam([*m.parameters(), *lik.parameters()], lr=0.05)
mll = gpytorch.mlls.VariationalELBO(lik, m, 30)
for _ in range(5):
    o.zero_grad()
    l = -mll(m(x), y)
    l.backward()
    o.step()
    print("l", l.item())
