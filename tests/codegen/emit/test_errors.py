"""Mistakes, as the built generator and the compile launcher report them."""

import os
import re
import shutil
import subprocess
import unittest

from support import ROOT, TEMPLATES, Workspace, generate, tenonc

MM = """- func: mm(Tensor self, Tensor mat2) -> Tensor
  variants: function, method
  structured: True
  dispatch: {CPU: mm_cpu, CUDA: mm_cuda}
"""
MM_DERIVATIVE = """- name: mm
  self: grad.mm(mat2)
  mat2: self.mm(grad)
"""


class Generation(Workspace):
    """The generator fails, writes nothing, and says where and what."""

    def errors(self, native, derivatives, *more):
        self.write("native.yaml", native)
        self.write("derivatives.yaml", derivatives)
        out = self.folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        result = generate("native.yaml", "derivatives.yaml", out, *more, cwd=self.folder)
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertFalse(out.exists(), "an output folder was made")
        self.assertNotRegex(result.stderr, r"Traceback|exception|internal error")
        return result.stderr

    def test_malformed_yaml(self):
        message = self.errors("- func: mm(Tensor self) -> Tensor\n  dispatch: {CPU: mm_cpu\n", "")
        self.assertRegex(message, r"^native\.yaml:\d+:\d+: error: ")
        self.assertIn("^\n", message)

    def test_undefined_name_in_a_formula(self):
        message = self.errors(MM, MM_DERIVATIVE.replace("grad.mm(mat2", "grad.mm(mat_2"))
        self.assertIn("derivatives.yaml:2:17: error: ", message)
        self.assertIn("'mat_2'", message)
        self.assertIn("did you mean 'mat2'?", message)
        self.assertIn("\n    self: grad.mm(mat_2)\n                  ^\n", message)

    def test_unbalanced_formula(self):
        message = self.errors(MM, MM_DERIVATIVE.replace("self.mm(grad)", "self.mm(grad"))
        self.assertRegex(message, r"derivatives\.yaml:3:\d+: error: .*\)")

    def test_calls_that_cannot_be(self):
        message = self.errors(MM, "- name: mm\n  self: grad.mmm(mat2)\n  mat2: mm(self)\n")
        self.assertIn("derivatives.yaml:2:14: error: Tensor has no method `mmm`; did you mean 'mm'?\n", message)
        self.assertIn("derivatives.yaml:3:9: error: `mm` does not take (Tensor)\n", message)
        self.assertIn("native.yaml:1:3: note: mm(Tensor self, Tensor mat2) -> Tensor\n", message)

    def test_wrong_expression(self):
        message = self.errors(
            "- func: f(Tensor self) -> Tensor\n  pointwise: self * sigmiod(self)\n"
            "- func: g(Tensor self) -> Tensor\n  pointwise: self * (1 + self\n",
            "",
        )
        self.assertRegex(message, r"native\.yaml:2:21: error: .*sigmiod.*did you mean 'sigmoid'\?")
        self.assertRegex(message, r"native\.yaml:4:\d+: error: ")
        self.assertIn("2 errors\n", message)

    def test_errors_of_all_files_in_one_run(self):
        message = self.errors(MM.replace("Tensor self", "Tnsor self"), MM_DERIVATIVE + "- name: mmm\n  self: grad\n")
        self.assertRegex(message, r"native\.yaml:1:\d+: error: .*Tnsor")
        self.assertRegex(message, r"derivatives\.yaml:4:\d+: error: .*mmm")

    def test_expressions_and_formulas_beside_other_mistakes(self):
        message = self.errors(
            "- func: f(Tnsor self) -> Tensor\n  pointwise: self\n"
            "- func: g(Tensor self) -> Tensor\n  pointwise: self * sigmiod(self)\n"
            "- func: h(Tensor self) -> Tensor\n  pointwise: nextafter(self, self)\n" + MM,
            MM_DERIVATIVE.replace("grad.mm(mat2", "grad.mmm(mat2"),
        )
        self.assertRegex(message, r"native\.yaml:1:11: error: unknown type `Tnsor`")
        self.assertRegex(message, r"native\.yaml:4:21: error: .*sigmiod")
        self.assertRegex(message, r"native\.yaml:6:\d+: error: .*nextafter")
        self.assertRegex(message, r"derivatives\.yaml:2:14: error: Tensor has no method `mmm`")
        self.assertIn("4 errors\n", message)

    def test_mistakes_of_every_phase_in_one_run(self):
        mistakes = [  # an entry, its derivative, and what is said about it
            ("- func: a(Tnsor self) -> Tensor\n  pointwise: self\n", "", "unknown type `Tnsor`"),
            ("- func: b(Tensor self) -> Tensor\n  pointwyse: self\n", "", "unknown key `pointwyse`"),
            (
                "- func: c.Tensor|Scalar(Tensor self, Tensor|Scalar|int x) -> Tensor\n  composite: implicit\n",
                "",
                "`Tensor|Scalar|int` has 3 alternatives",
            ),
            ("- func: d(Tensor self) -> Tensor\n  composite: implicit\n  dtypes: floating\n", "", "`dtypes` says"),
            (
                "- func: e(Tensor self) -> Tensor\n  dispatch: CPV\n",
                "- name: e\n  self: grad\n",
                "unknown dispatch key `CPV`",
            ),
            ("- func: f(Tensor self) -> Tensor\n  dispatch: CPU\n", "", "`f` does not say how it is differentiated"),
            (
                "- func: g(Tensor self) -> Tensor\n  non_differentiable: True\n",
                "",
                "`g` does not say how it is computed",
            ),
            ("- func: h(Tensor self) -> Tensor\n  pointwise: sigmiod(self)\n", "", "sigmiod"),
            ("- func: i(Tensor self) -> Tensor\n  rowwise: sum(self\n  over: -1\n", "", "this '(' is never closed"),
            ("- func: j(Tensor self) -> Tensor\n  composite: sefl.exp()\n", "", "sefl"),
            ("- func: k(Tensor self) -> Tensor\n  pointwise: nextafter(self, self)\n", "", "nextafter"),
            ("- func: l(Tensor self) -> Tensor\n  dispatch: CPU\n", "- name: l\n  self: grad * slef\n", "slef"),
            (
                "- func: m(Tensor self) -> Tensor\n  dispatch: CPU\n",
                "- name: m\n  self: grad.lll(self)\n",
                "Tensor has no method `lll`",
            ),
        ]
        message = self.errors("".join(entry for entry, _, _ in mistakes), "".join(d for _, d, _ in mistakes))
        said = re.findall(r"^(\w+)\.yaml:(\d+):\d+: error: (.*)", message, re.M)
        self.assertEqual(len(said), len(mistakes), message)
        line, derivative_line = 1, 1
        for entry, derivative, text in mistakes:
            end, derivative_end = line + entry.count("\n"), derivative_line + derivative.count("\n")
            at = [
                what
                for file, number, what in said
                if line <= int(number) < end
                and file == "native"
                or derivative_line <= int(number) < derivative_end
                and file == "derivatives"
            ]
            self.assertEqual(len(at), 1, message)
            self.assertIn(text, at[0])
            line, derivative_line = end, derivative_end
        self.assertIn(f"{len(mistakes)} errors\n", message)

    def test_an_unreadable_schema_hides_no_mistake_in_a_text(self):
        message = self.errors(
            "- func: a(Tnsor self) -> Tensor\n  variants: outt\n"
            "- func: b(Tensor self, Tensor self) -> Tensor\n  pointwise: (self + 1\n"
            "- func: c(Tensor self=3) -> Tensor\n  over: -1\n  rowwise: sum(self]\n"
            "- func: d(Tensor self) -> Tensr\n  composite: self; self\n",
            "- name: a\n  self: grad * (other\n",
        )
        said = re.findall(r"^(\w+)\.yaml:(\d+:\d+): error: (.{12})", message, re.M)
        self.assertEqual(
            said,
            [
                ("native", "1:11", "unknown type"),
                ("native", "2:13", "each of `var"),
                ("native", "3:31", "argument `se"),
                ("native", "4:14", "this '(' is "),
                ("native", "5:23", "`Tensor` can"),
                ("native", "7:20", "expected ')'"),
                ("native", "8:27", "unknown type"),
                ("native", "9:18", "only 'name ="),
                ("derivatives", "2:16", "this '(' is "),
            ],
            message,
        )
        self.assertIn("9 errors\n", message)

    def test_a_missing_kernel_beside_every_other_kind_in_one_run(self):
        native = self.write(
            "all.yaml",
            "- func: a(Tensr self) -> Tensor\n  pointwise: exp(self)\n"
            "- func: b(Tensor self) -> Tensor\n  pointwise: exp(slf)\n"
            "- func: c(Tensor self, Tensor other) -> Tensor\n  dispatch: CPU\n"
            "- func: d_(Tensor(a!) self) -> Tensor(a!)\n  pointwise: self + othr\n"
            "  non_differentiable: True\n",
        )
        derivatives = self.write("all_d.yaml", "- name: c\n  self: grad * (other\n  other: grad.mull(self)\n")
        kernels = self.folder / "none"
        kernels.mkdir(exist_ok=True)
        result = tenonc(
            "check", "--native", native.name, "--derivatives", derivatives.name, "--kernels", kernels, cwd=self.folder
        )
        self.assertEqual(result.returncode, 1, result.stderr)
        said = re.findall(r"^(\w+\.yaml:\d+:\d+): error: (.{13})", result.stderr, re.M)
        self.assertEqual(
            said,
            [
                ("all.yaml:1:11", "unknown type "),
                ("all.yaml:4:18", "unknown name "),
                ("all.yaml:6:13", "kernel 'c_cpu"),
                ("all.yaml:8:21", "unknown name "),
                ("all_d.yaml:2:16", "this '(' is n"),
                ("all_d.yaml:3:15", "Tensor has no"),
            ],
        )
        self.assertIn("6 errors\n", result.stderr)

    def test_missing_kernels_of_files_with_other_mistakes(self):
        # Whatever is wrong with the entries, what can be said of kernels is said, and nothing breaks.
        kernels = self.folder / "kernels"
        kernels.mkdir(exist_ok=True)
        for bad in sorted((ROOT / "tests" / "codegen" / "bad").glob("*.yaml")):
            if ".derivatives" in bad.name or ".tags" in bad.name or bad.read_bytes().startswith(b"# dialect"):
                continue
            with self.subTest(bad.name):
                result = tenonc("check", "--native", bad, "--kernels", kernels)
                self.assertIn(result.returncode, (0, 1), result.stderr)

    def test_a_file_without_its_option(self):
        result = tenonc("check", "--native", self.write("n.yaml", MM), "derivatives.yaml", cwd=self.folder)
        self.assertEqual(result.returncode, 2)
        self.assertIn("check takes options alone, got 'derivatives.yaml'", result.stderr)

    def test_functions_of_a_library_that_was_not_named(self):
        own = self.write("own.yaml", "- func: mine::f(Tensor self) -> Tensor\n  pointwise: silu(self)\n")
        result = tenonc("check", "--native", own)
        self.assertEqual(result.returncode, 1)
        self.assertIn("unknown function 'silu'", result.stderr)
        self.assertIn("were not read: give --base native_functions.yaml --tags tags.yaml", result.stderr)
        base = ["--base", ROOT / "native_functions.yaml", "--tags", ROOT / "tags.yaml"]
        self.check_ok(tenonc("check", "--native", own, *base))

    def test_misspelt_command(self):
        result = tenonc("explian")
        self.assertEqual(result.returncode, 2)
        self.assertEqual(
            result.stderr,
            "tenonc: unknown command 'explian'; did you mean 'explain'? (tenonc help lists the commands)\n",
        )

    def test_missing_file(self):
        result = tenonc("check", "--native", self.folder / "nowhere.yaml")
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"error: cannot read `.*nowhere\.yaml`")


