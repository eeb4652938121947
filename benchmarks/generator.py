#!/usr/bin/env python3
"""Times the operator generator: everything from nothing, again with nothing to do, and reading and checking PyTorch's
own files, whose peak memory is measured too; these need build/venv-oracle. On its own it prints a table and fails where a
target is missed."""

import argparse
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
from oracle_environment import HOW, upstream_files  # noqa: E402

FULL_SECONDS = 2.0
NOTHING_SECONDS = 0.2
CHECK_SECONDS = 0.3
CHECK_MIB = 100


def generate_command(build, out):
    return [
        str(build / "codegen/tenonc"),
        "gen",
        "--native",
        str(ROOT / "native_functions.yaml"),
        "--derivatives",
        str(ROOT / "derivatives.yaml"),
        "--tags",
        str(ROOT / "tags.yaml"),
        "--templates",
        str(ROOT / "codegen/templates"),
        "--python",
        str(ROOT / "build/venv/bin/python"),
        "--out",
        str(out),
        "--backends",
        "CPU",
        "--depfile",
        str(out / "gen.d"),
        "--stamp",
        str(out / "gen.stamp"),
    ]


def check_command(build, files):
    return [
        str(build / "codegen/tenonc"),
        "check",
        "--dialect",
        "upstream",
        "--native",
        str(files["native_functions"]),
        "--derivatives",
        str(files["derivatives"]),
        "--tags",
        str(files["tags"]),
    ]


# A process begins with the peak of the one that started it, so a small one does.
WAIT = """
import os, sys, time
start = time.perf_counter()
null = [(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)]
child = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ, file_actions=null)
_, status, usage = os.wait4(child, 0)
print(time.perf_counter() - start, usage.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status))
"""


def run(command):
    """Seconds, and the largest memory in MiB, of a command that must succeed."""
    result = subprocess.run([sys.executable, "-I", "-S", "-c", WAIT, *command], stdout=subprocess.PIPE, text=True)
    if result.returncode != 0:
        raise SystemExit(f"generator.py: exit status {result.returncode}: {' '.join(command)}")
    seconds, kib = result.stdout.split()
    return float(seconds), int(kib) / 1024


def count_entries(*files):
    return sum(line.startswith(("- func:", "- name:")) for file in files for line in file.read_text().splitlines())


def measure(build, repetitions):
    """{"full": [seconds...], "nothing": [...], "check": [...], "check_mib": peak, "entries": n, "files": n, "upstream": n}"""
    full, nothing, check, files, peak = [], [], [], 0, 0.0
    upstream = upstream_files()
    if not upstream:
        raise SystemExit(f"generator.py: {HOW}")
    checking = check_command(build, upstream)
    for _ in range(repetitions):
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "gen"
            out.mkdir()
            for times in (full, nothing):
                times.append(run(generate_command(build, out))[0])
            files = sum(1 for f in out.rglob("*") if f.is_file())
        seconds, mib = run(checking)
        check.append(seconds)
        peak = max(peak, mib)
    return {
        "full": full,
        "nothing": nothing,
        "check": check,
        "check_mib": peak,
        "files": files,
        "entries": count_entries(ROOT / "native_functions.yaml"),
        "upstream": count_entries(upstream["native_functions"], upstream["derivatives"]),
    }


def report(result):
    median = {name: statistics.median(result[name]) for name in ("full", "nothing", "check")}
    return [
        (
            "generator: everything",
            median["full"],
            FULL_SECONDS,
            f"{result['entries']} entries, {result['files']} files",
        ),
        ("generator: nothing to do", median["nothing"], NOTHING_SECONDS, ""),
        (
            "generator: read and check PyTorch's files",
            median["check"],
            CHECK_SECONDS,
            f"{result['upstream']:,} entries; peak {result['check_mib']:.0f} MiB of {CHECK_MIB}",
        ),
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--repetitions", type=int, default=5)
    options = parser.parse_args()
    result = measure(options.build.resolve(), options.repetitions)
    rows = report(result)
    for what, seconds, target, note in rows:
        print(f"{what:<40} {seconds:6.3f} s  (target {target} s)  {note}")
    if any(seconds > target for _, seconds, target, _ in rows) or result["check_mib"] > CHECK_MIB:
        sys.exit("generator.py: a target is missed")


if __name__ == "__main__":
    main()
