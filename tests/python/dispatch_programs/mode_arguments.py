"""func, args and kwargs: defaults are left out, numbers stay numbers."""

import torch
from torch.utils._python_dispatch import TorchDispatchMode


def shown(value):
    if isinstance(value, torch.Tensor):
        return "$"
    return [shown(one) for one in value] if isinstance(value, (list, tuple)) else value


class Log(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        named = {name: shown(value) for name, value in (kwargs or {}).items()}
        print(func, types, shown(args), named)
        return func(*args, **(kwargs or {}))


with Log():
    x = torch.ones(2, 2)
    x + 1
    1 - x
    x * 2.5
    2 / x
    x**2
    torch.add(x, x, alpha=2)
    x.sum(1, keepdim=True)
    x.mean(-1)
    x > 0
    x.clone()
    x.detach()
    x.T
    torch.tensor([1.0, 2.0])
    torch.zeros(2)
    torch.empty(2, device="meta")
    torch.arange(3)
    torch.rand(2)
    torch.full((2,), 3.0)
    torch.eye(2)
    torch.linspace(0, 1, 3)
    torch.zeros_like(x)
    x.new_zeros(2)
    x.sum().item()
    x.tolist()
    x.normal_()
    torch.dot(x[0], x[1])
    torch.where(x > 0, x, x)
    torch.clamp(x, 0, 1)
    torch.nn.functional.gelu(x, approximate="tanh")
    torch.nn.functional.mse_loss(x, x, reduction="sum")
    torch.nn.functional.dropout(x, 0.5, training=False)
    x.view(4)
    x.expand(3, 2, 2)
    x.argmax(1)
    x.masked_fill(x > 0, 1.0)
    x.cumsum(0)
    torch.linalg.vector_norm(x)
