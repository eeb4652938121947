"""tenon.interop, where the other library is."""

import os
import pathlib
import subprocess

import pytest

HERE = pathlib.Path(__file__).resolve().parent
ORACLE = HERE.parents[1] / "build" / "venv-oracle" / "bin" / "python"


@pytest.mark.skipif(not ORACLE.exists(), reason="there is no build/venv-oracle with PyTorch: ./tenon setup --oracle")
def test_operators_in_pytorch(tmp_path):
    environment = {**os.environ, "TENON_CACHE_DIR": str(tmp_path), "OMP_NUM_THREADS": "1"}
    done = subprocess.run([ORACLE, "-B", HERE / "interop_torch.py"], capture_output=True, text=True, env=environment)
    assert done.returncode == 0 and done.stdout.endswith("agrees\n"), done.stdout + done.stderr
