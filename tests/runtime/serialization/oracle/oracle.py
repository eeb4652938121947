#!/usr/bin/env python3
"""oracle.py PROGRAM: saves and loads with PyTorch and with Tenon, crosswise. PROGRAM is
serialization_oracle. Skipped where build/venv-oracle is missing."""

import collections
import os
import random
import struct
import subprocess
import sys
import tempfile
import warnings
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(HERE.parents[1]))
from oracle_environment import enter  # noqa: E402


class Comparison:
    """Equal types, values, geometry, flags, attributes and sharing."""

    def __init__(self):
        self.seen = set()
        self.storages = {}
        self.reverse = {}

    def same(self, a, b, at="value"):
        import torch

        assert type(a) is type(b), f"{at}: {type(a)} and {type(b)}"
        if (id(a), id(b)) in self.seen:
            return
        self.seen.add((id(a), id(b)))
        if isinstance(a, torch.Tensor):
            self.same_tensor(a, b, at)
        elif isinstance(a, (torch.UntypedStorage, torch.TypedStorage)):
            assert list(a) == list(b), at
            self.shared(a, b, at)
        elif isinstance(a, dict):
            assert list(map(repr, a)) == list(map(repr, b)), f"{at}: keys {list(a)} and {list(b)}"
            for key, x, y in zip(a, a.values(), b.values()):
                self.same(x, y, f"{at}[{key!r}]")
            self.same(getattr(a, "__dict__", None), getattr(b, "__dict__", None), f"{at}.__dict__")
        elif isinstance(a, (list, tuple)):
            assert len(a) == len(b), at
            for i, (x, y) in enumerate(zip(a, b)):
                self.same(x, y, f"{at}[{i}]")
        elif isinstance(a, float):
            assert struct.pack("d", a) == struct.pack("d", b), at
        else:
            assert a == b, f"{at}: {a!r} and {b!r}"

    def shared(self, a, b, at):
        x, y = (s.untyped() if hasattr(s, "untyped") else s for s in (a, b))
        assert x.nbytes() == y.nbytes(), f"{at}: storages of {x.nbytes()} and {y.nbytes()} bytes"
        if x.nbytes():
            assert self.storages.setdefault(x.data_ptr(), y.data_ptr()) == y.data_ptr(), at
            assert self.reverse.setdefault(y.data_ptr(), x.data_ptr()) == x.data_ptr(), at

    def same_tensor(self, a, b, at):
        import torch

        for what in ("dtype", "shape", "requires_grad", "is_leaf", "device"):
            x, y = getattr(a, what), getattr(b, what)
            # What was saved as the result of an operation loads as a leaf.
            assert x == y or what == "is_leaf", f"{at}.{what}: {x} and {y}"
        assert a.stride() == b.stride() and a.storage_offset() == b.storage_offset(), at
        self.same(a.__dict__, b.__dict__, f"{at}.__dict__")
        if a.device.type == "meta":
            return
        self.shared(a.untyped_storage(), b.untyped_storage(), at)
        x, y = (
            t.detach().contiguous().flatten().view(torch.uint8) if t.dim() else t.detach().reshape(1).view(torch.uint8)
            for t in (a, b)
        )
        assert bytes(x.tolist()) == bytes(y.tolist()), at


