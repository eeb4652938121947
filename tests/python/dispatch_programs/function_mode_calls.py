"""TorchFunctionMode sees functions, methods and attributes."""

import torch
from torch.overrides import BaseTorchFunctionMode, TorchFunctionMode, resolve_name


class Log(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        print(resolve_name(func), len(args), sorted(kwargs or {}))
        return func(*args, **(kwargs or {}))


with Log():
    x = torch.ones(2)
    x + 1
    1 + x
    torch.add(x, x)
    x.sum()
    x[0]
    x[0] = 1
    x.dtype
    x.size()
    torch.cat([x, x])
    torch.zeros_like(x)
    torch.randn(2)
    x.to(torch.float64)
    x.clone()
    x.view(2, 1)
    x @ x
    x == x
    torch.linalg.norm(x)
    torch.ops.aten.add(x, 1)
    torch.ops.aten.add.Tensor(x, 1)
with BaseTorchFunctionMode():
    print(torch.ones(2))
with Log(), torch._C.DisableTorchFunction():
    torch.ones(2) + 1
with Log(), torch._C.DisableTorchFunctionSubclass():
    torch.ones(2)
