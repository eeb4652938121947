#!/usr/bin/env python3
"""run.py BUILD RUNS: runs each fuzzer for half of RUNS, beginning with the files of ../data and the
pickles in them. Findings stay in BUILD."""

import subprocess
import sys
import zipfile
from pathlib import Path

DATA = Path(__file__).resolve().parent.parent / "data"
LIMITS = ["-max_len=8192", "-timeout=20", "-rss_limit_mb=3000", "-print_final_stats=1"]


def main():
    build, runs = Path(sys.argv[1]).resolve(), int(sys.argv[2])
    files, pickles = build / "corpus_checkpoint", build / "corpus_pickle"
    for folder in (files, pickles):
        folder.mkdir(exist_ok=True)
    for path in sorted(DATA.glob("*.pt")):
        if path.stat().st_size <= 8192:
            (files / path.name).write_bytes(path.read_bytes())
        if not zipfile.is_zipfile(path) or path.name == "no_crc.pt":  # Python checks CRCs
            continue
        with zipfile.ZipFile(path) as archive:
            name = next(n for n in archive.namelist() if n.endswith("/data.pkl"))
            data = archive.read(name)
        # The first byte says how the pickle is run.
        for mode in range(3):
            if len(data) < 8192:
                (pickles / f"{path.stem}_{mode}").write_bytes(bytes([mode]) + data)
    for name, corpus in (("fuzz_checkpoint", files), ("fuzz_pickle", pickles)):
        subprocess.run([str(build / name), f"-runs={runs // 2}", *LIMITS, str(corpus)], cwd=build,
                       check=True)


if __name__ == "__main__":
    main()
