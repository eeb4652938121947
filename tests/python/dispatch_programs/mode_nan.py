"""Finds the operator that makes NaN, and replaces a result."""

import torch
from torch.utils._python_dispatch import TorchDispatchMode


class FindNan(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        if isinstance(out, torch.Tensor) and out.is_floating_point() and torch.isnan(out).any():
            print("NaN from", func)
        return out


class Replace(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func is torch.ops.aten.add.Tensor:
            return torch.full_like(args[0], 7.0)
        return func(*args, **(kwargs or {}))


with FindNan():
    torch.tensor([1.0, -1.0]).log() + 1
with Replace():
    print(torch.ones(2) + 1, torch.ones(2).add(1), torch.ones(2) * 3)
