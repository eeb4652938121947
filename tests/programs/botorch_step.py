"""A step of Bayesian optimization with botorch."""

import torch
from botorch.acquisition import ExpectedImprovement, UpperConfidenceBound
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from gpytorch.mlls import ExactMarginalLogLikelihood

torch.manual_seed(0)
x = torch.rand(8, 2, dtype=torch.double)
y = -((x - 0.4) ** 2).sum(-1, keepdim=True)
model = SingleTaskGP(x, y)
fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
points = torch.rand(5, 1, 2, dtype=torch.double)
print("ei", ExpectedImprovement(model, best_f=y.max())(points).tolist())
print("ucb", UpperConfidenceBound(model, beta=0.2)(points).tolist())
