"""A tensor that is two tensors, with gradients and optimizers."""

import torch
from torch.utils._python_dispatch import return_and_correct_aliasing, transform_subclass
from torch.utils._pytree import tree_map_only


class TwoTensor(torch.Tensor):
    @staticmethod
    def __new__(cls, a, b):
        return torch.Tensor._make_wrapper_subclass(
            cls,
            a.size(),
            strides=a.stride(),
            storage_offset=a.storage_offset(),
            device=a.device,
            layout=a.layout,
            requires_grad=a.requires_grad,
            dtype=a.dtype,
        )

    def __init__(self, a, b):
        self.a, self.b = a, b

    def __repr__(self):
        return f"TwoTensor({self.a!r}, {self.b!r})"

    def __tensor_flatten__(self):
        return ["a", "b"], None

    @staticmethod
    def __tensor_unflatten__(parts, context, size, stride):
        return TwoTensor(parts["a"], parts["b"])

    @classmethod
    def __torch_dispatch__(cls, func, types, args, kwargs):
        kwargs = kwargs or {}
        outs = []
        for name in ("a", "b"):
            mine, named = tree_map_only(TwoTensor, lambda t: getattr(t, name), (args, kwargs))
            outs.append(func(*mine, **named))
        first, second = outs
        if isinstance(first, torch.Tensor):
            out = TwoTensor(first, second)
        elif isinstance(first, (list, tuple)):
            out = type(first)(TwoTensor(x, y) for x, y in zip(first, second))
        else:
            out = first
        return return_and_correct_aliasing(func, args, kwargs, out)


t = TwoTensor(torch.arange(6.0).view(2, 3), torch.ones(2, 3))
print(t + 1, t.sum(), t.sum(0), t.t().shape, t @ t.t())
y = t.clone()
z = y.add_(1)
print(z is y, y, y._version)
print(y.view(3, 2), y.split(1), torch.cat([t, t]).shape, type(torch.stack([t, t])).__name__)
p = torch.nn.Parameter(t.clone())
print(type(p).__name__, p.requires_grad, p.is_leaf, isinstance(p, torch.nn.Parameter))
(p * p).sum().backward()
print(type(p.grad).__name__, p.grad)
optimizer = torch.optim.SGD([p], lr=0.1)
optimizer.step()
print(p)
optimizer.zero_grad()
print(p.grad)
for kind in (torch.optim.Adam, torch.optim.AdamW, torch.optim.RMSprop, torch.optim.Adagrad):
    optimizer = kind([p], lr=0.1)
    (p**2).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    print(kind.__name__, p)
print(p.detach().requires_grad, type(p.data).__name__, p.data.requires_grad)
(gradient,) = torch.autograd.grad(p.exp().sum(), p)
print(type(gradient).__name__)
with torch.no_grad():
    p.mul_(0)
print(p)
print(t.dtype, t.device, t.shape, t.dim(), t.numel(), len(t), t.is_contiguous(), t.stride())
print(
    torch.zeros_like(t),
    t.to(torch.float64).dtype,
    t[0],
    t[:, 1],
    (t > 2).any(),
    torch.where(t > 2, t, torch.zeros_like(t)),
)
print([type(x).__name__ for x in t.tensor_split(2)], t.mean(), t.max(), torch.nn.functional.relu(t - 2))
print([type(x).__name__ for x in t.max(1)])
print(transform_subclass(t, lambda name, part: part * 2))
