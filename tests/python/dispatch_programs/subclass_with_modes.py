"""Modes come before classes; wrappers in modules, no_grad, deepcopy and state dicts."""

import copy

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map


class W(torch.Tensor):
    @staticmethod
    def __new__(cls, elem):
        return torch.Tensor._make_wrapper_subclass(cls, elem.shape, dtype=elem.dtype, requires_grad=elem.requires_grad)

    def __init__(self, elem):
        self.elem = elem.detach() if elem.requires_grad else elem

    def __repr__(self):
        return f"W({self.elem})"

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        args, kwargs = tree_map(lambda t: t.elem if isinstance(t, W) else t, (args, kwargs or {}))
        return tree_map(lambda t: W(t) if isinstance(t, torch.Tensor) else t, func(*args, **kwargs))


class Order(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        print(func, [t.__name__ for t in types])
        return func(*args, **(kwargs or {}))


class Polite(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        print("polite")
        return NotImplemented


x = W(torch.ones(2))
with Order():
    y = x + 1
print(y)
for other in (torch.ones(2), x):
    try:
        with Polite():
            other * 2
    except TypeError as error:
        print(type(error).__name__)
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))
reference = copy.deepcopy(model)
for module in model:
    for name, parameter in list(module.named_parameters(recurse=False)):
        setattr(module, name, torch.nn.Parameter(W(parameter.detach())))
print([type(p).__name__ for p in model.parameters()], isinstance(model[0].weight, torch.nn.Parameter))
inputs = torch.linspace(0, 1, 8).view(4, 2)
for net in (model, reference):
    optimizer = torch.optim.Adam(net.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        net(inputs).pow(2).mean().backward()
        optimizer.step()
pairs = list(zip(model.parameters(), reference.parameters()))
print(
    [torch.allclose(a.elem, b.detach(), atol=1e-5) for a, b in pairs],
    [type(p.grad).__name__ for p in model.parameters()],
)
again = copy.deepcopy(model)
print([torch.equal(a.elem, b.elem) for a, b in zip(model.parameters(), again.parameters())], again[0].weight.is_leaf)
print({name: type(value).__name__ for name, value in model.state_dict().items()})
