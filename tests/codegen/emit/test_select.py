"""tenonc ir --operators: which operators and sources a list leads to."""

import json
import unittest

from support import ROOT, Workspace, tenonc

NATIVE = """- func: exp(Tensor self) -> Tensor
  variants: function, inplace, out
  pointwise: exp(self)
- func: sin(Tensor self) -> Tensor
  pointwise: sin(self)
- func: cos(Tensor self) -> Tensor
  pointwise: cos(self)
- func: mul.Tensor(Tensor self, Tensor other) -> Tensor
  variants: function, method
  pointwise: self * other
- func: conj(Tensor self) -> Tensor
  pointwise: conj(self)
  tags: called_by_generated_code
- func: thrice(Tensor self) -> Tensor
  variants: function, method
  dispatch: {CPU: thrice_cpu}
- func: seldom(Tensor self) -> Tensor
  variants: function, method
  dispatch: {CPU: seldom_cpu}
  non_differentiable: True
- func: lonely(Tensor self) -> Tensor
  dispatch: {CPU: lonely_cpu}
  non_differentiable: True
- func: lt.Tensor(Tensor self, Tensor other) -> Tensor
  pointwise: self < other
- func: gt.Tensor(Tensor self, Tensor other) -> Tensor
  pointwise: self > other
- func: eq.Tensor(Tensor self, Tensor other) -> Tensor
  pointwise: self == other
- func: ne.Tensor(Tensor self, Tensor other) -> Tensor
  pointwise: self != other
- func: bitwise_and.Tensor(Tensor self, Tensor other) -> Tensor
  pointwise: self & other
- func: bitwise_not(Tensor self) -> Tensor
  pointwise: ~self
- func: neg(Tensor self) -> Tensor
  pointwise: -self
- func: select.int(Tensor(a) self, int dim, int index) -> Tensor(a)
  dispatch: {CPU: select_cpu}
  non_differentiable: True
- func: operators(Tensor self, Tensor[] tensors, int n) -> Tensor
  composite: implicit
- func: both(Tensor self) -> Tensor
  composite: implicit
- func: other(Tensor self) -> Tensor
  composite: implicit
- alias: rare(Tensor self) -> Tensor
  of: seldom
- func: forwards(Tensor self) -> Tensor
  dispatch: {CPU: forwards_cpu}
- func: composed(Tensor self) -> Tensor
  composite: "t = thrice(self); t < self"
"""
DERIVATIVES = """- name: thrice
  self: grad.thrice()
- name: forwards
  self: grad
  result: self_t.seldom() == self_p
"""
SOURCES = {
    "aten/cpu/thrice.cpp": '#include "tenon/native/thrice.h"\n#include "aten/cpu/helper.h"\n'
    "Tensor native::thrice_cpu(const Tensor& self) { return help(self); }\n",
    "aten/cpu/forwards.cpp": '#include "tenon/native/forwards.h"\n'
    "Tensor native::forwards_cpu(const Tensor& self) { return self; }\n",
    "aten/cpu/helper.h": '#pragma once\n#include "tenon/tensor.h"\n',
    "aten/cpu/helper.cpp": '#include "aten/cpu/helper.h"\n#include "tenon/ops/exp.h"\n'
    "// lonely(x) in a comment\nTensor help(const Tensor& t) { return exp(t); }\n",
    "aten/cpu/seldom.cpp": '#include "tenon/native/seldom.h"\n'
    "Tensor native::seldom_cpu(const Tensor& self) { return self; }\n",
    "aten/cpu/lonely.cpp": '#include "tenon/native/lonely.h"\n'
    "Tensor native::lonely_cpu(const Tensor& self) { return self; }\n",
    "aten/composite/both.cpp": """#include "tenon/native/both.h"
#include "tenon/native/other.h"
#include "tenon/ops/lonely.h"
namespace {
Tensor inner(const Tensor& t) { return t.seldom(); }
}
Tensor native::both(const Tensor& self) { return inner(self); }
Tensor native::other(const Tensor& self) { return ops::lonely::call(self < self); }
""",
}


