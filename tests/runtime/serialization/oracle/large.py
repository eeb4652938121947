#!/usr/bin/env python3
"""large.py PROGRAM: files of more than 4 GiB, saved by PyTorch and loaded by Tenon and the other way around. PROGRAM is
serialization_oracle. Needs TENON_LARGE_FILES, a folder with room for 10 GB, and about as much memory."""

import os
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
from oracle_environment import SKIPPED, enter  # noqa: E402

LARGE = 2**32 + 300_000_001
MARKED = [0, 1, 2**31 - 1, 2**31, 2**32 - 1, 2**32, LARGE - 1]


def value():
    import torch

    big = torch.zeros(LARGE, dtype=torch.uint8)
    for mark, at in enumerate(MARKED, 1):
        big[at] = mark
    return {"big": big, "after": torch.arange(5.0)}


def check(path, mmap):
    import torch

    loaded = torch.load(path, mmap=mmap, weights_only=True)
    big = loaded["big"]
    assert big.shape == (LARGE,) and big.dtype == torch.uint8
    assert [big[at].item() for at in MARKED] == list(range(1, len(MARKED) + 1))
    assert sum(torch.count_nonzero(part).item() for part in big.split(2**28)) == len(MARKED)
    assert loaded["after"].tolist() == [0, 1, 2, 3, 4]


def same_but_digest(ours, theirs):
    """Byte for byte up to the record of the digest, which is the last but for the directory."""
    assert ours.stat().st_size == theirs.stat().st_size, (ours.stat().st_size, theirs.stat().st_size)
    end = theirs.stat().st_size - 4096
    with open(ours, "rb") as a, open(theirs, "rb") as b:
        while a.tell() < end:
            at = a.tell()
            step = min(1 << 26, end - at)
            assert a.read(step) == b.read(step), f"bytes from {at} on differ"
        x, y = a.read(), b.read()
    digest = y.index(b".data/serialization_id")
    assert x[:digest] == y[:digest], "the last bytes differ"
    # The digest twice 20 digits, and its checksum in two places.
    assert sum(p != q for p, q in zip(x, y)) <= 40 + 4 + 4


def main():
    folder = os.environ.get("TENON_LARGE_FILES")
    if not folder:
        print("skipped: TENON_LARGE_FILES names no folder for 10 GB of files")
        sys.exit(SKIPPED)
    enter()
    import torch

    program = sys.argv[1]
    ours, theirs = Path(folder) / "large" / "x.pt", Path(folder) / "large.torch" / "x.pt"

    def run(*args):
        begin = time.time()
        subprocess.run([program, *map(str, args)], check=True)
        print(f"{' '.join(map(str, args))}: {time.time() - begin:.1f} s", flush=True)

    for path in (ours, theirs):
        path.parent.mkdir(exist_ok=True)
    try:
        torch.save(value(), theirs)
        run("check-large", theirs, "mmap")
        run("check-large", theirs, "read")
        run("large", ours, "zip")
        same_but_digest(ours, theirs)
        check(ours, mmap=True)
        check(ours, mmap=False)
        theirs.unlink()
        run("large", ours, "deflated")
        run("check-large", ours, "read")
        check(ours, mmap=False)
        torch.save(value(), theirs, _use_new_zipfile_serialization=False)
        run("check-large", theirs, "read")
        theirs.unlink()
        run("large", ours, "legacy")
        check(ours, mmap=False)
    finally:
        for path in (ours, theirs):
            path.unlink(missing_ok=True)
            path.parent.rmdir()
    print(f"torch {torch.__version__}: files of {LARGE} bytes and more agree")


if __name__ == "__main__":
    main()