def random_object(rng, depth, pool):
    """Anything that can be saved; objects of the pool occur again."""
    import torch

    if pool and rng.random() < 0.15:
        return rng.choice(pool)
    kinds = ["int", "float", "str", "bytes", "tensor", "view", "none", "size", "dtype", "big"]
    if depth > 0:
        kinds += ["list", "tuple", "dict", "od", "counter", "parameter"] * 2
    kind = rng.choice(kinds)
    some = lambda: [random_object(rng, depth - 1, pool) for _ in range(rng.choice([0, 1, 2, 3, 5]))]
    key = lambda: rng.choice(["k", "key", 3, -1, 2.5, None, ("t", 1), "other key"])
    if kind == "int":
        result = rng.choice([0, 1, -1, 255, 256, 65536, -(2**31), 2**31, 2**63, -(2**100)])
    elif kind == "big":
        result = rng.getrandbits(rng.randrange(1, 2000)) * rng.choice([1, -1])
    elif kind == "float":
        result = rng.choice([0.0, -0.0, 1.5, float("inf"), 1e-300])
    elif kind == "str":
        result = rng.choice(["", "a", "text", "\u00e9", "\u4e2d"]) * rng.randrange(3)
    elif kind == "bytes":
        result = rng.randbytes(rng.randrange(1, 5))
    elif kind == "none":
        result = rng.choice([None, True, False])
    elif kind == "size":
        result = torch.Size(rng.choice([(), (1,), (2, 3), (1, 2, 3, 4)]))
    elif kind == "dtype":
        result = rng.choice([torch.float32, torch.int64, torch.device("cpu"), torch.strided])
    elif kind == "tensor":
        dtype = rng.choice([torch.float32, torch.int64, torch.bool, torch.complex64, torch.uint16])
        result = torch.zeros(rng.choice([(), (0,), (3,), (2, 3)]), dtype=dtype)
    elif kind == "view":
        result = torch.arange(24.0).view(2, 3, 4)[:, rng.randrange(3)].t()
    elif kind == "parameter":
        result = torch.nn.Parameter(torch.ones(2), requires_grad=rng.random() < 0.5)
    elif kind == "list":
        result = some()
    elif kind == "tuple":
        result = tuple(some())
    elif kind == "dict":
        result = {key(): v for v in some()}
    elif kind == "od":
        result = collections.OrderedDict((key(), v) for v in some())
        if rng.random() < 0.3:
            result._metadata = {"version": 1}
    else:
        result = collections.Counter({"x": 1, "y": rng.randrange(9)})
    pool.append(result)
    return result


def records(path):
    with zipfile.ZipFile(path) as archive:
        return {i.filename.split("/", 1)[1]: archive.read(i) for i in archive.infolist()}


def same_archive(ours, theirs, name):
    """Byte for byte, but for the digest and what follows from it."""
    a, b = ours.read_bytes(), theirs.read_bytes()
    end = b.find(b".data/serialization_id")
    if end < 0 or a[:end] == b[:end] and len(a) == len(b):
        return
    x, y = records(ours), records(theirs)
    different = [r for r in y if x.get(r) != y[r] and r != ".data/serialization_id"]
    raise AssertionError(f"{name}: bytes differ; records that differ: {different}")


def main():
    enter()
    import torch

    sys.path.insert(0, str(HERE))
    import cases

    warnings.simplefilter("ignore")
    program = sys.argv[1]

    def run(*args):
        subprocess.run([program, *map(str, args)], check=True)

    with tempfile.TemporaryDirectory() as folder:
        ours, theirs, resaved, random_ones = (Path(folder) / n for n in "abcd")
        for path in (ours, theirs, resaved, random_ones):
            path.mkdir()
        for name in cases.NAMES:
            cases.write(name, theirs / f"{name}.pt")
        run("check", theirs)
        run("write", ours)
        for name in cases.NAMES:
            if not name.startswith("legacy"):
                same_archive(ours / f"{name}.pt", theirs / f"{name}.pt", name)
            for mmap in (False, True):
                if mmap and name.startswith("legacy"):
                    continue
                weights_only = name not in cases.NOT_WEIGHTS_ONLY
                loaded = torch.load(ours / f"{name}.pt", weights_only=weights_only, mmap=mmap)
                Comparison().same(loaded, torch.load(theirs / f"{name}.pt", mmap=mmap, weights_only=weights_only), name)
        count = int(os.environ.get("TENON_ORACLE_OBJECTS", "150"))
        for seed in range(count):
            value = random_object(random.Random(seed), 4, [])
            torch.save(value, random_ones / f"r{seed}.pt")
        run("resave", random_ones, resaved)
        for seed in range(count):
            name = f"r{seed}.pt"
            same_archive(resaved / name, random_ones / name, name)
            Comparison().same(
                torch.load(resaved / name, weights_only=True), torch.load(random_ones / name, weights_only=True), name
            )
    print(f"torch {torch.__version__}: {len(cases.NAMES)} cases and {count} random objects agree")


if __name__ == "__main__":
    main()
