"""mypy and pyright read the stubs: they accept typical use, and find the mistakes."""

import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
import tenon

HERE = pathlib.Path(__file__).resolve().parent / "typing"
PACKAGES = str(pathlib.Path(tenon.__file__).parent.parent)


def check(tool, file, folder):
    """The numbers of the lines with errors, and what was said."""
    if importlib.util.find_spec(tool) is None:
        pytest.skip(f"{tool} is not installed; ./tenon setup --oracle does that")
    command = [sys.executable, "-m", tool]
    environment = {**os.environ, "MYPYPATH": PACKAGES, "PYTHONPATH": PACKAGES}
    if tool == "mypy":
        command += ["--check-untyped-defs", "--follow-imports=silent", "--no-error-summary", f"--cache-dir={folder}"]
    else:
        shutil.copy(HERE / file, folder)
        (folder / "pyrightconfig.json").write_text(json.dumps({"extraPaths": [PACKAGES], "include": [file]}))
        command += ["--project", str(folder / "pyrightconfig.json")]
    page = [str(HERE / file)] if tool == "mypy" else []
    done = subprocess.run([*command, *page], capture_output=True, text=True, env=environment)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return sorted(
        {int(n) for n in re.findall(r"\.py:(\d+)[:\d]*(?::| -) error", done.stdout)}
    ), done.stdout + done.stderr


@pytest.mark.parametrize("tool", ["mypy", "pyright"])
def test_typical_use(tool, tmp_path):
    lines, text = check(tool, "typical_use.py", tmp_path)
    assert lines == [], text


@pytest.mark.parametrize("tool", ["mypy", "pyright"])
def test_mistakes(tool, tmp_path):
    source = (HERE / "mistakes.py").read_text().splitlines()
    expected = [number for number, line in enumerate(source, 1) if "# mistake" in line]
    lines, text = check(tool, "mistakes.py", tmp_path)
    assert lines == expected and len(expected) == 7, text
