"""Arguments named as what generated code calls its own: each name is refused, or the sources compile."""

import json
import os
import re
import subprocess
import unittest

from support import ROOT, TEMPLATES, Workspace, generate, tenonc

# Every kind of operator with all names as arguments: numbers, or tensors.
NATIVE = """- func: my::composed(Tensor self, {numbers}) -> Tensor
  composite: implicit
- func: my::kernel(Tensor self, {numbers}) -> Tensor
  variants: function, inplace, out
  dispatch: {{CPU: kernel_cpu}}
- func: my::structured(Tensor self, {numbers}) -> Tensor
  variants: function, inplace, out
  structured: True
  dispatch: {{CPU: structured_cpu}}
- func: my::tensors({tensors}, Tensor self) -> (Tensor, Tensor)
  dispatch: {{CPU: tensors_cpu}}
- func: my::written_(Tensor(a!) self, {numbers}) -> Tensor(a!)
  dispatch: {{CPU: written_cpu}}
"""
DERIVATIVES = """- name: my::kernel
  self: grad
- name: my::structured
  self: grad.mm(self) * size
- name: my::tensors
  self: grad
  inputs: grad.mm(inputs)
  node: grad * node
- name: my::written_
  self: grad
"""


def template_names():
    text = "".join(path.read_text() for path in sorted(TEMPLATES.glob("*.j2")))
    text = re.sub(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}|//.*|#include.*", " ", text)
    found = set(re.findall(r"\b[a-z][a-z0-9_]*\b", text)) | {"i", "inputs", "node", "results"}
    return sorted(found - {"self"})


class Names(Workspace):
    def files(self, names):
        numbers = ", ".join(f"int {name}" for name in names)
        tensors = ", ".join(f"Tensor {name}" for name in names)
        self.write("n.yaml", NATIVE.format(numbers=numbers, tensors=tensors))
        self.write("d.yaml", DERIVATIVES)
        return ["--native", "n.yaml", "--derivatives", "d.yaml"]

    def test_names_of_generated_code(self):
        names = template_names()
        self.assertGreater(len(names), 150)
        result = tenonc("check", *self.files(names), "--format", "json", cwd=self.folder)
        refused = set()
        for message in json.loads(result.stdout)["diagnostics"]:
            self.assertIn(message["rule"], ("generated_name", "output_parameter", "reserved_argument_name",
                                            "derivative_shadowed", "derivative_two_meanings", "gradient_names"))
            refused.add(re.match("`(\\w+)`", message["message"])[1])
        self.assertLess(len(refused), len(names) / 2)
        self.files([name for name in names if name not in refused])
        out = self.folder / "gen"
        self.check_ok(generate("n.yaml", "d.yaml", out, "--base", ROOT / "native_functions.yaml", cwd=self.folder))
        base = self.folder / "base"
        self.check_ok(generate(ROOT / "native_functions.yaml", ROOT / "derivatives.yaml", base))
        folders = [f"-I{folder}" for folder in (out, ROOT, base, os.environ["TENON_INCLUDE"])]
        for source in ("operators_0.cpp", "autograd_0.cpp"):
            with self.subTest(source):
                command = [os.environ["CXX"], "-std=c++20", "-fsyntax-only", *folders, out / source]
                compiled = subprocess.run(command, capture_output=True, text=True, timeout=300)
                self.assertEqual(compiled.returncode, 0, compiled.stderr[:3000])


if __name__ == "__main__":
    unittest.main()
