"""The programs of tests/programs that need no other packages, under tenon.as_torch: they print what they print with PyTorch 2.15.

Those of clients are run by tests/programs/compare.py, in an environment that has the clients.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).resolve().parents[1] / "programs"
sys.path.append(str(PROGRAMS))
import compare  # noqa: E402


@pytest.mark.parametrize("name", sorted(path.stem for path in (PROGRAMS / "expected").glob("*.txt")))
def test_programs_print_pytorchs_numbers(name):
    done = subprocess.run(
        [sys.executable, "-m", "tenon.as_torch", str(PROGRAMS / f"{name}.py")],
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert compare.differences(done.stdout, (PROGRAMS / "expected" / f"{name}.txt").read_text()) == []