class Templates(Workspace):
    def test_undefined_variable_names_the_template_line(self):
        templates = self.folder / "codegen" / "templates"
        shutil.copytree(TEMPLATES, templates)
        shutil.copy(ROOT / "codegen" / "render.py", templates.parent)
        self.write("native.yaml", MM)
        self.write("derivatives.yaml", MM_DERIVATIVE)
        # One in a file's own template, one in a template that it includes.
        for name in ("native.h.j2", "thunk_structured.j2"):
            with self.subTest(name):
                path = templates / name
                text = path.read_text()
                path.write_text(text + "\n{{ file.no_such_key }}\n")
                line = path.read_text().split("\n").index("{{ file.no_such_key }}") + 1
                result = generate(
                    "native.yaml", "derivatives.yaml", self.folder / "out", templates=templates, cwd=self.folder
                )
                path.write_text(text)
                self.assertEqual(result.returncode, 1)
                self.assertRegex(result.stderr, rf"{name}:{line}: error: .*no_such_key.*\(while writing ")
                self.assertNotIn("Traceback", result.stderr)


class MissingKernels(Workspace):
    def check(self, *kernels, backends="CPU"):
        self.write("native.yaml", MM)
        self.write("derivatives.yaml", MM_DERIVATIVE)
        paths = [part for path in kernels for part in ("--kernels", path)]
        return tenonc(
            "check-kernels",
            "--native",
            "native.yaml",
            "--derivatives",
            "derivatives.yaml",
            "--backends",
            backends,
            *paths,
            cwd=self.folder,
        )

    def setUp(self):
        shutil.rmtree(self.folder / "aten", ignore_errors=True)
        self.write("aten/meta/mm.cpp", "TensorSpec native::mm_meta(const Tensor& a, const Tensor& b) { return {}; }\n")
        self.write("aten/cpu/mm.cpp", "void native::mm_cpu(const Tensor& a) {}\n")

    def test_all_defined(self):
        result = self.check("aten/meta", "aten/cpu")
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_defined_by_a_macro(self):
        self.write("aten/cpu/mm.cpp", "#define KERNEL(op) void native::op##_cpu(const Tensor& a) {}\nKERNEL(mm)\n")
        result = self.check("aten/meta", "aten/cpu")
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_missing(self):
        result = self.check("aten/meta", "aten/cpu", backends="CPU,CUDA")
        self.assertEqual(result.returncode, 1)
        self.assertIn(
            "native.yaml:4:33: error: kernel 'mm_cuda' is not defined; expected in one of the kernel files: "
            "`void native::mm_cuda(const Tensor& self, const Tensor& mat2, const Tensor& out)`\n",
            result.stderr,
        )
        self.assertTrue(result.stderr.endswith("1 error\n"))

    def test_misspelt(self):
        self.write(
            "aten/cpu/mm.cpp", "// native::mm_cpu(1) {\nvoid native::mm_cpuu(const Tensor& a) { native::mm_cpu(a); }\n"
        )
        result = self.check("aten/meta", "aten/cpu")
        self.assertIn(
            "error: kernel 'mm_cpu' is not defined; expected in aten/cpu/mm.cpp: `void native::mm_cpu(", result.stderr
        )
        self.assertIn(
            "aten/cpu/mm.cpp:2:14: note: 'mm_cpuu' is defined here and no entry asks for it; did you mean 'mm_cpu'?\n",
            result.stderr,
        )

    def test_unqualified(self):
        self.write("aten/cpu/mm.cpp", "namespace native {\nvoid mm_cpu(const Tensor& a) {}\n}\n")
        result = self.check("aten/meta", "aten/cpu")
        self.assertIn("aten/cpu/mm.cpp:2:6: note: 'mm_cpu' is defined here without `native::`", result.stderr)

    def test_no_such_folder(self):
        result = self.check("aten/cqu")
        self.assertEqual(result.returncode, 2)
        self.assertIn("--kernels aten/cqu: there is no such file or folder", result.stderr)

    def test_the_librarys_own_kernels_are_all_there(self):
        folders = [
            part
            for name in ("composite", "conjugate", "cpu", "cuda", "meta", "sparse")
            for part in ("--kernels", ROOT / "aten" / name)
        ]
        result = tenonc(
            "check-kernels",
            "--native",
            ROOT / "native_functions.yaml",
            "--derivatives",
            ROOT / "derivatives.yaml",
            "--backends",
            "CPU,CUDA",
            *folders,
        )
        self.assertEqual((result.returncode, result.stderr), (0, ""))


