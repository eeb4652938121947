"""What a mode raises reaches the program as the same object, also out of a backward pass; the mode is left."""

import traceback

import torch
from torch.utils._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode


class Raise(TorchDispatchMode):
    def __init__(self, error):
        super().__init__()
        self.error = error

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        raise self.error


error = KeyError("mine")
try:
    with Raise(error):
        torch.ones(2)
except KeyError as caught:
    print(caught is error, [frame.name for frame in traceback.extract_tb(caught.__traceback__)][-1])
print(_get_current_dispatch_mode())
x = torch.ones(2, requires_grad=True)
loss = (x * 2).sum()
error = ValueError("in backward")
try:
    with Raise(error):
        loss.backward()
except ValueError as caught:
    print(caught is error, [frame.name for frame in traceback.extract_tb(caught.__traceback__)][-1])


class Method(TorchDispatchMode):
    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return func(*args)


class Nothing(TorchDispatchMode):
    pass


class Refuse(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return NotImplemented


for mode in (Method(), Nothing(), Refuse()):
    try:
        with mode:
            torch.ones(2)
    except Exception as caught:
        print(type(caught).__name__, caught)
