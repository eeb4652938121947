"""Runs the files of this folder that compare with PyTorch in the oracle's environment, where these tests are not skipped."""

import re
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
sys.path.append(str(FOLDER.parent))
import oracle_environment  # noqa: E402

oracle_environment.enter()
import pytest  # noqa: E402

files = [str(file) for file in sorted(FOLDER.rglob("test_*.py")) if re.search(r"torch|\blib\b", file.read_text())]
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", *files]))
