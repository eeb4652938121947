#!/usr/bin/env python3
"""run.py BUILD RUNS [TARGET...]: gives each fuzzer RUNS inputs, beginning with the files of ../data and what is in
them. Findings stay in BUILD."""

import json
import struct
import sys
import zipfile
from pathlib import Path

TESTS = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TESTS.parent))
from fuzzing import run_fuzzers  # noqa: E402

DATA = TESTS / "serialization" / "data"
WORDS = {
    "safetensors": [
        "dtype",
        "shape",
        "data_offsets",
        "__metadata__",
        "BOOL",
        "F4",
        "F6_E2M3",
        "U8",
        "F8_E5M2",
        "F8_E4M3",
        "I16",
        "BF16",
        "F32",
        "F64",
        "C64",
        "I64",
    ],
    "index": [
        "format",
        "tenon.sharded",
        "version",
        "metadata",
        "files",
        "bytes",
        "sha256",
        "tensors",
        "name",
        "dtype",
        "shape",
        "pieces",
        "file",
        "record",
        "offset",
        "float32",
        "bool",
    ],
    "training": [
        "state",
        "param_groups",
        "params",
        "step",
        "exp_avg",
        "exp_avg_sq",
        "max_exp_avg_sq",
        "momentum_buffer",
        "lr",
        "betas",
        "eps",
        "weight_decay",
        "amsgrad",
        "momentum",
        "dampening",
        "nesterov",
    ],
}


def pickles():
    """{name: pickle} of the zip files."""
    found = {}
    for path in sorted(DATA.glob("*.pt")):
        if not zipfile.is_zipfile(path) or path.name == "no_crc.pt":  # Python checks CRCs
            continue
        with zipfile.ZipFile(path) as archive:
            name = next(n for n in archive.namelist() if n.endswith("/data.pkl"))
            found[path.stem] = archive.read(name)
    return found


def safetensors():
    for path in sorted(DATA.glob("*.safetensors")):
        data = path.read_bytes()
        (length,) = struct.unpack("<Q", data[:8])
        yield b"0" + data
        yield b"1" + struct.pack("<H", len(data) - 8 - length) + data[8 : 8 + length]


def index(pieces):
    """The index of two tensors, one of them cut into `pieces`."""
    files = {f"shard-{i}.pt": {"bytes": 100 + i, "sha256": "ab" * 32} for i in range(pieces)}
    cut = [
        {"file": f"shard-{i}.pt", "record": f"data/{i}", "offset": [2 * i, 0], "shape": [2, 3]} for i in range(pieces)
    ]
    tensors = [
        {"name": "weight", "dtype": "float32", "shape": [2 * pieces, 3], "pieces": cut},
        {"name": "scalar", "dtype": "int64", "shape": [], "pieces": [{**cut[0], "offset": [], "shape": []}]},
    ]
    return json.dumps(
        {"format": "tenon.sharded", "version": 1, "metadata": {"a": "b"}, "files": files, "tensors": tensors}
    ).encode()


def generator_state():
    """A state of the default generator, in PyTorch's layout."""
    return struct.pack("<QiiQ624Qdddifb7x", 5, 1, 1, 0, *range(624), 0, 0, 0, 1, 0.5, 1)


def corpora():
    """{target: seeds}"""
    found = pickles()
    return {
        "checkpoint": [path.read_bytes() for path in sorted(DATA.glob("*.pt"))],
        # The first byte says how the pickle is run.
        "pickle": [bytes([mode]) + pickle for pickle in found.values() for mode in range(3)],
        "safetensors": list(safetensors()),
        "index": [index(n) for n in range(1, 5)],
        "training": [b"0" + generator_state()] + [bytes([mode, 0]) + found["checkpoint"] for mode in (1, 2, 3)],
        "unpack": [
            path.read_bytes() for path in [*sorted((TESTS / "hub" / "data").glob("*.zip")), DATA / "deflated.pt"]
        ],
    }


if __name__ == "__main__":
    run_fuzzers(corpora, longest=8192, seconds=20, memory_mb=3000, words=WORDS)
