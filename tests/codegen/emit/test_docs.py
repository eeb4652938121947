"""The tests that tests/codegen/ACCEPTANCE.md names exist, the examples of docs/language.md are run, and `tenonc docs` writes pages."""

import math
import re
import sys
import unittest

from support import ROOT, TEMPLATES, Workspace, tenonc

sys.path.insert(0, str(ROOT / "codegen" / "pages"))
import formula  # noqa: E402
import plot  # noqa: E402

TESTS = ROOT / "tests" / "codegen"
OPERATORS = """# x cut at a limit. Larger values count as the limit.
- func: mine::capped(Tensor x, float limit=7.0) -> Tensor
  pointwise: where(x > limit, limit, x)

- func: mine::norms(Tensor self, float? eps=None) -> Tensor
  composite: squares = self * self; sqrt(squares.sum({-1}) + (eps ?? 0))

- func: mine::scale_rows(Tensor self, Tensor scale) -> Tensor
  structured: CPU
"""
DERIVATIVES = """- name: mine::scale_rows
  self: grad * scale.unsqueeze(1)
  scale: (grad * self).sum(1)
"""
MODULES = """layers:
# x times a learned number.
- module: Scaled(int size, float start=1.0)
  parameters:
    scale: {size: size, init: constant_(start)}
  forward(Tensor input): input * scale

# 2 x.
- function: twice(Tensor input)
  as: input * 2
"""


def entries(text):
    """The entries of a file, without what is not their computation: comments, namespace, forms."""
    text = re.sub(r"(?m)\s*#.*$", "", text)
    for entry in re.split(r"(?m)^- ", text)[1:]:
        entry = re.sub(r"(?m)^  (variants|tags): .*$", "", entry)
        yield re.sub(r"\b(mine|rowtest)::", "", " ".join(entry.split()))


class Acceptance(unittest.TestCase):
    def test_named_tests_exist(self):
        text = (TESTS / "ACCEPTANCE.md").read_text()
        rows = re.findall(r"(?m)^\| (\d+) \| .* \| (.*) \|$", text)
        self.assertEqual([int(number) for number, _ in rows], list(range(1, 36)))
        named = [pair for _, shown in rows for pair in re.findall(r'`([^`]+)` "([^"]+)"', shown)]
        self.assertGreater(len(named), 35)
        for path, name in named:
            file = next((folder / path for folder in (TESTS, ROOT) if (folder / path).exists()), None)
            self.assertIsNotNone(file, path)
            self.assertIn(name, file.read_text(), path)

    def test_examples_of_the_language_are_run(self):
        tested = set()
        for path in ("tests/language/language.yaml", "tests/rows/rows.yaml", "native_functions.yaml"):
            tested |= set(entries((ROOT / path).read_text()))
        text = (ROOT / "docs" / "language.md").read_text()
        shown = [one for block in re.findall(r"```yaml\n(.*?)```", text, re.S) for one in entries(block)]
        self.assertGreater(len(shown), 10)
        self.assertEqual([one for one in shown if one not in tested], [])


