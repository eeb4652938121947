"""Gradients of gradients, hooks and custom Functions of wrappers."""

import torch
from torch.utils._pytree import tree_map


class W(torch.Tensor):
    @staticmethod
    def __new__(cls, elem):
        return torch.Tensor._make_wrapper_subclass(cls, elem.shape, dtype=elem.dtype)

    def __init__(self, elem):
        self.elem = elem

    def __repr__(self):
        return f"W({self.elem})"

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        args, kwargs = tree_map(lambda t: t.elem if isinstance(t, W) else t, (args, kwargs or {}))
        return tree_map(lambda t: W(t) if isinstance(t, torch.Tensor) else t, func(*args, **kwargs))


x = W(torch.tensor([1.0, 2.0])).requires_grad_()
(g,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
(h,) = torch.autograd.grad(g.sum(), x)
print(g.detach(), h, type(h).__name__)
seen = []
x.register_hook(lambda grad: seen.append(type(grad).__name__))
(x * 3).sum().backward()
print(seen, x.grad)
(x * 3).sum().backward()
print(x.grad)


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        print(type(x).__name__, type(grad).__name__)
        return grad * 2 * x


x.grad = None
out = Square.apply(x)
print(type(out).__name__, out.requires_grad, out.is_leaf)
out.sum().backward()
print(x.grad)
plain = torch.ones(2, requires_grad=True)
(plain * W(torch.full((2,), 5.0))).sum().backward()
print(type(plain.grad).__name__, plain.grad)
with torch.no_grad():
    print((x * 2).requires_grad)
print((x * 2).grad_fn is not None, x.grad_fn, x.is_leaf, x.detach().requires_grad)
print(torch.ones(2) + W(torch.ones(2)), W(W(torch.ones(2))) * 2)