class Compilation(Workspace):
    """What the compile launcher adds to the compiler's messages."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.gen = cls.folder / "gen"
        cls.native = ROOT / "native_functions.yaml"
        cls.derivatives = cls.folder / "derivatives.yaml"
        text = (ROOT / "derivatives.yaml").read_text()
        # A function of another library, which does not exist: only the compiler can tell.
        cls.derivatives.write_text(
            re.sub(r"(?m)^(- name: mm\n  self: ).*", r"\1std::no_such_function<Tensor>(grad, mat2)", text)
        )
        result = generate(cls.native, cls.derivatives, cls.gen)
        if result.returncode:
            raise AssertionError(result.stderr)

    def compile(self, source, launcher=True):
        command = ["sh", ROOT / "cmake/tools/compile_note.sh", self.gen / "index.txt"] if launcher else []
        command += [os.environ.get("CXX", "c++"), "-std=c++20", "-fsyntax-only"]
        command += [f"-I{folder}" for folder in (ROOT, self.gen, os.environ["TENON_INCLUDE"])]
        return subprocess.run([*map(str, command), str(source)], capture_output=True, text=True, timeout=300)

    def place(self, path, start):
        line = next(i for i, text in enumerate(path.read_text().split("\n"), 1) if text.startswith(start))
        return f"{path}:{line}"

    def kernel(self, signature):
        return self.write("mm.cpp", f'#include "tenon/native/mm.h"\nnamespace tenon {{\n{signature} {{}}\n}}\n')

    RIGHT = "void native::mm_cpu(const Tensor& self, const Tensor& mat2, const Tensor& out)"

    def test_right_signature(self):
        result = self.compile(self.kernel(self.RIGHT))
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_wrong_signature(self):
        place = self.place(self.native, "- func: mm(")
        note = (
            f"{place}: note: kernel mm_cpu is declared by this entry: mm(Tensor self, Tensor mat2) -> Tensor\n"
            f"  its definition must be: {self.RIGHT}\n"
        )
        for wrong in (
            self.RIGHT.replace("const Tensor& mat2", "Tensor& mat2"),
            self.RIGHT.replace("void", "int"),
            self.RIGHT.replace(", const Tensor& out", ""),
        ):
            with self.subTest(wrong):
                result = self.compile(self.kernel(wrong))
                self.assertNotEqual(result.returncode, 0)
                self.assertEqual(result.stderr.count(note), 1, result.stderr)

    def test_unknown_kernel(self):
        result = self.compile(self.kernel(self.RIGHT.replace("mm_cpu", "mmm_cpu")))
        self.assertIn("note: no entry of the YAML files asks for a kernel mmm_cpu\n", result.stderr)

    def test_other_errors_have_no_note(self):
        source = self.kernel(self.RIGHT)
        source.write_text(source.read_text() + "int broken = nothing;\n")
        result = self.compile(source)
        self.assertEqual(result.stderr, self.compile(source, launcher=False).stderr)

    def test_wrong_formula(self):
        shard = next(path for path in self.gen.glob("autograd_*.cpp") if "no_such_function" in path.read_text())
        result = self.compile(shard)
        self.assertNotEqual(result.returncode, 0)
        place = self.place(self.derivatives, "  self: std::no_such_function")
        self.assertIn(
            f"{place}: note: this is the formula of self: std::no_such_function<Tensor>(grad, mat2)\n", result.stderr
        )

    def test_wrong_pointwise_kernel(self):
        source = self.gen / "pointwise" / "lerp.cpp"
        text = source.read_text()
        source.write_text(text.replace("    out_[0] = ", "    int broken = nothing;\n    out_[0] = ", 1))
        try:
            result = self.compile(source)
        finally:
            source.write_text(text)
        self.assertNotEqual(result.returncode, 0)
        place = self.place(self.native, "- func: lerp.Tensor|Scalar(")
        self.assertIn(f"{place}: note: this follows from lerp.Scalar(", result.stderr)


if __name__ == "__main__":
    unittest.main()
