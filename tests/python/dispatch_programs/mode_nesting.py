"""Modes nest, and can be left for a while."""

import torch
from torch.utils._python_dispatch import (
    TorchDispatchMode,
    _disable_current_modes,
    _get_current_dispatch_mode,
    _get_current_dispatch_mode_stack,
    _pop_mode_temporarily,
)


class Count(TorchDispatchMode):
    def __init__(self, name):
        super().__init__()
        self.name, self.calls = name, {}

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.calls[str(func)] = self.calls.get(str(func), 0) + 1
        return func(*args, **(kwargs or {}))


with Count("outer") as outer:
    with Count("inner") as inner:
        x = torch.ones(3)
        y = x + x
        print(_get_current_dispatch_mode() is inner, [m.name for m in _get_current_dispatch_mode_stack()])
        with _pop_mode_temporarily() as popped:
            print(popped is inner, _get_current_dispatch_mode() is outer)
            x * 2
        with _disable_current_modes():
            print(_get_current_dispatch_mode())
            x / 2
    y - 1
print(outer.calls, inner.calls, _get_current_dispatch_mode())
with Count("again") as again:
    with again:
        torch.ones(1)
print(again.calls)
with torch.no_grad(), Count("no_grad") as mode:
    torch.ones(2).mul(2)
print(mode.calls)
with torch.inference_mode(), Count("inference") as mode:
    torch.ones(2) + 1
print(mode.calls)
