"""Runs the tests of this folder in the oracle's environment, where those that compare with PyTorch are not skipped."""

import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
sys.path.append(str(FOLDER.parent))
import oracle_environment  # noqa: E402

oracle_environment.enter()
import pytest  # noqa: E402

sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", str(FOLDER)]))
