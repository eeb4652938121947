"""Compares the model with the torchgen of the PyTorch that is installed, over that PyTorch's own files.

    python test_torchgen.py TEST_CODEGEN

needs a Python with PyTorch. The committed expectations for release 2.6 need none: see facts.py.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import facts
import torchgen


def main(program):
    packaged = pathlib.Path(torchgen.__file__).parent / "packaged"
    files = [packaged / "ATen/native/native_functions.yaml", packaged / "autograd/derivatives.yaml",
             packaged / "ATen/native/tags.yaml"]
    with tempfile.TemporaryDirectory() as folder:
        facts.main(*map(str, files), folder)
        for file in files:
            shutil.copy(file, folder)
        command = [program, "the installed torchgen says the same"]
        return subprocess.run(command, env={**os.environ, "TENON_ORACLE": folder}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