# What a function may do with tensors and numbers, and the operators that follow; `compared` is a method's result.
EXPRESSIONS = {
    "self < self": {"lt.Tensor", "gt.Tensor"},
    "0.5 < self": {"lt.Tensor", "gt.Tensor"},
    "n < self.dim() ? self : self": set(),
    "self.thrice() == n": {"thrice", "eq.Tensor"},
    "self.dim() == n && n != self.size(0) ? self : self": set(),
    "tensors[0] != 1": {"ne.Tensor"},
    "tensors.size() != 1 ? tensors[0] : tensors[1]": set(),
    "self[0]": {"select.int"},
    "~(self)": {"bitwise_not"},
    "helper(&self)": set(),
    "compared & other": {"thrice", "bitwise_and.Tensor"},
    "std::vector<Tensor>{self, self}[n]": set(),
    "use(-self)": {"neg", "mul.Tensor"},
    "thrice(self) == other": {"thrice", "eq.Tensor"},
    "count == n ? self : other": set(),
    "static_cast<int64_t>(self.dim()) == n ? self : self": set(),
    "self.is_a<Tensor>(other)": set(),
    "Tensor(std::function<Tensor(const Tensor&)>(other))": set(),
    "use(self < count, other == count)": {"lt.Tensor", "gt.Tensor", "eq.Tensor"},
    "use(self < other, self > other)": {"lt.Tensor", "gt.Tensor"},
}
OPERATORS = """#include "tenon/native/operators.h"
#include "tenon/ops/thrice.h"
Tensor native::operators(const Tensor& self, TensorList tensors, int64_t n) {{
  Tensor other;
  const auto count = self.dim();{0}
  return {1};
}}
// Names of another function.
bool native::unused(int64_t self, int64_t other) {{ return self < other || self == n; }}
"""


