"""Inference of a simulator's parameters with sbi."""

import torch
from sbi.inference import NPE
from sbi.utils import BoxUniform

torch.manual_seed(0)
prior = BoxUniform(low=-2 * torch.ones(2), high=2 * torch.ones(2))
theta = prior.sample((200,))
x = theta + 0.1 * torch.randn(200, 2)
inference = NPE(prior, show_progress_bars=False)
estimator = inference.append_simulations(theta, x).train(max_num_epochs=3)
posterior = inference.build_posterior(estimator)
samples = posterior.sample((50,), x=torch.zeros(2), show_progress_bars=False)
print("samples", tuple(samples.shape), bool(samples.abs().max() <= 2))
