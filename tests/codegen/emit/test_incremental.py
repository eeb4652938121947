"""What one edit of Tenon's own YAML files makes the generator write."""

import json
import os
import re
import shutil
import unittest

from support import LISTS, PRIVATE, ROOT, Difference, Workspace, generate, snapshot

POINTWISE = """- func: aaa_test_op(Tensor self, Tensor gate) -> Tensor
  variants: function
  pointwise: silu(self) * gate

"""
STRUCTURED = """- func: aaa_test_op(Tensor self) -> Tensor
  variants: function
  structured: True
  dispatch: {CPU: aaa_test_op_cpu, CUDA: aaa_test_op_cuda}
  non_differentiable: True

"""


def is_per_operator(path):
    return path.startswith(("tenon/ops/", "tenon/native/", "pointwise/"))


class Incremental(Workspace):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.native = (ROOT / "native_functions.yaml").read_text()
        cls.derivatives = (ROOT / "derivatives.yaml").read_text()
        cls.first = cls.folder / "first"
        cls.native_file, cls.derivatives_file = cls.folder / "native.yaml", cls.folder / "derivatives.yaml"
        result = cls.run_generator(cls.first, cls.native, cls.derivatives)
        if result.returncode:
            raise AssertionError(result.stderr)
        cls.before = snapshot(cls.first)

    @classmethod
    def run_generator(cls, out, native, derivatives):
        cls.native_file.write_text(native)
        cls.derivatives_file.write_text(derivatives)
        return generate(cls.native_file, cls.derivatives_file, out, "--backends", "CPU,CUDA")

    def after_edit(self, native=None, derivatives=None):
        """The difference that an edit makes to a copy of the first run's output."""
        out = self.folder / "edited"
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(self.first, out)
        self.check_ok(self.run_generator(out, native or self.native, derivatives or self.derivatives))
        difference = Difference(self.before, snapshot(out))
        self.assertEqual(difference.touched, difference.changed, "a file was written with the content it had")
        return difference

    def test_two_runs_give_the_same_bytes(self):
        out = self.folder / "elsewhere" / "second"
        self.check_ok(self.run_generator(out, self.native, self.derivatives))
        difference = Difference(self.before, snapshot(out))
        self.assertFalse(difference.added | difference.removed)
        # The list for CMake has absolute paths of the output.
        self.assertEqual(difference.changed, {"sources.cmake"})

    def test_a_run_with_nothing_to_do_writes_nothing(self):
        out = self.folder / "again"
        self.check_ok(self.run_generator(out, self.native, self.derivatives))
        depfile = self.folder / "again.d"
        more = ["--backends", "CPU,CUDA", "--depfile", depfile]
        self.check_ok(generate(self.native_file, self.derivatives_file, out, *more))
        before, depfile_time = snapshot(out), depfile.stat().st_mtime_ns
        self.check_ok(generate(self.native_file, self.derivatives_file, out, *more))
        self.assertEqual(before, snapshot(out))
        self.assertEqual(depfile_time, depfile.stat().st_mtime_ns)

    def test_the_depfile_names_yaml_templates_and_renderer(self):
        depfile = self.folder / "gen.d"
        out = self.folder / "first"
        self.check_ok(
            generate(
                self.native_file,
                self.derivatives_file,
                out,
                "--backends",
                "CPU,CUDA",
                "--depfile",
                depfile,
                "--stamp",
                self.folder / "gen.stamp",
            )
        )
        text = depfile.read_text()
        self.assertTrue(text.startswith(f"{self.folder}/gen.stamp:"), text[:200])
        for path in (
            self.native_file,
            self.derivatives_file,
            ROOT / "tags.yaml",
            ROOT / "codegen/render.py",
            ROOT / "codegen/templates/autograd.cpp.j2",
        ):
            self.assertIn(str(path), text)

    def test_a_new_operator_touches_its_own_files_and_few_others(self):
        difference = self.after_edit(native=POINTWISE + self.native)
        self.assertEqual(difference.added, {"tenon/ops/aaa_test_op.h", "pointwise/aaa_test_op.cpp"})
        self.assertFalse(difference.removed)
        # Its shards, and the header that includes all; not Tensor's class.
        self.assertLessEqual(len(difference.sources), 4, difference.sources)
        self.assertNotIn("tenon/tensor.h", difference.changed)
        self.assertFalse({path for path in difference.changed if is_per_operator(path)})
        for path in difference.sources - {"tenon/ops.h"}:
            self.assertRegex(path, r"^(operators_\d+\.cpp|autograd_\d+\.cpp|pointwise_\d+\.cu)$")
        on_cpu = {path for path in difference.changed if not path.endswith(".cu")}
        self.assertLessEqual(len(on_cpu), 6, on_cpu)

    def test_deleting_an_operator_deletes_its_files(self):
        out = self.folder / "deleted"
        self.check_ok(self.run_generator(out, STRUCTURED + self.native, self.derivatives))
        own = {"tenon/ops/aaa_test_op.h", "tenon/native/aaa_test_op.h"}
        self.assertLessEqual(own, set(snapshot(out)))
        self.check_ok(self.run_generator(out, self.native, self.derivatives))
        difference = Difference(self.before, snapshot(out))
        self.assertFalse(difference.added | difference.removed)
        self.assertLessEqual(difference.changed, {"sources.cmake"})

    def test_reordering_entries_changes_no_file_of_an_operator(self):
        entries = re.split(r"(?m)^(?=- func:)", self.native)
        difference = self.after_edit(native="".join(reversed(entries)))
        self.assertFalse(difference.added | difference.removed)
        self.assertFalse({path for path in difference.changed if is_per_operator(path)})
        self.assertNotIn("tenon/tensor.h", difference.changed)
        self.assertNotIn("tenon/ops.h", difference.changed)

    def test_moving_an_operator_changes_only_places(self):
        entries = re.split(r"(?m)^(?=- func:)", self.native)
        moved = next(i for i, entry in enumerate(entries) if entry.startswith("- func: mm("))
        entries.append("\n" + entries.pop(moved))
        difference = self.after_edit(native="".join(entries))
        self.assertFalse(difference.sources)

    def entry_with(self, predicate):
        ir = json.loads(self.before["ir.json"][1])
        return next(entry for entry in ir["operators"] if entry["node"] and predicate(entry["node"]))

    def test_a_formula_touches_one_autograd_shard(self):
        entry = self.entry_with(lambda node: node["formulas"] and not node["kernels"])
        formula = entry["node"]["formulas"][0]
        lines = self.derivatives.split("\n")
        line = lines[formula["place"]["line"] - 1]
        key, text = line.split(": ", 1)
        lines[formula["place"]["line"] - 1] = f"{key}: {text}.neg()"
        difference = self.after_edit(derivatives="\n".join(lines))
        self.assertFalse(difference.added | difference.removed)
        self.assertEqual(len(difference.sources), 1, difference.sources)
        self.assertRegex(min(difference.sources), r"^autograd_\d+\.cpp$")

    def test_a_pointwise_formula_touches_its_kernel_too(self):
        entry = self.entry_with(lambda node: node["kernels"] and node["place"]["file"] == str(self.derivatives_file))
        node = entry["node"]
        name = node["inputs"][node["pointwise"][0]["input"]]["name"]
        lines = self.derivatives.split("\n")
        at = next(i for i in range(node["place"]["line"], len(lines)) if lines[i].startswith(f"  {name}: "))
        lines[at] += " * 3"
        difference = self.after_edit(derivatives="\n".join(lines))
        self.assertFalse(difference.added | difference.removed)
        kernels = {path for path in difference.sources if is_per_operator(path)}
        self.assertEqual(kernels, {f"pointwise/{entry['base']}.cpp"})
        self.assertLessEqual(len(difference.sources - kernels), 2, difference.sources)

    def test_an_expression_touches_one_kernel_file(self):
        native = re.sub(
            r"(?m)^(- func: sigmoid\((?:.*\n)+?  pointwise: )sigmoid\(self\)",
            r"\1sigmoid(self) * 2",
            self.native,
            count=1,
        )
        self.assertNotEqual(native, self.native)
        difference = self.after_edit(native=native)
        self.assertFalse(difference.added | difference.removed)
        kernels = {path for path in difference.sources if path.startswith("pointwise/")}
        self.assertEqual(kernels, {"pointwise/sigmoid.cpp"})
        shards = difference.sources - kernels
        # The tables hold the kernel's cost, the node its gradient.
        for kind in (r"operators_\d+\.cpp", r"autograd_\d+\.cpp", r"pointwise_\d+\.cu"):
            self.assertLessEqual(sum(bool(re.fullmatch(kind, path)) for path in shards), 1, shards)
        self.assertLessEqual(len(shards), 3, shards)

    def test_an_interrupted_run_is_completed(self):
        out = self.folder / "interrupted"
        shutil.copytree(self.first, out)
        os.remove(out / ".fingerprint")
        (out / "tenon/ops/mm.h").write_text("")
        self.check_ok(self.run_generator(out, self.native, self.derivatives))
        difference = Difference(self.before, snapshot(out))
        self.assertLessEqual(difference.changed, LISTS | PRIVATE)


if __name__ == "__main__":
    unittest.main()
