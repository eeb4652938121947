"""Counts the bytes of new storages."""

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten


class Memory(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.storages = {}

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        for t in tree_flatten(out)[0]:
            if isinstance(t, torch.Tensor):
                storage = t.untyped_storage()
                self.storages.setdefault(storage.data_ptr(), storage.nbytes())
        return out


with Memory() as memory:
    a = torch.ones(1000)
    b = a * 2
    c = b.view(10, 100).t()
    d = c.contiguous()
print(sum(memory.storages.values()), len(memory.storages))
