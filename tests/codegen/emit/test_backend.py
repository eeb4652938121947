"""tenonc --backend: kernels of a device outside the library for operators that exist."""

import json
import sys
import unittest

from support import TEMPLATES, Workspace, tenonc

BASE = """- func: mm(Tensor self, Tensor mat2) -> Tensor
  variants: function, method, out
  structured: True
  dispatch: {CPU: mm_cpu}
- func: mul.Tensor(Tensor self, Tensor other) -> Tensor
  variants: function, inplace
  pointwise: self * other
- func: zero_(Tensor(a!) self) -> Tensor(a!)
  dispatch: {CPU: zero_cpu_}
- func: twice(Tensor self) -> Tensor
  composite: implicit
"""
GOOD = "backend: PrivateUse1\ncpp_namespace: toy\nsupported: [mm, mul.Tensor, zero_]\n"
KERNELS = """#include "toy/native/mm.h"
void toy::native::mm_toy(const Tensor& self, const Tensor& mat2, const Tensor& out) {}
void native::mul_Tensor_toy(const Tensor& self, const Tensor& other, const Tensor& out) {}
Tensor& native::zero__toy(Tensor& self) { return self; }
"""


class Backend(Workspace):
    def run_with(self, verb, text, *more):
        self.write("base.yaml", BASE)
        self.write("toy.yaml", text)
        return tenonc(verb, "--base", "base.yaml", "--backend", "toy.yaml", *more, cwd=self.folder)

    def errors(self, text):
        result = self.run_with("check", text)
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertNotRegex(result.stderr, r"Traceback|exception|internal error")
        return result.stderr

    def test_forms(self):
        result = self.run_with("ir", GOOD)
        self.check_ok(result)
        operators = {op["name"]: op for op in json.loads(result.stdout)["operators"]}
        forms = {name: [form["ident"] for form in op["forms"]] for name, op in operators.items()}
        self.assertEqual(forms["mm"], ["mm", "mm_out"])
        self.assertEqual(forms["mul.Tensor"], ["mul_Tensor", "mul__Tensor"])
        self.assertEqual(forms["zero_"], ["zero_"])
        self.assertTrue(operators["mm"]["device_kernel"]["into"])
        self.assertFalse(operators["zero_"]["device_kernel"]["into"])

    def test_generated_files(self):
        result = self.run_with("gen", GOOD, "--out", "out", "--templates", TEMPLATES, "--python", sys.executable)
        self.check_ok(result)
        declaration = (self.folder / "out/toy/native/mm.h").read_text()
        self.assertIn(
            "TENON_API void mm_toy(const tenon::Tensor& self, const tenon::Tensor& mat2, const tenon::Tensor& out);",
            declaration,
        )
        source = (self.folder / "out/backend_toy.cpp").read_text()
        for name in ("mm", "mm.out", "mul.Tensor", "mul_.Tensor", "zero_"):
            self.assertIn(f'made.impl("{name}"', source)

    def test_missing_kernels(self):
        self.write("kernels.cpp", KERNELS.replace("mul_Tensor_toy", "mull_Tensor_toy"))
        result = self.run_with("check-kernels", GOOD, "--kernels", "kernels.cpp")
        self.assertEqual(result.returncode, 1)
        self.assertIn("toy.yaml:3:17: error: kernel 'mul_Tensor_toy' is not defined", result.stderr)
        self.assertIn(
            "`void native::mul_Tensor_toy(const Tensor& self, const Tensor& other, const Tensor& out)`", result.stderr
        )
        self.assertIn("did you mean 'mull_Tensor_toy'?", result.stderr)
        self.write("kernels.cpp", KERNELS)
        self.check_ok(self.run_with("check-kernels", GOOD, "--kernels", "kernels.cpp"))

    def test_mistakes(self):
        for text, message in (
            (GOOD.replace("PrivateUse1", "PrivateUse"), "toy.yaml:1:10: error: backend must be PrivateUse1"),
            (GOOD.replace("cpp_namespace: toy", "cpp_namespace: tenon"), "must be a C++ name of your own"),
            (GOOD.replace("supported", "suported"), "did you mean 'supported'?"),
            (GOOD.replace("[mm", "[mmm"), "there is no operator `mmm`; did you mean 'mm'?"),
            (GOOD.replace("zero_", "mm.out"), "`mm.out` follows from `mm`"),
            (GOOD.replace("zero_", "twice"), "`twice` is composite"),
            (GOOD.replace("zero_", "mm"), "`mm` is given twice"),
            ("backend: PrivateUse1\nsupported: [mm]\n", "needs `cpp_namespace`"),
            ("[mm]\n", "must be a map"),
            ("backend: [\n", "error"),
        ):
            with self.subTest(text=text):
                self.assertIn(message, self.errors(text))
        result = tenonc("check", "--base", "base.yaml", "--backend", "none.yaml", cwd=self.folder)
        self.assertEqual(result.returncode, 1)
        self.assertIn("cannot read `none.yaml`", result.stderr)


if __name__ == "__main__":
    unittest.main()
