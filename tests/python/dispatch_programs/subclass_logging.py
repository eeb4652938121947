"""A wrapper that prints the operators of the forward pass; gradients are wrappers too."""

import torch
from torch.utils._pytree import tree_map


class Log(torch.Tensor):
    show = True

    @staticmethod
    def __new__(cls, elem, requires_grad=False):
        out = torch.Tensor._make_wrapper_subclass(cls, elem.size(), dtype=elem.dtype, requires_grad=requires_grad)
        out.elem = elem
        return out

    def __repr__(self):
        return super().__repr__(tensor_contents=f"{self.elem}")

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        def unwrap(t):
            return t.elem if isinstance(t, cls) else t

        def wrap(t):
            return cls(t) if isinstance(t, torch.Tensor) else t

        if cls.show:
            print(func, [t.__name__ for t in types])
        return tree_map(wrap, func(*tree_map(unwrap, args), **tree_map(unwrap, kwargs or {})))


x = Log(torch.tensor([1.0, 2.0, 3.0]), requires_grad=True)
w = Log(torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), requires_grad=True)
print(x, w.detach())
y = (w * 2 + x) @ w.t()
loss = y.mean()
print(loss)
Log.show = False
loss.backward()
print(type(x.grad).__name__, x.grad.elem, w.grad.elem)
functions = {
    "exp": lambda: x.exp(),
    "relu": lambda: (x - 2).relu(),
    "sigmoid": lambda: x.sigmoid(),
    "tanh": lambda: x.tanh(),
    "softmax": lambda: w.softmax(1) * w,
    "log_softmax": lambda: w.log_softmax(1),
    "gelu": lambda: torch.nn.functional.gelu(x),
    "silu": lambda: torch.nn.functional.silu(x),
    "layer_norm": lambda: torch.nn.functional.layer_norm(w, (3,)) * w,
    "mse": lambda: torch.nn.functional.mse_loss(w, torch.zeros(2, 3)),
    "cross_entropy": lambda: torch.nn.functional.cross_entropy(w, torch.tensor([0, 2])),
    "linear": lambda: torch.nn.functional.linear(w, w, x[:2]),
    "division": lambda: x / w,
    "power": lambda: x**3,
    "index": lambda: w[:, 1:] * w[0, 0],
    "cat": lambda: torch.cat([x, x * x]),
    "where": lambda: torch.where(w > 2, w * w, w),
    "max": lambda: w.max(1).values,
    "std": lambda: w.std(1),
    "norm": lambda: w.norm(),
    "clamp": lambda: w.clamp(2, 5) * w,
    "prod": lambda: x.prod(),
    "embedding": lambda: torch.nn.functional.embedding(torch.tensor([1, 0, 1]), w),
    "conv": lambda: torch.nn.functional.conv1d(w.unsqueeze(0), w.unsqueeze(0)),
    "batch_norm": lambda: torch.nn.functional.batch_norm(w, None, None, training=True) * w,
    "unbind": lambda: w.unbind(0)[1],
    "expand": lambda: x.expand(2, 3) * w,
    "bce": lambda: torch.nn.functional.binary_cross_entropy_with_logits(w, torch.ones(2, 3)),
    "attention": lambda: torch.nn.functional.scaled_dot_product_attention(w[None], w[None], w[None]),
}
for name, function in functions.items():
    x.grad = w.grad = None
    result = function()
    result.sum().backward()
    grads = [None if g is None else (g.elem * 1000).round() / 1000 + 0.0 for g in (x.grad, w.grad)]
    print(name, type(result).__name__, grads)
