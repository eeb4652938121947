"""Programs that are run with PyTorch and, unmodified, with Tenon under the name torch."""

import json
import os
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "dispatch_programs"


def names(words):
    """The programs whose names begin with one of the words."""
    return sorted(file.stem for file in FOLDER.glob("*.py") if file.stem.startswith(tuple(words)))


def outputs(words):
    """{program: (what it prints with PyTorch, what with Tenon)}"""
    found = []
    for module in ([], ["-m", "tenon.as_torch"]):
        command = [sys.executable, *module, str(FOLDER / "run.py"), *words]
        found.append(
            json.loads(subprocess.check_output(command, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"}))
        )
    pytorch, tenon = found
    return {name: (pytorch[name], tenon[name]) for name in pytorch}
