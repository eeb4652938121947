"""Row operators as the built generator sees them: derivatives as people read them, passes, mistakes."""

import json
import re
import unittest

from support import ROOT, Workspace, generate, tenonc


class Readable(Workspace):
    """The derivative has the form that an expert writes."""

    def explain(self, yaml, name):
        self.write("native.yaml", yaml)
        result = tenonc("explain", name, "--native", "native.yaml", "--tags", ROOT / "tags.yaml", cwd=self.folder)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def gradient(self, text, argument="self", schema="f(Tensor self) -> Tensor", keys="  over: -1\n"):
        shown = self.explain(f"- func: {schema}\n{keys}  rowwise: {text}\n", "f")
        found = re.search(rf"grad of {argument} = (.*)", shown)
        self.assertIsNotNone(found, shown)
        return found[1], shown

    def test_softmax(self):
        formula, shown = self.gradient("e = exp(self - detach(max(self))); e / sum(e)")
        self.assertEqual(formula, "(grad - sum(grad * result)) * result")
        self.assertIn("saves result (result)", shown)
        self.assertNotIn("saves self", shown)

    def test_log_softmax(self):
        formula, shown = self.gradient("t = self - detach(max(self)); t - log(sum(exp(t)))")
        self.assertEqual(formula, "grad - sum(grad) * exp(result)")
        self.assertNotIn("saves self", shown)

    def test_logsumexp(self):
        formula, _ = self.gradient("m = max(self); s = detach(where(isinf(m), 0, m)); s + log(sum(exp(self - s)))")
        self.assertEqual(formula, "grad * exp(self - result)")

    def test_norm_with_weight(self):
        keys = "  over: -1\n  columns: weight\n"
        schema = "f(Tensor self, Tensor weight, float eps) -> Tensor"
        text = "self * rsqrt(mean(square(self)) + eps) * weight"
        _, shown = self.gradient(text, "self", schema, keys)
        formula, _ = self.gradient(text, "weight", schema, keys)
        self.assertEqual(formula, "grad * (self * rsqrt(sum(square(self)) / length() + eps)), summed over the rows")
        # One pass for both sums, one for both gradients.
        backward = shown[shown.index("kernel f_backward") :]
        self.assertEqual(len(re.findall(r"pass \d", backward)), 2, shown)

    def test_layer_norm(self):
        shown = self.explain(
            "- func: f(Tensor self, Tensor weight, float eps) -> (Tensor out, Tensor mean, Tensor rstd)\n"
            "  over: -1\n  columns: weight\n  rowwise:\n    mean: mean(self)\n"
            "    rstd: rsqrt(mean(square(self - mean)) + eps)\n    out: (self - mean) * rstd * weight\n",
            "f",
        )
        # What is centred adds up to nothing, so that no sum waits for another.
        backward = shown[shown.index("kernel f_backward") : shown.index("tangent of")]
        self.assertEqual(
            re.findall(r"pass \d, reads ([^:]*): gives (.*)", backward),
            [
                ("grad_0, weight, self", "reduced0_ (Sum), reduced1_ (Sum), output 1 (added up)"),
                ("grad_0, weight, self", "output 0"),
            ],
            shown,
        )
        formula = re.search(r"grad of self = (.*)", shown)[1]
        self.assertTrue(formula.endswith(" + (grad_1 - sum(grad_0 * weight) * result2) / length()"), formula)

    def test_gradients_of_values_of_rows_may_be_absent(self):
        self.write(
            "native.yaml",
            "- func: f(Tensor self) -> (Tensor a, Tensor b, Tensor c)\n  over: -1\n  rowwise:\n"
            "    a: mean(self)\n    b: self * a\n    c: sum(self * b)\n",
        )
        result = tenonc("ir", "--native", "native.yaml", "--tags", ROOT / "tags.yaml", cwd=self.folder)
        rows = json.loads(result.stdout)["operators"][0]["node"]["rowwise"]
        grads = [(grad["name"], grad["kind"], grad["always"], grad["optional"]) for grad in rows["grads"]]
        self.assertEqual(
            grads,
            [("grad_0", "Row", False, False), ("grad_1", "Element", False, False), ("grad_2", "Row", False, True)],
        )
        optional = {i["name"] for i in rows["kernel"]["inputs"] if i["optional"]}
        self.assertEqual(optional, {"grad_2"})
        self.assertEqual({c["name"] for c in rows["conversions"] if c["optional"]}, {"grad_2"})

    def test_some_outputs(self):
        self.write(
            "native.yaml",
            "- func: f(Tensor self) -> (Tensor out, Tensor mean)\n  over: -1\n  keepdim: True\n"
            "  rowwise:\n    mean: mean(self)\n    out: self - mean\n",
        )
        self.write("derivatives.yaml", "- name: f\n  output_differentiability: [True, False]\n")
        files = ["--native", "native.yaml", "--derivatives", "derivatives.yaml", "--tags", ROOT / "tags.yaml"]
        shown = tenonc("explain", "f", *files, cwd=self.folder).stdout
        self.assertIn("grad of self = grad_0 - sum(grad_0) / length()", shown)
        entry = json.loads(tenonc("ir", *files, cwd=self.folder).stdout)["operators"][0]
        self.assertTrue(entry["rowwise"]["shape"].endswith(", true)"), entry["rowwise"]["shape"])
        self.assertEqual(entry["node"]["differentiable_outputs"], [True, False])

    def test_tangents(self):
        self.write(
            "native.yaml",
            "- func: f(Tensor self, Tensor weight) -> Tensor\n  over: -1\n  columns: weight\n"
            "  rowwise: sum(self * weight)\n",
        )
        result = tenonc("ir", "--native", "native.yaml", "--tags", ROOT / "tags.yaml", cwd=self.folder)
        forward = json.loads(result.stdout)["operators"][0]["node"]["forward"]
        terms = forward["formulas"][0]["terms"]
        self.assertEqual([term["tangents"][0]["name"] for term in terms], ["self_t", "weight_t"])
        self.assertEqual(
            terms[0]["text"],
            "tenon::native::from_rows(tenon::sum(tenon::mul(self_t_rows_, weight_rows_), -1, true), row_shape_)",
        )
        # What is written takes its place.
        self.write("derivatives.yaml", "- name: f\n  result: f(self_t, weight_p)\n")
        result = tenonc(
            "ir",
            "--native",
            "native.yaml",
            "--derivatives",
            "derivatives.yaml",
            "--tags",
            ROOT / "tags.yaml",
            cwd=self.folder,
        )
        node = json.loads(result.stdout)["operators"][0]["node"]
        self.assertEqual(node["forward"]["formulas"][0]["original"], "f(self_t, weight_p)")
        self.assertEqual(len(node["rowwise"]["gradients"]), 2)

    def test_dtype_of_the_elements(self):
        self.write(
            "native.yaml",
            "- func: f(Tensor self, Tensor weight) -> Tensor\n  over: -1\n  columns: weight\n"
            "  promote: elements\n  rowwise: self * weight\n",
        )
        result = tenonc("ir", "--native", "native.yaml", "--tags", ROOT / "tags.yaml", cwd=self.folder)
        entry = json.loads(result.stdout)["operators"][0]
        promotes = lambda kernel: [one["promotes"] for one in kernel["inputs"]]
        self.assertEqual(promotes(entry["rowwise"]["kernel"]), [True, False])
        # A gradient of a column has its dtype.
        self.assertEqual(set(promotes(entry["node"]["rowwise"]["kernel"])), {True})

    def test_passes(self):
        shown = self.explain(
            "- func: f(Tensor self) -> Tensor\n  over: -1\n  rowwise: e = exp(self - detach(max(self))); e / sum(e)\n",
            "f",
        )
        forward = shown[: shown.index("backward:")]
        self.assertEqual(len(re.findall(r"pass \d", forward)), 3, shown)
        # The exponential is computed once and kept.
        self.assertIn("pass 3, reads spill0_: gives output 0", forward)

    def test_methods(self):
        self.assertEqual(
            self.gradient("e = (self - self.max().detach()).exp(); e / e.sum()")[0],
            "(grad - sum(grad * result)) * result",
        )

    def test_extremes_of_numbers_share(self):
        self.assertEqual(
            self.gradient("fmax(self)")[0], "grad * (from_mask(self == result) / sum(from_mask(self == result)))"
        )
        # Of two values it is the function of elements.
        self.assertNotIn("Fmax", self.gradient("fmax(self, 0) + sum(self)")[1])

    def test_position_has_no_gradient(self):
        shown = self.explain("- func: f(Tensor self) -> Tensor\n  over: -1\n  rowwise: argmax(self)\n", "f")
        self.assertIn("gives reduced0_ (Argmax)", shown)
        self.assertNotIn("grad of self", shown)
        # It says where an element is read; its own derivative is none.
        formula, shown = self.gradient("pick(self, argmax(abs(self)))")
        self.assertEqual(formula, "where(index() == argmax(abs(self)), grad, 0)")
        self.assertIn("the element at reduced0_whole_", shown)

    def test_whole_numbers_are_apart(self):
        self.write(
            "native.yaml",
            "- func: f(Tensor self, int? dim=None) -> (Tensor n, Tensor at, Tensor share)\n  over: dim\n"
            "  rowwise:\n    n: count(self)\n    at: argmin(self)\n    share: n / length()\n",
        )
        self.write("derivatives.yaml", "")
        self.check_ok(
            generate("native.yaml", "derivatives.yaml", self.folder / "out", "--backends", "CPU,CUDA", cwd=self.folder)
        )
        kernel = next(self.folder.glob("out/rowwise/**/f.cpp")).read_text()
        self.assertIn("auto out1_ = traversal_.template output<int64_t>(1);", kernel)
        self.assertIn("if (out1_) traversal_.store_whole(out1_, group_, reduced1_whole_[group_]);", kernel)
        self.assertIn("loops->column_major.f32", kernel)
        # A share of the row is computed: 32 bits are for extremes and their positions alone.
        self.assertNotIn("loops->row_major.i32", kernel)
        self.assertIn("auto out2_ = traversal_.output(2);", kernel)
        cuda = next(self.folder.glob("out/rowwise/**/f.cu")).read_text()
        self.assertIn("row_.store_whole(0, reduced0_whole_);", cuda)
        self.assertIn("reduced1_total_.add(self, at_.place(j_));", cuda)

    def test_extremes_of_narrow_integers_are_narrow(self):
        self.write(
            "native.yaml",
            "- func: f(Tensor self, int dim) -> (Tensor high, Tensor at)\n  over: dim\n"
            "  rowwise:\n    high: max(self)\n    at: argmax(self)\n  non_differentiable: True\n"
            "- func: g(Tensor self, int dim) -> Tensor\n  over: dim\n  rowwise: max(self + 1)\n",
        )
        self.write("derivatives.yaml", "")
        self.check_ok(generate("native.yaml", "derivatives.yaml", self.folder / "out", cwd=self.folder))
        kernel = next(self.folder.glob("out/rowwise/**/f.cpp")).read_text()
        self.assertIn(
            "loops->row_major.i32 = &rows::row_major<&f_row_loop<rows::Unchunked<int32_t>>, &f_row_loop<rows::Chunked<int32_t>>>;",
            kernel,
        )
        self.assertIn("loops->column_major.i32 = &f_row_loop<rows::ColumnMajor<int32_t>>;", kernel)
        # A sum may need more bits.
        self.assertNotIn("i32", next(self.folder.glob("out/rowwise/**/g.cpp")).read_text())

    def test_check_is_called_first(self):
        self.write(
            "native.yaml",
            "- func: demo::f(Tensor self, int dim) -> Tensor\n  over: dim\n  check: f_check\n  rowwise: self / sum(self)\n",
        )
        self.write("derivatives.yaml", "[]\n")
        self.check_ok(
            generate(
                "native.yaml",
                "derivatives.yaml",
                self.folder / "gen",
                "--base",
                ROOT / "native_functions.yaml",
                cwd=self.folder,
            )
        )
        declared = (self.folder / "gen/demo/native/f.h").read_text()
        self.assertIn("void f_check(const tenon::Tensor& self, int64_t dim);", declared)
        called = (self.folder / "gen/operators_0.cpp").read_text()
        self.assertLess(called.index("native::f_check(self, dim);"), called.index("run_rows("))

    def test_cuda(self):
        self.write(
            "native.yaml",
            "- func: f(Tensor self, Tensor w) -> Tensor\n  over: -1\n  columns: w\n"
            "  rowwise: e = exp(self - detach(max(self))); e * w / sum(e)\n",
        )
        self.write("derivatives.yaml", "")
        command = ["--native", "native.yaml", "--tags", ROOT / "tags.yaml", "--backends", "CPU,CUDA"]
        shown = tenonc("explain", "f", *command, cwd=self.folder).stdout
        self.assertIn("CPU, CUDA, Meta: kernel generated from `rowwise`", shown)
        # Read once, and the exponential is computed again rather than kept.
        cuda = shown[shown.index("on CUDA, self in registers where the row is short:") : shown.index("backward:")]
        self.assertIn("pass 3, reads self, w: gives output 0", cuda)
        self.assertNotIn("spill", cuda)
        # The sums over the rows have a place in the kernel.
        result = generate(
            "native.yaml", "derivatives.yaml", self.folder / "out", "--backends", "CPU,CUDA", cwd=self.folder
        )
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        kernel = next(self.folder.glob("out/rowwise/**/f.cu")).read_text()
        self.assertIn("kSums = {{1}}", kernel)
        self.assertIn("kLaunches = 3, kReductions = 2;", kernel)
        self.assertIn("at_.add(rows::Output<1>(), out1_);", kernel)

    def test_shared_nodes(self):
        # As many paths as 2^40 lead to the first value; each node is visited once.
        cubes = " ".join(f"t{i + 1} = t{i} * (t{i} * self);" for i in range(40))
        self.gradient(f"t0 = self; {cubes} t40 * sum(self)")
        branches = " ".join(f"t{i + 1} = where(self > {i + 1}, t{i}, where(self > {-i}, 0, t{i}));" for i in range(40))
        self.gradient(f"t0 = self; {branches} t40 * sum(self)")