class Pages(Workspace):
    def docs(self, operators):
        native = self.write("ops.yaml", operators)
        derivatives = self.write("derivatives.yaml", DERIVATIVES if "scale_rows" in operators else "")
        base = ["--base", ROOT / "native_functions.yaml", "--tags", ROOT / "tags.yaml", "--templates", TEMPLATES]
        out = self.folder / "pages"
        done = tenonc("docs", native, "--derivatives", derivatives, *base, "--python", sys.executable, "--out", out)
        return done, out

    def test_a_page_for_each_operator(self):
        done, out = self.docs(OPERATORS)
        self.check_ok(done)
        names = sorted(path.name for path in out.iterdir())
        self.assertEqual(names, [".pages", "capped.md", "index.md", "norms.md", "scale_rows.md"])
        index = (out / "index.md").read_text()
        self.assertIn("| [`mine::capped`](capped.md) | x cut at a limit |", index)
        capped = (out / "capped.md").read_text()
        for part in (
            "# mine::capped\n",
            "Larger values count as the limit.",
            '<math display="block">',
            '<path class="value"',
            '<path class="derivative"',
            "Tensor mine::capped(const Tensor& x, double limit = 7.0);",
            "  pointwise: where(x > limit, limit, x)\n",
            "Kernels compute in float32, float64",
            "One pass reads `x` and writes one result.",
            "The gradient, `CappedBackward0`: One pass for `x`.",
            "| x | `` where(x > limit, 0, grad) `` | derived |",
        ):
            self.assertIn(part, capped)
        # The part of a composition that is one kernel belongs to its page.
        self.assertIn("`mine::_norms_fused`: Pass 1 reads `self`", (out / "norms.md").read_text())
        self.assertIn("| scale | `` (grad * self).sum(1) `` | derivatives.yaml |", (out / "scale_rows.md").read_text())

    def test_pages_of_operators_that_are_gone(self):
        self.docs(OPERATORS)
        _, out = self.docs(OPERATORS)
        (out / "mine.md").write_text("by hand\n")
        unchanged = (out / "capped.md").stat().st_mtime_ns
        done, _ = self.docs(OPERATORS.partition("- func: mine::norms")[0])
        self.check_ok(done)
        self.assertEqual(sorted(path.name for path in out.iterdir()), [".pages", "capped.md", "index.md", "mine.md"])
        self.assertEqual((out / "capped.md").stat().st_mtime_ns, unchanged)

    def test_a_mistake_writes_nothing(self):
        done, out = self.docs(OPERATORS.replace("limit, x)", "limit, y)"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("ops.yaml:3:", done.stderr)
        self.assertFalse(out.exists())

    def test_a_page_of_modules(self):
        file = self.write("mine.yaml", MODULES)
        out = self.folder / "modules"
        base = ["--modules", ROOT / "modules.yaml", "--native", ROOT / "native_functions.yaml"]
        templates = ["--templates", ROOT / "codegen" / "module_templates", "--python", sys.executable]
        self.check_ok(tenonc("modules", file, *base, *templates, "--out", out))
        page = (out / "docs" / "modules.md").read_text()
        for part in (
            "# Modules of mine\n",
            "## Scaled\n\nx times a learned number.\n",
            "mine.Scaled(size, start=1.0, device=None, dtype=None)\nforward(input)\n",
            "`forward` computes `` input * self.scale ``.",
            "Parameters and buffers: `scale`.",
            "mine::nn::Scaled(int64_t size);\nTensor forward(const Tensor& input);\n",
            "`ScaledOptions`: `int64_t size`, `double start = 1.0`.",
            "mine.twice(input)\n",
        ):
            self.assertIn(part, page)
        self.assertNotIn("modules.md", (out / "sources.cmake").read_text())


class Plots(unittest.TestCase):
    def test_values_of_an_expression(self):
        found = plot.sampled("t = beta * x; t > 1 ? exp(-t) : x / 2", {"beta": 2.0}, "x")
        self.assertEqual((len(found), found[0][0], found[-1][0]), (plot.STEPS + 1, plot.LEFT, plot.RIGHT))
        for x, y in found:
            self.assertAlmostEqual(y, math.exp(-2 * x) if 2 * x > 1 else x / 2)
        # A place without a value is no number; an unknown function gives no plot.
        self.assertTrue(math.isnan(plot.sampled("log(x)", {}, "x")[0][1]))
        self.assertIsNone(plot.sampled("mine::f(x)", {}, "x"))

    def test_derivatives_are_the_slopes(self):
        text = "sigmoid(x) * softplus(x)"
        node = {"pointwise": [{"readable": "grad * (result * (1 - sigmoid(x)) + square(sigmoid(x)))"}]}
        argument = {"name": "x", "is_tensor": True, "is_optional_tensor": False, "default_text": ""}
        (_, value), (_, slope) = plot.curves(
            {"forms": [{"kind": "functional", "arguments": [argument]}], "node": node}, text
        )
        for before, (_, here), after in zip(value, slope[1:], value[2:]):
            self.assertAlmostEqual((after[1] - before[1]) / (after[0] - before[0]), here, delta=1e-4)


class Formulas(unittest.TestCase):
    def shown(self, text):
        """The letters and signs of an expression's formula, in their order."""
        found = re.sub(r"<[^>]+>", " ", formula.typeset(text, "y") or "")
        return " ".join(found.replace("&#x2061;", "").split())

    def test_precedence(self):
        self.assertEqual(self.shown("(a + b) * c - a / (b + c)"), "y = ( a + b ) ⋅ c − a b + c")
        self.assertEqual(self.shown("a - (b - c)"), "y = a − ( b − c )")
        self.assertEqual(self.shown("-pow(a + 1, 2)"), "y = − ( a + 1 ) 2")
        self.assertEqual(self.shown("square(-x)"), "y = ( − x ) 2")

    def test_branches_and_locals(self):
        self.assertEqual(
            self.shown("t = tanh(beta * x); t > 0 ? t : 0"), "t = tanh ( β ⋅ x ) y = { t if&nbsp; t &gt; 0 0 otherwise"
        )

    def test_what_is_no_formula(self):
        self.assertIsNone(formula.typeset("repeat 3 { a = a + 1; } a", "y"))
        self.assertIsNone(formula.typeset("x", "y"))


if __name__ == "__main__":
    unittest.main()
