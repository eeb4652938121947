"""Times the operator generator: everything from nothing, and again with nothing to do."""

import statistics
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

FULL_SECONDS = 2.0
NOTHING_SECONDS = 0.2


def command(build, out):
    return [
        str(build / "codegen/tenonc"), "gen", "--native", str(ROOT / "native_functions.yaml"),
        "--derivatives", str(ROOT / "derivatives.yaml"), "--tags", str(ROOT / "tags.yaml"),
        "--templates", str(ROOT / "codegen/templates"), "--python", str(ROOT / "build/venv/bin/python"),
        "--out", str(out), "--backends", "CPU", "--depfile", str(out / "gen.d"), "--stamp", str(out / "gen.stamp"),
    ]


def measure(build, repetitions):
    """{"full": [seconds...], "nothing": [...], "entries": n, "files": n}"""
    full, nothing, files = [], [], 0
    for _ in range(repetitions):
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "gen"
            out.mkdir()
            for times in (full, nothing):
                start = time.perf_counter()
                subprocess.run(command(build, out), check=True, capture_output=True)
                times.append(time.perf_counter() - start)
            files = sum(1 for f in out.rglob("*") if f.is_file())
    entries = sum(line.startswith("- func:") for line in (ROOT / "native_functions.yaml").read_text().splitlines())
    return {"full": full, "nothing": nothing, "entries": entries, "files": files}


def report(result):
    full, nothing = statistics.median(result["full"]), statistics.median(result["nothing"])
    return [
        ("generator: everything", full, FULL_SECONDS, f"{result['entries']} entries, {result['files']} files"),
        ("generator: nothing to do", nothing, NOTHING_SECONDS, ""),
    ]
