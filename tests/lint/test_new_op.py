"""./tenon new-op writes what it says, and refuses rather than overwrite."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

NEW_OP = pathlib.Path(__file__).parents[2] / "cmake" / "tools" / "new_op.py"


class NewOp(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)

    def run_it(self, *arguments):
        command = [sys.executable, "-B", str(NEW_OP), "--root", str(self.root), *arguments]
        return subprocess.run(command, capture_output=True, text=True)

    def read(self, path):
        return (self.root / path).read_text()

    def test_pointwise_arguments_come_from_the_expression(self):
        done = self.run_it("gated", "--pointwise", "sigmoid(gate) * self + 1.5e-3")
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertIn("- func: gated(Tensor self, Tensor gate) -> Tensor", self.read("native_functions.yaml"))
        self.assertIn("gated(x[0], x[1])", self.read("tests/ops/test_gated.cpp"))
        self.assertIn('#include "tenon/ops/gated.h"', self.read("tests/ops/test_gated.cpp"))
        self.assertNotIn('"tenon/tenon.h"', self.read("tests/ops/test_gated.cpp"))
        self.assertFalse((self.root / "derivatives.yaml").exists())

    def test_structured_gets_kernels_and_a_derivative(self):
        done = self.run_it("norm", "--structured", "--args", "Tensor self, *, int[] dim=[]")
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertIn("  structured: CPU, CUDA\n", self.read("native_functions.yaml"))
        self.assertIn("- name: norm\n  self:", self.read("derivatives.yaml"))
        self.assertIn("native::norm_cpu(const Tensor& /*self*/, IntArrayRef /*dim*/,", self.read("aten/cpu/norm.cpp"))
        self.assertTrue((self.root / "aten/meta/norm.cpp").exists())
        self.assertTrue((self.root / "aten/cuda/norm.cu").exists())

    def test_it_refuses_what_exists_and_names_it(self):
        self.assertEqual(0, self.run_it("twice", "--composite").returncode)
        before = self.read("native_functions.yaml")
        done = self.run_it("twice", "--composite")
        self.assertNotEqual(0, done.returncode)
        self.assertIn("has twice already", done.stderr)
        self.assertEqual(before, self.read("native_functions.yaml"))

    def test_bad_names_and_arguments_are_errors_and_write_nothing(self):
        for arguments in (
            ("Bad", "--composite"),
            ("op", "--structured", "--args", "Tensor self, Dict x"),
            ("op", "--structured", "--args", "int n"),
        ):
            done = self.run_it(*arguments)
            self.assertNotEqual(0, done.returncode)
            self.assertTrue(done.stderr.startswith("new-op: "), done.stderr)
        self.assertEqual([], list(self.root.iterdir()))


if __name__ == "__main__":
    unittest.main()