class Selection(Workspace):
    def select(self, names, sources=SOURCES):
        self.write("native.yaml", NATIVE)
        self.write("derivatives.yaml", DERIVATIVES)
        self.write("list.txt", names)
        for path, text in sources.items():
            (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
            self.write(path, text)
        return tenonc(
            "ir",
            "--native",
            "native.yaml",
            "--derivatives",
            "derivatives.yaml",
            "--tags",
            ROOT / "tags.yaml",
            "--operators",
            "list.txt",
            "--root",
            ".",
            cwd=self.folder,
        )

    def selected(self, names, sources=SOURCES):
        result = self.select(names, sources)
        self.check_ok(result)
        ir = json.loads(result.stdout)
        reached = {op["name"]: op["reached_from"] for op in ir["operators"] if op["selected"]}
        return reached, ir

    def test_only_what_every_library_needs(self):
        reached, ir = self.selected("# nothing\n\n")
        self.assertEqual(set(reached), {"conj", "mul.Tensor", "neg"})
        self.assertEqual(reached["conj"], "generated code")
        self.assertEqual(reached["mul.Tensor"], "aten/generated_support/tensor_methods.cpp")
        self.assertEqual(ir["unused_sources"], sorted(p for p in SOURCES if p.endswith(".cpp")))

    def test_kernels_helpers_and_formulas(self):
        reached, ir = self.selected("aten::thrice  # a comment\n")
        self.assertEqual(reached["thrice"], "")
        self.assertEqual(reached["exp"], "aten/cpu/helper.cpp")
        self.assertNotIn("lonely", reached)
        self.assertNotIn("aten/cpu/helper.cpp", ir["unused_sources"])
        self.assertIn("aten/cpu/seldom.cpp", ir["unused_sources"])

    def test_derived_gradients(self):
        reached, _ = self.selected("sin\n")
        self.assertEqual(reached["cos"], "sin")

    def test_formulas_of_forward_mode(self):
        reached, _ = self.selected("forwards\n")
        self.assertEqual(reached["seldom"], "forwards")
        self.assertEqual(reached["eq.Tensor"], "forwards")
        self.assertNotIn("thrice", reached)

    def test_functions_of_a_shared_file(self):
        reached, ir = self.selected("both\n")
        self.assertEqual(reached["seldom"], "aten/composite/both.cpp")
        self.assertNotIn("lonely", reached)
        self.assertNotIn("lt.Tensor", reached)
        reached, ir = self.selected("other\n")
        self.assertEqual(reached["lonely"], "aten/composite/both.cpp")
        self.assertIn("lt.Tensor", reached)
        self.assertNotIn("seldom", reached)

    def test_operators_between_tensors(self):
        always, _ = self.selected("")
        for expression, expected in EXPRESSIONS.items():
            with self.subTest(expression):
                compared = "\n  auto compared = self.thrice();" if "compared" in expression else ""
                text = OPERATORS.format(compared, expression)
                reached, _ = self.selected("operators", {**SOURCES, "aten/composite/operators.cpp": text})
                self.assertLessEqual(expected, set(reached))
                # Derivatives of those reach others.
                own = {name for name, by in reached.items() if by == "aten/composite/operators.cpp"}
                self.assertLessEqual(own, expected)

    def test_aliases_and_compositions(self):
        reached, ir = self.selected("rare\n")
        self.assertEqual(reached["seldom"], "")
        self.assertIn("rare", reached)
        names = [op["name"] for op in ir["operators"]]
        for file in ir["files"]:
            if file["template_name"] in ("operators.cpp.j2", "left_out.cpp.j2"):
                self.assertNotIn(names.index("rare"), file["operators"])
        reached, _ = self.selected("composed\n")
        self.assertEqual(reached["thrice"], "composed")
        self.assertEqual(reached["lt.Tensor"], "composed")
        self.assertNotIn("rare", reached)

    def test_derived_forms_and_files(self):
        reached, ir = self.selected("exp.out\nexp_\n")
        self.assertIn("exp", reached)
        files = {file["path"] for file in ir["files"]}
        self.assertIn("pointwise/exp.cpp", files)
        self.assertIn("left_out.cpp", files)
        self.assertIn("tenon/ops/thrice.h", files, "declarations stay")
        left = next(file for file in ir["files"] if file["path"] == "left_out.cpp")
        self.assertIn("thrice", [ir["operators"][i]["name"] for i in left["operators"]])

    def test_unknown_names(self):
        result = self.select("exp\n  exq\n")
        self.assertEqual(result.returncode, 1)
        self.assertIn("list.txt:2:1: error: there is no operator `exq`; did you mean 'aten::exp'?", result.stderr)

    def test_missing_list(self):
        self.select("")
        result = tenonc(
            "ir",
            "--native",
            "native.yaml",
            "--derivatives",
            "derivatives.yaml",
            "--tags",
            ROOT / "tags.yaml",
            "--operators",
            "none.txt",
            "--root",
            ".",
            cwd=self.folder,
        )
        self.assertEqual(result.returncode, 1)
        self.assertIn("cannot read the list of operators none.txt", result.stderr)


class Lenet(Workspace):
    def test_trace_of_the_example(self):
        result = tenonc(
            "ir",
            "--native",
            "native_functions.yaml",
            "--derivatives",
            "derivatives.yaml",
            "--tags",
            "tags.yaml",
            "--operators",
            "examples/train_mnist/operators.txt",
            "--root",
            ".",
            cwd=ROOT,
        )
        self.check_ok(result)
        operators = {op["name"]: op for op in json.loads(result.stdout)["operators"]}
        selected = {name for name, op in operators.items() if op["selected"]}
        self.assertLess(len(selected), len(operators) / 2)
        for name in ("conv2d", "convolution_backward", "_convolution_double_backward", "linear_backward", "mul.Tensor"):
            self.assertIn(name, selected)
        for name in ("gelu", "embedding", "argmin", "prod", "var.correction"):
            self.assertNotIn(name, selected)


if __name__ == "__main__":
    unittest.main()
