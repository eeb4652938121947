"""Private training with opacus: gradients of each sample, clipped."""

import torch
from opacus import GradSampleModule
from opacus.accountants import RDPAccountant
from opacus.optimizers import DPOptimizer

torch.manual_seed(0)
model = GradSampleModule(
    torch.nn.Sequential(torch.nn.Conv1d(2, 4, 3), torch.nn.GroupNorm(2, 4), torch.nn.Flatten(), torch.nn.Linear(24, 2))
)
optimizer = DPOptimizer(
    torch.optim.SGD(model.parameters(), lr=0.1), noise_multiplier=0.0, max_grad_norm=1.0, expected_batch_size=8
)
x, y = torch.randn(8, 2, 8), torch.randint(0, 2, (8,))
for _ in range(4):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    print("loss", loss.item())
accountant = RDPAccountant()
for _ in range(10):
    accountant.step(noise_multiplier=1.0, sample_rate=0.1)
print("epsilon", accountant.get_epsilon(1e-5))
