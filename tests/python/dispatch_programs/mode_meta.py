"""Modules are made on the device meta."""

import torch
from torch.utils._python_dispatch import TorchDispatchMode


class OnMeta(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        if kwargs.get("device") is not None:
            kwargs["device"] = torch.device("meta")
        return func(*args, **kwargs)


with OnMeta():
    linear, embedding = torch.nn.Linear(10, 20), torch.nn.Embedding(5, 4)
print(linear.weight.device, linear.bias.device, embedding.weight.device, linear.weight.is_leaf)
with torch.device("meta"):
    linear = torch.nn.Linear(10, 20)
    print(torch.ones(2).device)
print(linear.weight.device, torch.ones(2).device)
