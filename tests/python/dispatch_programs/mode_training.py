"""A step of training: the forward and the backward pass and the update."""

import torch
from torch.utils._python_dispatch import TorchDispatchMode


class Products(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.flops = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        if func in (torch.ops.aten.mm.default, torch.ops.aten.addmm.default):
            a, b = args[-2:]
            self.flops += 2 * a.shape[0] * a.shape[1] * b.shape[1]
        return out


torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
x = torch.linspace(-1, 1, 12).view(3, 4)
with Products() as forward:
    loss = model(x).pow(2).mean()
with Products() as backward:
    loss.backward()
with Products() as update:
    optimizer.step()
print(forward.flops, backward.flops, update.flops)
without = [p.detach().clone() for p in model.parameters()]
torch.manual_seed(0)
same = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
optimizer = torch.optim.SGD(same.parameters(), lr=0.1, momentum=0.9)
same(x).pow(2).mean().backward()
optimizer.step()
print([torch.allclose(a, b) for a, b in zip(without, same.parameters())])
