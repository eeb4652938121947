"""Runs the tests of Python's module: those that compare nothing with PyTorch, and with --beside-pytorch those that do, in the oracle's
environment. Where that is missing the first run takes all; what needs PyTorch shows as skipped."""

import re
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
sys.path.append(str(FOLDER.parent))
import oracle_environment  # noqa: E402


def main():
    beside_pytorch = "--beside-pytorch" in sys.argv
    if beside_pytorch:
        oracle_environment.enter()
    import pytest

    compares = {file: bool(re.search(r"torch|\blib\b", file.read_text())) for file in sorted(FOLDER.rglob("test_*.py"))}
    all_here = not beside_pytorch and not oracle_environment.exists()
    files = [str(file) for file, compared in compares.items() if all_here or compared == beside_pytorch]
    return pytest.main(["-q", "-p", "no:cacheprovider", "--durations=12", *files])


# Processes that tests start import this file.
if __name__ == "__main__":
    sys.exit(main())
