#!/usr/bin/env python3
"""Needs PyTorch: build/venv-peer/bin/python, which ./tenon bench sets up.

    fixtures.py            writes mixed.pt, module.pt and one.pt anew, as torch.save does
    fixtures.py FILE...    reads files that Tenon wrote, with torch.load, and prints what is in them
"""

import collections
import sys
from pathlib import Path

try:
    import torch
except ImportError:
    sys.exit("skipped: this Python has no torch")

HERE = Path(__file__).resolve().parent


def write():
    base = torch.arange(12.0)
    mixed = collections.OrderedDict([
        ("a", torch.arange(6.0).reshape(2, 3)),
        ("b.c", torch.tensor(3)),
        ("v", base[2:8:2]),
        ("w", base.view(3, 4).t()),
        ("e", torch.zeros(0, 3)),
        ("five", torch.ones(1, 1, 1, 2, 3, dtype=torch.bfloat16)),
        ("big", torch.zeros(300, 1, dtype=torch.uint8)),
        ("grad", torch.tensor([1.5, -2.5], dtype=torch.float64).requires_grad_()),
        ("bool", torch.tensor([True, False])),
        ("c", torch.tensor([1 + 2j])),
        ("h", torch.tensor([0.5], dtype=torch.half)),
    ])
    torch.save(mixed, HERE / "mixed.pt")
    torch.manual_seed(0)
    module = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3))
    torch.save(module.state_dict(), HERE / "module.pt")
    torch.save(collections.OrderedDict([("one", torch.arange(4, dtype=torch.int32))]), HERE / "one.pt")


def show(path):
    for mmap in (False, True):
        state = torch.load(path, mmap=mmap, weights_only=True)
    for name, tensor in state.items():
        print(f"{path}: {name}: {tensor.dtype} {list(tensor.shape)}")


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        show(argument)
    if len(sys.argv) == 1:
        write()
