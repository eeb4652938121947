"""What the tests of the built generator share. Environment, set by CMake:

TENONC          the program
TENON_INCLUDE   folder of tenon/config.h
CXX             a C++ compiler
TENON_ACCEPT    1 writes the golden files anew: read the difference before committing it
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).parents[3]
TEMPLATES = ROOT / "codegen" / "templates"
TENONC = os.environ["TENONC"]


def tenonc(*arguments, cwd=None):
    """The finished process, with stdout and stderr as text."""
    command = [TENONC, *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120)


def generate(native, derivatives, out, *more, templates=TEMPLATES, cwd=None):
    arguments = ["gen", "--native", native, "--derivatives", derivatives, "--tags", ROOT / "tags.yaml"]
    arguments += ["--templates", templates, "--python", sys.executable, "--out", out, *more]
    return tenonc(*arguments, cwd=cwd)


def snapshot(folder):
    """{relative path: (time of change, content)} of the files that the generator writes for others."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            found[path.relative_to(folder).as_posix()] = (path.stat().st_mtime_ns, path.read_bytes())
    return found


# The generator's own memory of its last run.
PRIVATE = {".files", ".fingerprint"}
# The intermediate form and the lists, which name every operator and its line.
LISTS = {"ir.json", "index.txt", "sources.cmake"}


class Difference:
    """What a run changed: names of files that are new, gone, rewritten with other content."""

    def __init__(self, before, after):
        self.added = set(after) - set(before)
        self.removed = set(before) - set(after)
        kept = (set(before) & set(after)) - PRIVATE
        self.changed = {path for path in kept if before[path][1] != after[path][1]}
        # The same content written again would still be compiled again.
        self.touched = {path for path in kept if before[path][0] != after[path][0]}

    @property
    def sources(self):
        return self.changed - LISTS


class Workspace(unittest.TestCase):
    """A temporary folder for each test class."""

    @classmethod
    def setUpClass(cls):
        cls._temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls._temporary.name)

    @classmethod
    def tearDownClass(cls):
        cls._temporary.cleanup()

    def check_ok(self, process):
        self.assertEqual(process.returncode, 0, process.stdout + process.stderr)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path
