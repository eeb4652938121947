"""What C++ might not take: each name of an argument, and each type, is refused, or the sources compile."""

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
POINTWISE = """- func: my::pointwise_{part}(Tensor self, {numbers}) -> Tensor
  pointwise: "self * ({sum})"
"""
NUMBERS_OF_A_KERNEL = 32
DERIVATIVES = """- name: my::kernel
  self: grad
- name: my::structured
  self: grad.mm(self) * size
- name: my::tensors
  inputs: grad.mm(inputs)
  node: grad * node
  self: grad
{others}- name: my::written_
  self: grad
"""


def template_names():
    text = "".join(path.read_text() for path in sorted(TEMPLATES.glob("*.j2")))
    text = re.sub(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}|//.*|#include.*", " ", text)
    found = set(re.findall(r"\b[a-z][a-z0-9_]*\b", text)) | {"i", "inputs", "node", "results"}
    return sorted(found - {"self"})


BASES = (
    "Tensor",
    "int",
    "SymInt",
    "SymBool",
    "float",
    "bool",
    "str",
    "Scalar",
    "ScalarType",
    "Layout",
    "Device",
    "DeviceIndex",
    "MemoryFormat",
    "Generator",
    "DimVector",
    "Dimname",
    "QScheme",
    "Storage",
    "Stream",
)
SUFFIXES = ("", "?", "[]", "[3]", "[]?", "?[]", "[3]?", "[][]", "??[]")
ENTRY = "- func: my::{}\n  composite: explicit\n  non_differentiable: True\n  tags: nondeterministic_seeded\n"


class Compiled(Workspace):
    def check_compiles(self, native, derivatives, *sources):
        self.write("n.yaml", native)
        self.write("d.yaml", derivatives)
        out, base = self.folder / "gen", self.folder / "base"
        self.check_ok(generate("n.yaml", "d.yaml", out, "--base", ROOT / "native_functions.yaml", cwd=self.folder))
        self.check_ok(generate(ROOT / "native_functions.yaml", ROOT / "derivatives.yaml", base))
        folders = [f"-I{folder}" for folder in (out, ROOT, base, os.environ["TENON_INCLUDE"])]
        for source in sources:
            command = [os.environ["CXX"], "-std=c++20", "-fsyntax-only", *folders, out / source]
            compiled = subprocess.run(command, capture_output=True, text=True, timeout=300)
            self.assertEqual(compiled.returncode, 0, compiled.stderr[:3000])


class Types(Compiled):
    def test_types_of_arguments_and_results(self):
        schemas = [
            f"a{i}(Tensor self, {base}{suffix} x) -> Tensor"
            for i, (base, suffix) in enumerate((base, suffix) for base in BASES for suffix in SUFFIXES)
        ]
        schemas += [
            f"r{i}(Tensor self) -> {base}{suffix}"
            for i, (base, suffix) in enumerate((base, suffix) for base in BASES for suffix in SUFFIXES[:4])
        ]
        entries = [ENTRY.format(schema) for schema in schemas]
        self.write("n.yaml", "".join(entries))
        result = tenonc(
            "check", "--native", "n.yaml", "--tags", ROOT / "tags.yaml", "--format", "json", cwd=self.folder
        )
        messages = json.loads(result.stdout)["diagnostics"]
        self.assertLessEqual({message["rule"] for message in messages}, {"cpp_type", "schema_syntax"})
        lines = ENTRY.count("\n")
        refused = {(message["line"] - 1) // lines for message in messages}
        accepted = [entry for i, entry in enumerate(entries) if i not in refused]
        self.assertGreater(len(accepted), 60)
        self.check_compiles("".join(accepted), "", "operators_0.cpp")


class Namespaces(Compiled):
    def test_one_name_in_two(self):
        entry = "- func: {}::f(Tensor self) -> Tensor\n  pointwise: exp(self)\n"
        more = "- func: {}::g(Tensor self) -> Tensor\n  dispatch: {{CPU: g_cpu}}\n"
        native = "".join(part.format(name) for name in ("mine", "yours") for part in (entry, more))
        derivatives = "".join(f"- name: {name}::g\n  self: {name}::f(grad)\n" for name in ("mine", "yours"))
        self.check_compiles(
            native, derivatives, "operators_0.cpp", "autograd_0.cpp", "pointwise/mine/f.cpp", "pointwise/yours/f.cpp"
        )


class Names(Compiled):
    def files(self, names, in_expressions=False):
        def numbers(some):
            return ", ".join(f"int {name}" for name in some)

        tensors = ", ".join(f"Tensor {name}" for name in names)
        self.native = NATIVE.format(numbers=numbers(names), tensors=tensors)
        parts = [names[i : i + NUMBERS_OF_A_KERNEL] for i in range(0, len(names), NUMBERS_OF_A_KERNEL)]
        for i, part in enumerate(parts):
            total = " + ".join(part) if in_expressions else "1"
            self.native += POINTWISE.format(part=i, numbers=numbers(part), sum=total)
        self.kernels = [f"pointwise/my/pointwise_{i}.cpp" for i in range(len(parts))]
        # Several to a key, since `name` alone is the entry's own, and not all, since YAML bounds the length of keys.
        others = [name for name in names if name not in ("inputs", "node")]
        others = [", ".join(others[i::10]) for i in range(10)]
        self.derivatives = DERIVATIVES.format(others="".join(f"  {key}: non_differentiable\n" for key in others))
        self.write("n.yaml", self.native)
        self.write("d.yaml", self.derivatives)
        return ["--native", "n.yaml", "--derivatives", "d.yaml"]

    def test_names_of_generated_code(self):
        names = template_names()
        self.assertGreater(len(names), 150)
        result = tenonc(
            "check", *self.files(names), "--base", ROOT / "native_functions.yaml", "--format", "json", cwd=self.folder
        )
        refused = set()
        for message in json.loads(result.stdout)["diagnostics"]:
            if message["rule"] == "pointwise_arguments":  # the expressions read them below
                continue
            self.assertIn(
                message["rule"],
                (
                    "generated_name",
                    "output_parameter",
                    "reserved_argument_name",
                    "derivative_shadowed",
                    "derivative_two_meanings",
                    "gradient_names",
                ),
            )
            refused.add(re.match("`(\\w+)`", message["message"])[1])
        self.assertLess(len(refused), len(names) / 2)
        taken = [name for name in names if name not in refused]
        self.files(taken, in_expressions=True)
        self.check_compiles(self.native, self.derivatives, "operators_0.cpp", "autograd_0.cpp", *self.kernels)


if __name__ == "__main__":
    unittest.main()
