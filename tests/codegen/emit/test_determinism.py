"""The same inputs give the same bytes: whatever the locale, Python's hash seed, the order of files in folders, and what
runs at the same time."""

import os
import shutil
import subprocess
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor

from support import PRIVATE, ROOT, TEMPLATES, TENONC, Workspace, snapshot, tenonc


def content(folder):
    """Texts of the files by path, without those that name the output folder."""
    return {path: text for path, (_, text) in snapshot(folder).items() if path not in PRIVATE | {"sources.cmake"}}


class Determinism(Workspace):
    def run_generator(self, name, environment, templates=TEMPLATES):
        out = self.folder / name
        command = [
            TENONC,
            "gen",
            "--native",
            "native_functions.yaml",
            "--derivatives",
            "derivatives.yaml",
            "--tags",
            "tags.yaml",
            "--backends",
            "CPU,CUDA",
            "--python-module",
            "--templates",
            str(templates),
            "--python",
            sys.executable,
            "--out",
            str(out),
        ]
        result = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, timeout=300, env={**os.environ, **environment}
        )
        self.assertEqual(result.returncode, 0, result.stderr)
        return content(out)

    def turkish(self):
        """The environment of a locale whose I has no dot and whose numbers have commas, or None where it cannot be made."""
        folder = self.folder / "locales"
        folder.mkdir()
        if not shutil.which("localedef"):
            return None
        # Exit status 1 is for warnings.
        made = subprocess.run(
            ["localedef", "-i", "tr_TR", "-f", "UTF-8", str(folder / "tr_TR.UTF-8")], capture_output=True
        )
        return {"LC_ALL": "tr_TR.UTF-8", "LOCPATH": str(folder)} if made.returncode < 2 else None

    def test_same_bytes(self):
        # Folders list their files in the order of creation on some file systems, by hash on others.
        shuffled = self.folder / "codegen" / "templates"
        shuffled.mkdir(parents=True)
        for path in sorted((p for p in TEMPLATES.rglob("*") if p.is_file()), reverse=True):
            copy = shuffled / path.relative_to(TEMPLATES)
            copy.parent.mkdir(exist_ok=True)
            shutil.copy(path, copy)
        shutil.copy(ROOT / "codegen" / "render.py", shuffled.parent)
        runs = {
            "c": ({"LC_ALL": "C", "PYTHONHASHSEED": "0", "PYTHONUTF8": "0"}, TEMPLATES),
            "utf8": ({"LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "1"}, shuffled),
        }
        if turkish := self.turkish():
            runs["turkish"] = ({**turkish, "PYTHONHASHSEED": "2"}, TEMPLATES)
        with ThreadPoolExecutor(2) as pool:
            results = list(pool.map(lambda name: self.run_generator(name, *runs[name]), runs))
        self.assertGreater(len(results[0]), 100)
        for other in results[1:]:
            self.assertEqual(set(results[0]), set(other))
            self.assertEqual([path for path in other if other[path] != results[0][path]], [])

    def test_folders_of_diff_and_kernels(self):
        entries = [
            "- func: b(Tensor self) -> Tensor\n  composite: implicit\n",
            "- func: a(Tensor self) -> Tensor\n  dispatch: {CPU: a_cpu}\n  non_differentiable: True\n",
        ]
        for name, order in (("x", (0, 1)), ("y", (1, 0))):
            for i in order:
                self.write(f"{name}/{i}.yaml", entries[i])
        result = tenonc("diff", self.folder / "x", self.folder / "y")
        self.assertEqual((result.returncode, result.stdout), (0, "no changes\n"))


if __name__ == "__main__":
    unittest.main()
