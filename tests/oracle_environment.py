"""The Python environment with PyTorch, build/venv-oracle, for tests beside it. It is looked for when a test runs; where
it is missing the test ends with SKIPPED, which CTest shows as skipped."""

import os
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "build" / "venv-oracle"
SKIPPED = 77
HOW = "there is no build/venv-oracle with PyTorch: ./tenon setup --oracle makes it, ./tenon test -L oracle runs what needs it"


def exists():
    return (FOLDER / "bin" / "python").exists()


def enter():
    """Goes on in the environment's Python."""
    if Path(sys.prefix).resolve() == FOLDER.resolve():
        return
    python = FOLDER / "bin" / "python"
    if not exists():
        print(f"skipped: {HOW}")
        sys.exit(SKIPPED)
    os.execv(python, [str(python), "-B", *sys.argv])


def upstream_files():
    """{name: path} of PyTorch's own YAML files, empty where there is no environment."""
    python = FOLDER / "bin" / "python"
    if not python.exists():
        return {}
    package = subprocess.check_output([python, "-c", "import torchgen; print(*torchgen.__path__)"], text=True)
    packaged = Path(package.strip()) / "packaged"
    folders = {
        "native_functions": "ATen/native",
        "tags": "ATen/native",
        "derivatives": "autograd",
        "deprecated": "autograd",
    }
    return {name: packaged / folder / f"{name}.yaml" for name, folder in folders.items()}
