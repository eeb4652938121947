"""How tenon_add_operators() and its like divide the work: projects that are configured and not compiled."""

import json
import os
import shutil
import subprocess
import sys
import unittest

from support import ROOT, TEMPLATES, TENONC, Workspace

HEAD = """cmake_minimum_required(VERSION 3.25)
project(demo LANGUAGES CXX)
add_library(hwy::hwy INTERFACE IMPORTED)
add_library(Tenon::tenon INTERFACE IMPORTED)
set(TENON_SHARE_DIR "{root}")
set(TENON_TEMPLATES_DIR "{templates}")
set(TENON_PYTHON "{python}")
set(TENON_COMPILER "{tenonc}")
include("{root}/cmake/TenonPython.cmake")
include("{root}/cmake/TenonOperators.cmake")
"""
FIRST = "- func: first::f(Tensor self) -> Tensor\n  pointwise: exp(self)\n"
SECOND = "- func: second::g(Tensor self) -> Tensor\n  dispatch: {CPU: g_cpu}\n"
SECOND_DERIVATIVE = "- name: second::g\n  self: first::f(grad).t()\n"


@unittest.skipUnless(shutil.which("cmake") and shutil.which("ninja"), "cmake and ninja build the project")
class Projects(Workspace):
    def configure(self, name, text, **files):
        """The finished CMake."""
        for file, content in files.items():
            self.write(f"{name}/{file}.yaml", content)
        self.write(f"{name}/main.cpp", "")
        self.write(
            f"{name}/CMakeLists.txt",
            HEAD.format(root=ROOT, templates=TEMPLATES, python=sys.executable, tenonc=TENONC) + text,
        )
        self.source, self.build = self.folder / name, self.folder / name / "build"
        return subprocess.run(
            ["cmake", "-S", self.source, "-B", self.build, "-G", "Ninja", f"-DCMAKE_CXX_COMPILER={os.environ['CXX']}"],
            capture_output=True,
            text=True,
            timeout=120,
        )

    def ninja(self, target):
        return subprocess.run(["ninja", "-C", self.build, target], capture_output=True, text=True, timeout=300)

    def test_wrong_yaml_fails_its_target_alone(self):
        done = self.configure(
            "wrong",
            """
add_library(mine STATIC)
tenon_add_operators(mine YAML ops.yaml)
add_library(other STATIC main.cpp)
""",
            ops=FIRST.replace("exp", "sigmiod_of_something_with_a_name_so_long_that_any_terminal_would_wrap_it"),
        )
        self.check_ok(done)
        place = f"{self.source}/ops.yaml:2:14: error: unknown function "
        self.assertEqual([line for line in done.stderr.split("\n") if line.startswith(place)][0].count("wrap_it"), 1)
        self.check_ok(self.ninja("other"))
        failed = self.ninja("mine")
        self.assertNotEqual(failed.returncode, 0)
        self.assertIn("\n" + place, failed.stdout)
        # Once mended, the next build configures again and goes on.
        self.write("wrong/ops.yaml", FIRST)
        self.assertIn("pointwise/first/f.cpp", self.ninja("mine").stdout)

    def test_several_calls_on_one_target(self):
        self.check_ok(
            self.configure(
                "several",
                """
add_library(mine STATIC)
tenon_add_operators(mine YAML one.yaml)
tenon_add_operators(mine YAML two.yaml)
""",
                one=FIRST,
                two=FIRST.replace("first", "second"),
            )
        )
        for folder, header in (("tenon_mine", "mine/one.h"), ("tenon_mine_2", "mine/two.h")):
            self.assertTrue((self.build / folder / header).exists(), header)
            self.assertTrue((self.build / folder / "operators_0.cpp").exists())
        self.check_ok(self.ninja("mine_tenon_docs_2"))
        pages = self.build / "tenon_mine_2" / "docs"
        self.assertEqual(sorted(page.name for page in pages.glob("*.md")), ["f.md", "index.md"])
        self.assertIn("# second::f\n", (pages / "f.md").read_text())
        again = self.configure(
            "several",
            """
add_library(mine STATIC)
tenon_add_operators(mine YAML one.yaml)
tenon_add_operators(mine YAML sub/one.yaml)
""",
            **{"sub/one": FIRST.replace("first", "second")},
        )
        self.assertNotEqual(again.returncode, 0)
        self.assertIn("a second one.yaml", again.stderr)

    def test_one_operator_in_two_calls(self):
        self.check_ok(
            self.configure(
                "twice",
                """
add_library(mine STATIC)
tenon_add_operators(mine YAML one.yaml)
tenon_add_operators(mine YAML two.yaml)
""",
                one=FIRST,
                two=FIRST,
            )
        )
        failed = self.ninja("mine")
        self.assertNotEqual(failed.returncode, 0)
        self.assertIn(f"{self.source}/two.yaml:1:3: error: `f` is a function of the library", failed.stdout)

    def test_targets_that_compile_nothing(self):
        for kind, target in (
            ("INTERFACE", "mine"),
            ("SHARED IMPORTED", "mine"),
            ("STATIC main.cpp)\nadd_library(a ALIAS mine", "a"),
        ):
            failed = self.configure(
                "kind", f"add_library(mine {kind})\ntenon_add_operators({target} YAML ops.yaml)\n", ops=FIRST
            )
            self.assertNotEqual(failed.returncode, 0)
            self.assertIn(
                f"tenon_add_operators({target}): operators are compiled into their target: an executable or a STATIC",
                " ".join(failed.stderr.split()),
            )

    def test_a_program_has_the_operators_of_static_libraries(self):
        self.check_ok(
            self.configure(
                "static",
                """
add_library(my-ops STATIC)
tenon_add_operators(my-ops YAML ops.yaml)
add_executable(user main.cpp)
target_link_libraries(user PRIVATE my-ops)
""",
                ops=FIRST,
            )
        )
        symbol = "tenon_operators_my_ops_ops_h"
        self.assertIn(f"--undefined={symbol}", (self.build / "build.ninja").read_text())
        self.assertIn(f"const char {symbol} = 0;", (self.build / "tenon_my-ops" / "operators_0.cpp").read_text())

    def test_modules_of_python(self):
        self.check_ok(
            self.configure(
                "module",
                """
add_library(mine SHARED)
tenon_add_operators(mine YAML ops.yaml PYTHON_MODULE my_module)
""",
                ops=FIRST,
            )
        )
        text = (self.build / "my_module.py").read_text()
        compile(text, "my_module.py", "exec")
        self.assertIn('"libmine.so"', text)
        for kind, arguments, message in (
            ("STATIC", "PYTHON_MODULE my_module", "is of type STATIC_LIBRARY"),
            ("SHARED", "PYTHON_MODULE my-module", "is no name that Python can import"),
            (
                "SHARED",
                "PYTHON_MODULE a)\ntenon_add_operators(mine YAML two.yaml PYTHON_MODULE b",
                "a second PYTHON_MODULE",
            ),
        ):
            failed = self.configure(
                "module",
                f"add_library(mine {kind})\ntenon_add_operators(mine YAML ops.yaml {arguments})\n",
                ops=FIRST,
                two=FIRST.replace("first", "second"),
            )
            self.assertNotEqual(failed.returncode, 0)
            self.assertIn(message, " ".join(failed.stderr.split()))

    def test_extensions_of_pytorch(self):
        text = """
include("{root}/cmake/TenonInstructionSets.cmake")
include("{root}/cmake/TenonTorch.cmake")
{torch}
tenon_add_torch_extension(mine {arguments})
""".replace("{root}", str(ROOT))
        torch = "add_library(torch INTERFACE IMPORTED)"
        self.check_ok(self.configure("extension", text.format(torch=torch, arguments="YAML ops.yaml"), ops=FIRST))
        self.assertIn("TORCH_LIBRARY_FRAGMENT(first, m)", (self.build / "tenon_mine" / "ops.cpp").read_text())
        for found, arguments, message in (
            (torch, "", "expected YAML and a file, got ''"),
            (torch, "YAML none.yaml", "none.yaml does not exist"),
            ("", "YAML ops.yaml", "PyTorch is missing: call find_package(Torch REQUIRED)"),
        ):
            failed = self.configure("extension_error", text.format(torch=found, arguments=arguments), ops=FIRST)
            self.assertNotEqual(failed.returncode, 0)
            self.assertIn(message, " ".join(failed.stderr.split()))

    def test_formulas_call_operators_of_another_library(self):
        libraries = """
add_library(mine STATIC)
tenon_add_operators(mine YAML one.yaml)
add_library(yours STATIC)
tenon_add_operators(yours YAML two.yaml DERIVATIVES formulas.yaml KERNELS main.cpp{base})
"""
        files = {"one": FIRST, "two": SECOND, "formulas": SECOND_DERIVATIVE}
        self.check_ok(self.configure("base", libraries.format(base=" BASE mine"), **files))
        self.assertIn('#include "first/ops/f.h"\n', (self.build / "tenon_yours" / "autograd_0.cpp").read_text())
        self.assertIn("-I" + str(self.build / "tenon_mine"), (self.build / "build.ninja").read_text())
        without = self.configure("without", libraries.format(base=""), **files)
        self.assertIn("formulas.yaml:2:9: error: no operator has the namespace `first`", without.stderr)
        unknown = self.configure("unknown", libraries.format(base=" BASE mien"), **files)
        self.assertNotEqual(unknown.returncode, 0)
        self.assertIn("BASE mien is no target with operators", unknown.stderr)

    def test_installed_operators(self):
        self.check_ok(
            self.configure(
                "installed",
                """
add_library(mine STATIC)
tenon_add_operators(mine YAML one.yaml)
tenon_install_operators(mine DESTINATION include)
install(TARGETS mine EXPORT mine ARCHIVE DESTINATION lib)
install(EXPORT mine FILE MineTargets.cmake DESTINATION cmake)
""",
                one=FIRST,
            )
        )
        prefix = self.folder / "prefix"
        # Nothing is built here: what is installed must not be looked for.
        (self.build / "libmine.a").write_bytes(b"")
        self.check_ok(
            subprocess.run(
                ["cmake", "--install", self.build, "--prefix", prefix], capture_output=True, text=True, timeout=120
            )
        )
        self.assertTrue((prefix / "include/first/ops/f.h").exists())
        self.assertTrue((prefix / "include/mine/one.h").exists())
        self.check_ok(
            self.configure(
                "user",
                f"""
include("{prefix}/cmake/MineTargets.cmake")
add_library(yours STATIC)
tenon_add_operators(yours YAML two.yaml DERIVATIVES formulas.yaml KERNELS main.cpp BASE mine)
""",
                two=SECOND,
                formulas=SECOND_DERIVATIVE,
            )
        )
        self.assertIn('#include "first/ops/f.h"\n', (self.build / "tenon_yours" / "autograd_0.cpp").read_text())
        commands = json.dumps((self.build / "build.ninja").read_text())
        self.assertIn(str(prefix / "include"), commands)


if __name__ == "__main__":
    unittest.main()
