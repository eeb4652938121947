"""Expected improvement by Sobol samples with botorch."""

import torch
from botorch.acquisition import qExpectedImprovement
from botorch.models import SingleTaskGP
from botorch.optim import optimize_acqf
from botorch.sampling import SobolQMCNormalSampler

torch.manual_seed(0)
x = torch.rand(6, 2, dtype=torch.double)
y = x.sum(-1, keepdim=True)
m = SingleTaskGP(x, y)
q = qExpectedImprovement(m, best_f=y.max(), sampler=SobolQMCNormalSampler(torch.Size([16]), seed=0))
c, v = optimize_acqf(
    q, bounds=torch.tensor([[0.0, 0.0], [1.0, 1.0]], dtype=torch.double), q=1, num_restarts=2, raw_samples=8
)
print(tuple(c.shape), bool(v.isfinite()))
