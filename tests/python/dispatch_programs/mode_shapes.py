"""Prints each operator with the shapes that go in and come out."""

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten


def shapes(values):
    return [tuple(t.shape) for t in tree_flatten(values)[0] if isinstance(t, torch.Tensor)]


class Shapes(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        print(func.__name__, shapes((args, kwargs)), "->", shapes(out))
        return out


with Shapes():
    x = torch.ones(2, 3)
    y = x.sum(1)
    torch.matmul(x, x.t())
    torch.topk(y, 1)
    x.unbind(0)
    x.reshape(3, 2)
    x[0]
    x[:, 1:]
    torch.cat([x, x], 1)
    torch.softmax(x, 1)
    x.split(1)
    x.max(1)
    x.to(torch.float64)
    torch.nn.functional.conv2d(torch.ones(1, 1, 4, 4), torch.ones(2, 1, 3, 3))
    torch.nn.functional.layer_norm(x, (3,))
    torch.nn.functional.linear(x, torch.ones(4, 3), torch.ones(4))
    torch.nn.functional.embedding(torch.tensor([1, 0]), x)
    torch.nn.functional.cross_entropy(x, torch.tensor([0, 2]))
    torch.bmm(x.unsqueeze(0), x.t().unsqueeze(0))
