"""`tenonc ir` and `tenonc explain`: the documented form of the first, the text of the second."""

import json
import os
import re
import unittest

from support import ROOT, Workspace, tenonc

DOC = ROOT / "codegen" / "ir" / "README.md"
GOLDEN = ROOT / "tests" / "codegen" / "golden"

# The places of the objects that codegen/ir/README.md describes under a heading of their own.
SECTIONS = {
    "The document": ["$"],
    "An entry": ["$.operators[]"],
    "A form": ["$.operators[].forms[]"],
    "A kernel": ["$.operators[].kernel", "$.operators[].node.kernels[]"],
    "A node": ["$.operators[].node"],
}
# Objects whose keys are data.
DATA = {"$.operators[].forms[].dispatch.table"}


def documented():
    """{heading: {key: description}} of the tables in codegen/ir/README.md."""
    result = {}
    for part in re.split(r"(?m)^## ", DOC.read_text())[1:]:
        title, text = part.split("\n", 1)
        rows = re.findall(r"(?m)^\| (`.*?) \| (.*) \|$", text)
        result[title.strip()] = {key: description for keys, description in rows for key in re.findall(r"`(\w+)`", keys)}
    return result


def objects(value, path, found):
    """All keys of the objects at each path of the document."""
    if isinstance(value, dict):
        if path in DATA:
            return
        found.setdefault(path, set()).update(value)
        for key, inner in value.items():
            objects(inner, f"{path}.{key}", found)
    elif isinstance(value, list):
        for item in value:
            objects(item, path + "[]", found)


