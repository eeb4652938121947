"""`tenonc diff` as CI runs it: files and folders, formats, exit status."""

import json
import unittest

from support import ROOT, Workspace, tenonc

OLD = "- func: f(Tensor self, int n=1) -> Tensor\n  composite: implicit\n"
NEW = OLD.replace("n=1", "n=2")


class Diff(Workspace):
    def setUp(self):
        self.old = self.write("old/ops.yaml", OLD)
        self.new = self.write("new/ops.yaml", NEW)

    def test_exit_status(self):
        same = tenonc("diff", self.old, self.old)
        self.assertEqual((same.returncode, same.stdout, same.stderr), (0, "no changes\n", ""))
        result = tenonc("diff", self.old, self.new)
        self.assertEqual((result.returncode, result.stderr), (1, ""))
        self.assertIn(
            "new/ops.yaml:1:3: breaks callers and saved programs: f: argument `n` now defaults to `2`, was `1` "
            "[changed-default]\n",
            result.stdout,
        )

    def test_json(self):
        result = tenonc("diff", "--format=json", self.old, self.new)
        self.assertEqual(result.returncode, 1)
        document = json.loads(result.stdout)
        self.assertEqual((document["version"], document["compatible"], len(document["changes"])), (1, False, 1))
        self.assertTrue(json.loads(tenonc("diff", self.old, self.old, "--format=json").stdout)["compatible"])

    def test_folders(self):
        self.write("new/notes.yaml", "a: 1\n")
        # As PyTorch has it: signatures of the past, which are no derivatives.
        self.write("new/deprecated.yaml", "- name: f(Tensor self, Scalar a) -> Tensor\n  aten: f(self, a)\n")
        result = tenonc("diff", self.folder / "old", self.folder / "new")
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("1 change:", result.stdout)
        library = tenonc("diff", ROOT, ROOT)
        self.assertEqual((library.returncode, library.stdout, library.stderr), (0, "no changes\n", ""))

    def test_derivatives_of_a_folder_count(self):
        native = "- func: f(Tensor a, Tensor b) -> Tensor\n  composite: explicit\n"
        for name, formulas in (("x", "  a: grad\n  b: grad\n"), ("y", "  a: grad\n  b: non_differentiable\n")):
            self.write(f"{name}/native.yaml", native)
            self.write(f"{name}/derivatives.yaml", "- name: f\n" + formulas)
        result = tenonc("diff", self.folder / "x", self.folder / "y")
        self.assertEqual(result.returncode, 1)
        self.assertIn("breaks callers: f: is no longer differentiable in argument `b`", result.stdout)

    def test_what_cannot_be_read(self):
        bad = self.write("bad.yaml", OLD.replace("Tensor self", "Tensr self"))
        result = tenonc("diff", self.old, bad)
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertIn("unknown type `Tensr`", result.stderr)
        missing = tenonc("diff", self.old, self.folder / "nowhere.yaml")
        self.assertEqual(missing.returncode, 2)
        self.assertRegex(missing.stderr, "cannot read `.*nowhere.yaml`")
        (self.folder / "empty").mkdir(exist_ok=True)
        self.assertIn("no file of operators", tenonc("diff", self.old, self.folder / "empty").stderr)
        self.assertEqual(tenonc("diff", self.old).returncode, 2)


if __name__ == "__main__":
    unittest.main()