class Mistakes(Workspace):
    """Each is reported at its place, with what was expected."""

    def errors(
        self,
        entry,
        schema="f(Tensor self, Tensor target, Tensor? weight=None) -> Tensor",
        keys="  over: -1\n  rows: target\n  columns: weight\n",
    ):
        self.write("native.yaml", f"- func: {schema}\n{keys}  rowwise: {entry}\n")
        self.write("derivatives.yaml", "")
        result = generate("native.yaml", "derivatives.yaml", self.folder / "out", cwd=self.folder)
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertNotRegex(result.stderr, r"Traceback|exception|internal error")
        return result.stderr

    def test_reduction_of_a_row_value(self):
        message = self.errors("self - sum(mean(self))")
        self.assertRegex(
            message, r"native\.yaml:5:\d+: error: 'sum' takes the elements of a row, got one value per row"
        )

    def test_reduction_of_a_number(self):
        self.assertIn("'max' takes the elements of a row, got one value per call", self.errors("self - max(2)"))

    def test_position_that_is_no_integer(self):
        message = self.errors("pick(self, target * 0.5)")
        self.assertIn("'pick' needs an integer position, got a floating value", message)

    def test_position_that_is_no_row_value(self):
        self.assertIn(
            "'pick' needs a position for each row: an argument named in `rows`", self.errors("pick(self, self)")
        )

    def test_optional_without_a_number(self):
        message = self.errors("self * weight")
        self.assertIn(
            "'weight' may be absent: say which number stands for it then; did you mean '(weight ?? 1)'?", message
        )

    def test_two_numbers_for_one_absent_tensor(self):
        self.assertIn("another number already stands for 'weight'", self.errors("self * (weight ?? 1) + (weight ?? 0)"))

    def test_misspelt_reduction(self):
        self.assertIn("did you mean 'sum'?", self.errors("self / summ(self)"))

    def test_reductions_belong_to_rowwise(self):
        self.write("native.yaml", "- func: f(Tensor self) -> Tensor\n  pointwise: self / sum(self)\n")
        self.write("derivatives.yaml", "")
        result = generate("native.yaml", "derivatives.yaml", self.folder / "out", cwd=self.folder)
        self.assertIn("unknown function 'sum'", result.stderr)

    def test_value_that_is_never_used(self):
        message = self.errors("\n    norm: sum(self)\n    reslt: self / norm\n    result: self")
        self.assertIn(
            "native.yaml:7:5: error: `reslt` is no result and no later expression uses it: the schema does not name its "
            "result, `result`; did you mean 'result'?",
            message,
        )

    def test_result_without_an_expression(self):
        message = self.errors("\n    a: sum(self)", "f(Tensor self) -> (Tensor a, Tensor b)", "  over: -1\n")
        self.assertIn("`rowwise` gives no expression for the result `b`", message)

    def test_result_of_no_row(self):
        self.assertIn("the result `result` is the same for every row", self.errors("length() + 1"))


if __name__ == "__main__":
    unittest.main()
