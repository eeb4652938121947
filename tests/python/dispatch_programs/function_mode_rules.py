"""Function modes nest, replace results, fail and refuse."""

import torch
from torch.overrides import (
    TorchFunctionMode,
    _get_current_function_mode,
    _get_current_function_mode_stack,
    _pop_mode_temporarily,
)


class Name(TorchFunctionMode):
    def __init__(self, name):
        super().__init__()
        self.name = name

    def __torch_function__(self, func, types, args=(), kwargs=None):
        print(self.name, func.__name__)
        return func(*args, **(kwargs or {}))


class Device(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func in (torch.ones, torch.empty):
            kwargs.setdefault("device", "meta")
        return func(*args, **kwargs)


class Refuse(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        return NotImplemented


class Bare(TorchFunctionMode):
    pass


with Name("outer"), Name("inner"):
    torch.ones(2)
    print([m.name for m in _get_current_function_mode_stack()], _get_current_function_mode().name)
    with _pop_mode_temporarily() as mode:
        print(mode.name)
        torch.zeros(1)
print(_get_current_function_mode())
with Device():
    print(torch.ones(2).device, torch.empty(3).device)
print(torch.ones(2).device)
for mode in (Refuse(), Bare()):
    try:
        with mode:
            torch.ones(2)
    except Exception as error:
        print(type(error).__name__)
try:
    with Name("left"):
        raise ValueError("x")
except ValueError as error:
    print(error, _get_current_function_mode())


class Doubling(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        print("class", func.__name__)
        return super().__torch_function__(func, types, args, kwargs)


with Name("mode"):
    torch.add(torch.ones(1).as_subclass(Doubling), 1)
print(torch.overrides.is_tensor_like(torch.ones(1)), torch.overrides.is_tensor_like(1))
print(torch.overrides.resolve_name(torch.Tensor.add), torch.overrides.resolve_name(torch.add))
print(
    torch.overrides.is_tensor_method_or_property(torch.Tensor.add),
    torch.overrides.is_tensor_method_or_property(torch.add),
)
