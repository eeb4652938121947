"""`tenonc fmt` on files."""

import os
import stat
import unittest

from support import ROOT, Workspace, tenonc

UGLY = "-   func: f(Tensor self)->Tensor   # why\n    composite:   implicit\n"
NICE = "- func: f(Tensor self) -> Tensor  # why\n  composite: implicit\n"


class Fmt(Workspace):
    def test_check_says_and_writes_nothing(self):
        path = self.write("a.yaml", UGLY)
        result = tenonc("fmt", "--check", path)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (1, f"{path}: not formatted\n", ""))
        self.assertEqual(path.read_text(), UGLY)

    def test_write(self):
        path = self.write("b.yaml", UGLY)
        path.chmod(0o640)
        result = tenonc("fmt", path)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, f"{path}: formatted\n", ""))
        self.assertEqual(path.read_text(), NICE)
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o640)
        before = path.stat().st_mtime_ns
        self.assertEqual(tenonc("fmt", path).stdout, "")
        self.assertEqual(path.stat().st_mtime_ns, before)
        self.assertEqual(tenonc("fmt", "--check", path).returncode, 0)

    def test_aliases_and_definitions(self):
        path = self.write(
            "n.yaml", "- of: abs\n  alias:  absolute(Tensor self)->Tensor\n-   as: x*x\n    define: power(x)\n"
        )
        self.assertEqual(tenonc("fmt", path).stderr, "")
        self.assertEqual(
            path.read_text(), "- alias: absolute(Tensor self) -> Tensor\n  of: abs\n\n- define: power(x)\n  as: x*x\n"
        )

    def test_a_link_stays_a_link(self):
        path = self.write("target.yaml", UGLY)
        link = self.folder / "link.yaml"
        os.symlink(path.name, link)
        self.assertEqual(tenonc("fmt", link).returncode, 0)
        self.assertTrue(link.is_symlink())
        self.assertEqual(path.read_text(), NICE)

    def test_errors_leave_the_file_and_do_not_stop_the_others(self):
        bad = self.write("bad.yaml", UGLY.replace("Tensor self", "Tensr self"))
        good = self.write("good.yaml", UGLY)
        result = tenonc("fmt", bad, good, self.folder / "nowhere.yaml")
        self.assertEqual(result.returncode, 1)
        self.assertIn("bad.yaml:1:13: error: unknown type `Tensr`", result.stderr)
        self.assertIn("cannot read `", result.stderr)
        self.assertIn("Tensr", bad.read_text())
        self.assertEqual(good.read_text(), NICE)

    def test_no_files(self):
        self.assertEqual(tenonc("fmt").returncode, 2)

    def test_the_librarys_own_files(self):
        files = [ROOT / name for name in ("native_functions.yaml", "derivatives.yaml", "tags.yaml")]
        result = tenonc("fmt", "--check", *files, *ROOT.glob("examples/*/*.yaml"))
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))


if __name__ == "__main__":
    unittest.main()