def library_ir(*options):
    result = tenonc(
        "ir",
        "--native",
        ROOT / "native_functions.yaml",
        "--derivatives",
        ROOT / "derivatives.yaml",
        "--tags",
        ROOT / "tags.yaml",
        *options,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


# Of backward kernels alone, of forward ones alone.
SOMETIMES = {
    "$.operators[].kernel": {"outputs"},
    "$.operators[].node.kernels[]": {"draws", "masks", "defaults"},
}


class Documentation(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.ir = json.loads(library_ir("--backends", "CPU,CUDA"))
        cls.found = {}
        objects(cls.ir, "$", cls.found)
        cls.doc = documented()

    def test_version(self):
        self.assertEqual(f"| `version` | {self.ir['version']} |", re.search(r"\| `version` .*", DOC.read_text())[0])

    def test_every_key_is_documented_and_exists(self):
        # A key that goes or changes its name raises the version; a new one is described.
        for title, paths in SECTIONS.items():
            for path in paths:
                extra = SOMETIMES.get(path, set())
                self.assertEqual(self.found[path] | extra, set(self.doc[title]) | extra, path)

    def test_keys_of_inner_objects_are_named(self):
        for title, paths in SECTIONS.items():
            for key, description in self.doc[title].items():
                if "(#" in description:
                    continue  # a section of its own
                words = set(re.findall(r"`(\w+)`", description))
                for path in paths:
                    for inner in (f"{path}.{key}", f"{path}.{key}[]"):
                        self.assertLessEqual(self.found.get(inner, set()) - {"file", "line", "source"}, words, inner)

    def test_values(self):
        forms = [form for entry in self.ir["operators"] for form in entry["forms"]]
        text = DOC.read_text()
        for kind in {thunk["kind"] for form in forms for thunk in form["dispatch"]["thunks"]}:
            self.assertIn(f"`{kind}`", text)
        nodes = [entry["node"] for entry in self.ir["operators"] if entry["node"]]
        for kind in {saved["kind"] for node in nodes for saved in node["saved"]}:
            self.assertIn(f"`{kind}`", text)

    def test_out_of_factories(self):
        # What is not given is out's; a range fits an out of any shape.
        forms = {form["schema"].split("(")[0]: form for entry in self.ir["operators"] for form in entry["forms"]}
        for name, any_shape in (
            ("arange.start_out", True),
            ("linspace.out", True),
            ("zeros.out", False),
            ("randint.low_out", False),
        ):
            (thunk,) = forms[name]["dispatch"]["thunks"]
            self.assertEqual(
                (thunk["kind"], thunk["like_out"], thunk["any_shape"]), ("out_from_functional", True, any_shape)
            )
        self.assertIn("ScalarType? dtype=None", forms["randint.low_out"]["schema"])

    def test_operators_are_in_the_order_of_their_names(self):
        names = [entry["name"] for entry in self.ir["operators"]]
        self.assertEqual(names, sorted(names))


class Explain(Workspace):
    maxDiff = None

    def explain(self, name, *options):
        return tenonc(
            "explain",
            name,
            "--native",
            "operators.yaml",
            "--derivatives",
            "derivatives.yaml",
            "--base",
            "base.yaml",
            "--backends",
            "CPU,CUDA",
            *options,
            cwd=GOLDEN,
        )

    def test_golden(self):
        names = re.findall(r"(?m)^- func: ([\w:.]+)\(", (GOLDEN / "operators.yaml").read_text())
        text = ""
        for name in names:
            result = self.explain(name)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            text += result.stdout + "\n"
        path = ROOT / "tests/codegen/report/explain.expected"
        if os.environ.get("TENON_ACCEPT"):
            path.write_text(text)
        self.assertEqual(text, path.read_text())

    def library(self, name, *options):
        return tenonc(
            "explain",
            name,
            *options,
            "--native",
            ROOT / "native_functions.yaml",
            "--derivatives",
            ROOT / "derivatives.yaml",
            "--tags",
            ROOT / "tags.yaml",
        )

    def test_modules(self):
        text = self.library("Linear", "--modules", ROOT / "modules.yaml").stdout
        self.assertTrue(text.startswith("Linear(int in_features, int out_features, bool bias=True)\n"), text)
        self.assertIn("weight [out_features, in_features]; reset_parameters() calls kaiming_uniform_(sqrt(5))", text)
        self.assertIn("bias [out_features], if bias;", text)
        self.assertIn("state dict: weight, bias\n", text)
        norm = self.library("BatchNorm2d", "--modules", ROOT / "modules.yaml").stdout
        self.assertIn("num_batches_tracked [] of long, if track_running_stats", norm)
        self.assertIn("; version 2\n", norm)
        # An operator as without modules.
        self.assertEqual(self.library("add", "--modules", ROOT / "modules.yaml").stdout, self.library("add").stdout)

    def test_names(self):
        entry = self.library("add.Tensor").stdout
        self.assertEqual(self.library("add_.Tensor").stdout, entry)  # a form leads to its entry
        both = self.library("add").stdout  # a base name to all
        self.assertIn(entry, both)
        self.assertEqual(re.findall(r"(?m)^add\.\w+", both), ["add.Scalar", "add.Tensor"])

    def test_what_users_ask(self):
        text = self.library("mm").stdout
        for line in (
            "written, functional; function tenon::mm, method Tensor::mm",
            "CPU: shapes by mm_meta, kernel mm_cpu",
            "saves mat2 (argument): the gradient of self needs it; only where that is wanted",
            "grad of self = grad.mm(mat2.t().conj())",
            "tenon/ops/mm.h",
        ):
            self.assertIn(line, text)
        self.assertIn("backward: none: `non_differentiable`", self.library("argmax").stdout)
        self.assertIn("differentiated by the operators that it calls", self.library("softmax.int").stdout)

    def test_division_in_formulas_is_true_division(self):
        native = (
            "- func: half(Tensor self, int n) -> Tensor\n  dispatch: {CPU: half_cpu}\n"
            "- func: mm(Tensor self, Tensor mat2) -> Tensor\n  variants: method\n  composite: implicit\n"
            "- func: part(Tensor self, int n) -> Tensor\n  dispatch: {CPU: part_cpu}\n"
        )
        derivatives = "- name: half\n  self: grad * (1 / 2)\n- name: part\n  self: grad.mm(self) * (n / self.size(0))\n"
        result = tenonc(
            "ir", "--native", self.write("n.yaml", native), "--derivatives", self.write("d.yaml", derivatives)
        )
        self.check_ok(result)
        nodes = {entry["name"]: entry["node"] for entry in json.loads(result.stdout)["operators"]}
        self.assertEqual(nodes["half"]["pointwise"][0]["readable"], "grad * 0.5")
        self.assertEqual(nodes["part"]["formulas"][0]["text"], "grad.mm(self) * (true_quotient(n, self_size_0))")

    def test_upstream(self):
        # Most of what upstream's formulas call is written by hand there, and nothing here can know it.
        native = self.write(
            "n.yaml", "- func: f(Tensor self, Tensor other) -> Tensor\n  dispatch:\n    CPU: f\n    Vulkan: f_vulkan\n"
        )
        derivatives = self.write(
            "d.yaml",
            "- name: f(Tensor self, Tensor other) -> Tensor\n"
            "  self: f_backward(grad, other)\n  other: at::native::g(grad)\n",
        )
        files = ["--native", native, "--derivatives", derivatives, "--dialect", "upstream"]
        self.check_ok(tenonc("ir", *files))
        explained = tenonc("explain", "f", *files)
        self.check_ok(explained)
        self.assertIn("grad of self = f_backward(grad, other)", explained.stdout)
        checked = tenonc("check", *files)
        self.check_ok(checked)
        self.assertIn("n.yaml:4:5: warning: unknown dispatch key `Vulkan`", checked.stderr)
        self.assertEqual(checked.stdout, "1 operators, 1 derivatives: no errors, 1 warning\n")

    def test_unknown(self):
        result = self.library("add.Tensr")
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stderr, "tenonc: there is no operator 'add.Tensr'; did you mean 'add.Tensor'?\n")


if __name__ == "__main__":
    unittest.main()
