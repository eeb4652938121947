#!/usr/bin/env python3
"""Writes the files of data/ anew that torch.save makes. Needs PyTorch 2.15: build/venv-oracle/bin/python,
which ./tenon setup --oracle makes. variants.py makes the others from these."""

import collections
import sys
from pathlib import Path

try:
    import torch
except ImportError:
    sys.exit("skipped: this Python has no torch")

import cases

DATA = Path(__file__).resolve().parent / "data"


def state_dicts():
    base = torch.arange(12.0)
    mixed = collections.OrderedDict(
        [
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
        ]
    )
    torch.save(mixed, DATA / "mixed.pt")
    torch.manual_seed(0)
    module = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3))
    torch.save(module.state_dict(), DATA / "module.pt")
    torch.save(collections.OrderedDict([("one", torch.arange(4, dtype=torch.int32))]), DATA / "one.pt")


def foreign():
    """Kinds of tensor that the library has not, or has in another way."""
    floats = torch.arange(3.0)
    z = torch.tensor([1 + 2j, 3 - 4j, 5j], dtype=torch.complex64)
    torch.save(
        {
            "z": z,
            "conj": z.conj(),
            "neg": torch._neg_view(floats),
            "both": torch._neg_view(z.conj()),
            "part": z.conj()[1:],
        },
        DATA / "conj.pt",
    )
    eye = torch.eye(3).to_sparse()
    torch.save({"coo": eye, "dense": torch.ones(2)}, DATA / "sparse_coo.pt")
    torch.save({"csr": torch.eye(3).to_sparse_csr()}, DATA / "sparse_csr.pt")
    q = torch.quantize_per_tensor(torch.arange(4.0), 0.5, 3, torch.qint8)
    torch.save({"q": q}, DATA / "quantized.pt")
    torch.save({"h": torch.zeros(2, dtype=torch.complex32)}, DATA / "complex32.pt")
    torch.save(torch.nn.Linear(2, 1), DATA / "whole_module.pt")


def protocols():
    value = {
        "tensor": torch.arange(3.0),
        "text": "x" * 300,
        "bytes": b"\x00\xff",
        "set": {1},
        "int": 2**70,
        "array": bytearray(b"ab"),
    }
    for protocol in (3, 4, 5):
        torch.save(value, DATA / f"protocol{protocol}.pt", pickle_protocol=protocol)


if __name__ == "__main__":
    DATA.mkdir(exist_ok=True)
    state_dicts()
    foreign()
    protocols()
    for name in cases.NAMES:
        cases.write(name, DATA / f"{name}.pt")
