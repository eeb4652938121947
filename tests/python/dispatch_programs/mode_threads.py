"""A mode is its thread's; a result keeps what the mode has set on it."""

import threading

import torch
from torch.utils._python_dispatch import TorchDispatchMode


class Tag(TorchDispatchMode):
    calls = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.calls += 1
        out = func(*args, **(kwargs or {}))
        if isinstance(out, torch.Tensor):
            out.made_by = str(func)
        return out


with Tag() as mode:
    worker = threading.Thread(target=lambda: torch.ones(2) + 1)
    worker.start()
    worker.join()
    print(mode.calls)
    x = torch.ones(2)
    y = x * 3
    print(x.made_by, y.made_by, torch.sum(y).made_by)
print(mode.calls)
