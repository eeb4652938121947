"""Which operators write, by their schemas."""

import torch
from torch.utils._python_dispatch import TorchDispatchMode


class Mutations(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        schema = func._schema
        if schema.is_mutable:
            names = [a.name for a in schema.arguments if a.alias_info is not None and a.alias_info.is_write]
            print(func, names, [r.alias_info.is_write for r in schema.returns])
        return func(*args, **(kwargs or {}))


with Mutations():
    t = torch.zeros(3)
    t.add_(1)
    t.fill_(2)
    torch.add(t, t, out=torch.empty(3))
    t.zero_()
    torch.nn.init.constant_(t, 3)
    t.copy_(torch.ones(3))
    t.mul_(2)
    t.normal_()
    t.uniform_()
    t.relu_()
    t += 1
    t.masked_fill_(t > 0, 0)
    t.clamp_(0, 1)
    t.index_fill_(0, torch.tensor([0]), 1)
print(t._version > 0)
