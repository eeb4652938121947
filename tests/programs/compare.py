"""Runs programs with PyTorch and, unmodified, with Tenon in its place, and compares what they print.

    python tests/programs/compare.py --clients PYTHON --pytorch SITE_PACKAGES [names]

--clients: an interpreter whose packages the programs use, without PyTorch. --pytorch: the folder with PyTorch. Words must be the same,
numbers within 2e-3 of each other, relative or absolute.
"""

import argparse
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|inf|nan)\b")
TOLERANCE = 2e-3


def run(command, paths, seconds):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    environment.setdefault("TOKENIZERS_PARALLELISM", "false")
    start = time.monotonic()
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return None, f"longer than {seconds} s", seconds
    return done.stdout if done.returncode == 0 else None, done.stderr, time.monotonic() - start


def differences(ours, theirs):
    """What differs between two texts; empty if nothing does."""
    if NUMBER.sub("#", ours) != NUMBER.sub("#", theirs):
        return [f"the words differ:\n{ours}\n{theirs}"]
    pairs = [(float(a), float(b)) for a, b in zip(NUMBER.findall(ours), NUMBER.findall(theirs))]
    return [f"{a} and {b}" for a, b in pairs if a == a and a != b and not abs(a - b) <= TOLERANCE * max(1.0, abs(b))]


def outcome(program, options):
    kept = options.kept and Path(options.kept) / (program.stem + ".txt")
    if kept and kept.exists() and kept.stat().st_mtime > program.stat().st_mtime:
        theirs, theirs_s = kept.read_text(), 0.0
    else:
        theirs, error, theirs_s = run([options.clients, str(program)], [options.pytorch], options.seconds)
        if theirs is None:
            return "not with PyTorch", error.strip().splitlines()[-options.lines :], theirs_s, 0.0
        if kept:
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_text(theirs)
    command = [options.clients, "-m", "tenon.as_torch", *(["--report"] if options.report else []), str(program)]
    ours, error, ours_s = run(command, os.environ.get("PYTHONPATH", "").split(os.pathsep), options.seconds)
    if ours is None:
        return "stopped", error.strip().splitlines()[-options.lines :], theirs_s, ours_s
    found = differences(ours, theirs)
    return (
        ("different" if found else "same"),
        found[:5] or error.splitlines()[: 200 if options.report else 0],
        theirs_s,
        ours_s,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--clients", default=sys.executable)
    parser.add_argument("--pytorch", required=True)
    parser.add_argument("--seconds", type=int, default=200)
    parser.add_argument("--lines", type=int, default=6)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--kept", help="a folder that keeps what programs print with PyTorch")
    parser.add_argument("--report", action="store_true")
    options = parser.parse_args()
    programs = [
        p
        for p in sorted(HERE.glob("*.py"))
        if p.name not in ("clients.py", "compare.py", "times.py") and (not options.names or p.stem in options.names)
    ]
    counts = {}
    with ThreadPoolExecutor(options.jobs) as pool:
        for program, result in zip(programs, pool.map(lambda p: outcome(p, options), programs)):
            kind, details, theirs_s, ours_s = result
            counts[kind] = counts.get(kind, 0) + 1
            print(f"{program.stem:32} {kind:18} PyTorch {theirs_s:6.1f} s  Tenon {ours_s:6.1f} s", flush=True)
            for line in details:
                print("    " + line, flush=True)
    print(", ".join(f"{count} {kind}" for kind, count in sorted(counts.items())))
    return 0 if set(counts) <= {"same", "not with PyTorch"} else 1


if __name__ == "__main__":
    sys.exit(main())
