"""A weight of int8 numbers and scales, in a linear layer."""

import copy

import torch
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

aten = torch.ops.aten


class Int8Weight(torch.Tensor):
    @staticmethod
    def __new__(cls, numbers, scale, dtype):
        return torch.Tensor._make_wrapper_subclass(cls, numbers.shape, dtype=dtype, device=numbers.device)

    def __init__(self, numbers, scale, dtype):
        self.numbers, self.scale = numbers, scale

    @classmethod
    def of(cls, weight):
        scale = weight.abs().amax(1, keepdim=True) / 127
        return cls((weight / scale).round().to(torch.int8), scale, weight.dtype)

    def dequantize(self):
        return self.numbers.to(self.dtype) * self.scale

    def __repr__(self):
        return f"Int8Weight(shape={tuple(self.shape)}, dtype={self.dtype})"

    def __tensor_flatten__(self):
        return ["numbers", "scale"], self.dtype

    @classmethod
    def __tensor_unflatten__(cls, parts, dtype, size, stride):
        return cls(parts["numbers"], parts["scale"], dtype)

    @classmethod
    def __torch_dispatch__(cls, func, types, args, kwargs):
        if func in (aten.detach.default, aten.clone.default):
            return cls(func(args[0].numbers), func(args[0].scale), args[0].dtype)
        if func is aten.t.default:
            return args[0].dequantize().t()
        if func in (aten.mm.default, aten.addmm.default):
            return func(*[a.dequantize() if isinstance(a, cls) else a for a in args], **(kwargs or {}))
        raise NotImplementedError(f"{func} is not supported")


torch.manual_seed(0)
linear = torch.nn.Linear(8, 4)
x = torch.linspace(-1, 1, 24).view(3, 8)
before = linear(x)
linear.weight = torch.nn.Parameter(Int8Weight.of(linear.weight.detach()), requires_grad=False)
weight = linear.weight
print(type(weight).__name__, isinstance(weight, torch.nn.Parameter), weight.requires_grad, weight.is_leaf, weight)
after = linear(x)
print((before - after).abs().max().item() < 0.05, type(after).__name__)
after.sum().backward()
print(linear.bias.grad, [(name, tuple(p.shape)) for name, p in linear.named_parameters()])
try:
    weight + 1
except NotImplementedError as error:
    print(error)
print({name: type(value).__name__ for name, value in linear.state_dict().items()})
print(is_traceable_wrapper_subclass(weight), is_traceable_wrapper_subclass(x))
again = copy.deepcopy(linear)
print(type(again.weight).__name__, torch.equal(again.weight.numbers, weight.numbers))
