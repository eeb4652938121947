"""The generated text of four small operators, tests/codegen/golden, against the files below expected/.

TENON_ACCEPT=1 writes those anew: read the difference before committing it.
"""

import os
import shutil
import unittest

from support import PRIVATE, ROOT, Workspace, generate, snapshot

GOLDEN = ROOT / "tests" / "codegen" / "golden"
# Paths of the output, and a dump of the model that changes with every new key.
UNPINNED = PRIVATE | {"sources.cmake", "ir.json"}


class Golden(Workspace):
    maxDiff = None

    def test_generated_text(self):
        out = self.folder / "gen"
        self.check_ok(
            generate(
                "operators.yaml", "derivatives.yaml", out, "--base", "base.yaml", "--backends", "CPU,CUDA", cwd=GOLDEN
            )
        )
        written = {path: text.decode() for path, (_, text) in snapshot(out).items() if path not in UNPINNED}
        expected = GOLDEN / "expected"
        if os.environ.get("TENON_ACCEPT"):
            shutil.rmtree(expected, ignore_errors=True)
            for path, text in written.items():
                (expected / path).parent.mkdir(parents=True, exist_ok=True)
                (expected / f"{path}.expected").write_text(text)
        names = {path.removesuffix(".expected") for path in snapshot(expected)}
        self.assertEqual(set(written), names)
        for path, text in sorted(written.items()):
            with self.subTest(path):
                self.assertEqual(text, (expected / f"{path}.expected").read_text())


if __name__ == "__main__":
    unittest.main()
