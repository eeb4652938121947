"""Runs the test cases about PyTorch's own YAML files, [upstream] of TEST_CODEGEN, beside what torchgen makes of them.

python test_torchgen.py TEST_CODEGEN
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from oracle_environment import enter, upstream_files  # noqa: E402


def main(program):
    files = upstream_files()
    with tempfile.TemporaryDirectory() as folder:
        facts.main(*(str(files[name]) for name in ("native_functions", "derivatives", "tags")), folder)
        for file in files.values():
            shutil.copy(file, folder)
        return subprocess.run(
            [program, "[upstream]"], env={**os.environ, "TENON_UPSTREAM": folder}, check=False
        ).returncode


if __name__ == "__main__":
    enter()
    import facts  # needs torchgen

    sys.exit(main(sys.argv[1]))
