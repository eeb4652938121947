"""A measurement in a process of the oracle's environment, which has PyTorch beside Tenon."""

import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def measured(script, arguments, threads, build):
    """What the script prints as JSON. sys.argv[1] is the side, "tenon" or "torch"; the rest are the other arguments."""
    command = [str(ROOT / "build/venv-oracle/bin/python"), "-c", script, *map(str, arguments)]
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "PYTHONPATH": str(build / "python")}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        sys.exit(f"{arguments[0]} cannot be measured:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])
