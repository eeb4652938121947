"""The privacy engine of opacus."""

import torch
from opacus import PrivacyEngine
from opacus.validators import ModuleValidator

torch.manual_seed(0)
m = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
o = torch.optim.SGD(m.parameters(), lr=0.1)
l = torch.utils.data.DataLoader(
    torch.utils.data.TensorDataset(torch.randn(32, 4), torch.randint(0, 2, (32,))), batch_size=8
)
m, o, l = PrivacyEngine().make_private(module=m, optimizer=o, data_loader=l, noise_multiplier=1.0, max_grad_norm=1.0)
for x, y in l:
    if len(x) == 0:
        continue
    o.zero_grad()
    torch.nn.functional.cross_entropy(m(x), y).backward()
    o.step()
print("ok", len(l), ModuleValidator.is_valid(torch.nn.Sequential(torch.nn.BatchNorm1d(3))))
