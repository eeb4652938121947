#!/usr/bin/env python3
"""run.py BUILD RUNS [TARGET...]: gives each fuzzer RUNS inputs, beginning with entries of the corpora: the library's
own files, the bad files and, where build/venv-oracle is there, PyTorch's. Findings stay in BUILD."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
TESTS = ROOT / "tests" / "codegen"
sys.path.insert(0, str(ROOT / "tests"))
from fuzzing import run_fuzzers  # noqa: E402
from oracle_environment import upstream_files  # noqa: E402


def entries(path, key):
    return re.split(rf"(?m)^(?=- {key}:)", path.read_text())[1:]


def corpora():
    """{target: seeds}"""
    upstream = upstream_files()
    ours, derivatives = entries(ROOT / "native_functions.yaml", "func"), entries(ROOT / "derivatives.yaml", "name")
    theirs = entries(upstream["native_functions"], "func") if upstream else []
    derivatives += entries(upstream["derivatives"], "name") if upstream else []
    bad = [path.read_bytes() for path in sorted((TESTS / "bad").glob("*.yaml"))]
    theirs = theirs[::10]
    texts = [line.split(": ", 1)[1].strip() for entry in derivatives for line in entry.split("\n") if ": " in line]
    files = [b"0" + entry.encode() for entry in ours[::4]] + [b"1" + entry.encode() for entry in theirs]
    rows = re.findall(r"rowwise: (.*)", "".join(ours) + (ROOT / "tests/rows/rows.yaml").read_text())
    return {
        "schema": [re.search(r"func: (.*)", entry)[1] for entry in ours + theirs],
        "formula": texts + re.findall(r"pointwise: (.*)", "".join(ours)),
        "rows": rows,
        "yaml": files
        + [b"0" + text for text in bad]
        + [b"0" + text + b"\n%%\n- name: f\n  self: grad\n" for text in bad],
        "fmt": files + [b"1" + entry.encode() for entry in derivatives[::4]] + [b"0" + text for text in bad],
        "diff": [b"0" + a.encode() + b"\n%%\n" + b.encode() for a, b in zip(ours[::3], ours[1::3])],
    }


if __name__ == "__main__":
    run_fuzzers(corpora, longest=2048, seconds=60, memory_mb=2000)
