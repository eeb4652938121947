"""What a program sets on a wrapper is there when the tensor comes back from autograd."""

import gc
import weakref

import torch
from torch.utils._pytree import tree_map


class Named(torch.Tensor):
    @staticmethod
    def __new__(cls, elem, name=None):
        return torch.Tensor._make_wrapper_subclass(cls, elem.shape, dtype=elem.dtype)

    def __init__(self, elem, name=None):
        self.elem, self.label = elem, name

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        args, kwargs = tree_map(lambda t: t.elem if isinstance(t, Named) else t, (args, kwargs or {}))
        name = func.__name__
        return tree_map(lambda t: Named(t, name) if isinstance(t, torch.Tensor) else t, func(*args, **kwargs))


leaf = Named(torch.zeros(2), "leaf").requires_grad_()
leaf.grad = Named(torch.ones(2), "gradient")
gc.collect()
print(leaf.grad.label, leaf.grad is leaf.grad)
watched = weakref.ref(leaf.grad)
print(watched() is leaf.grad)
leaf.grad = None
gc.collect()
print(watched() is None)


class Keep(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, other):
        ctx.save_for_backward(other)
        return x * 1

    @staticmethod
    def backward(ctx, grad):
        print(ctx.saved_tensors[0].label)
        return grad * 1, None


y = Keep.apply(leaf, Named(torch.ones(2), "saved")).sum()
gc.collect()
y.backward()
watched = weakref.ref(leaf)
node = (leaf * 2).sum()
del leaf
gc.collect()
print(watched() is None)
node.backward()
print(watched() is not None and watched().label)
del node
gc.collect()
print(watched() is None)
for _ in range(1000):
    t = Named(torch.ones(3), "many").requires_grad_()
    (t * t).sum().backward()
    assert t.grad.elem[0] == 2
print(len([o for o in gc.get_objects() if isinstance(o, Named)]) < 10)
