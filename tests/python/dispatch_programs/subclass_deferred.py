"""Tensors that are computed when they are asked for: shapes come from the device meta."""

import torch
from torch.utils._pytree import tree_map


class Deferred(torch.Tensor):
    @staticmethod
    def __new__(cls, meta, compute):
        return torch.Tensor._make_wrapper_subclass(
            cls, meta.size(), strides=meta.stride(), dtype=meta.dtype, device="cpu"
        )

    def __init__(self, meta, compute):
        self.meta, self.compute = meta, compute

    def __repr__(self):
        return f"Deferred({tuple(self.shape)}, {self.dtype})"

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        def meta_of(t):
            return t.meta if isinstance(t, cls) else t.to("meta") if isinstance(t, torch.Tensor) else t

        def value_of(t):
            return t.compute() if isinstance(t, cls) else t

        kwargs = kwargs or {}
        meta = func(*tree_map(meta_of, args), **tree_map(meta_of, kwargs))
        return cls(meta, lambda: func(*tree_map(value_of, args), **tree_map(value_of, kwargs)))


computed = []


def source():
    computed.append(1)
    return torch.arange(6.0).view(2, 3)


x = Deferred(torch.empty(2, 3, device="meta"), source)
y = (x @ torch.ones(3, 4) + 1).relu().sum(1)
print(x, y, y.shape, y.dtype, y.device, computed)
print(y.compute(), computed)
z = torch.softmax(x.to(torch.float64).t(), 0)
print(z, torch.allclose(z.compute(), torch.softmax(source().double().t(), 0)))
