"""A project with operators of its own, built: its sources compile without warnings, and Ninja has nothing to do where
nothing changed. Once as Tenon's own tree generates, in a rule of the build, once as the installed package does."""

import os
import re
import shutil
import subprocess
import sys
import unittest

from support import ROOT, TEMPLATES, TENONC, Workspace, generate

GOLDEN = ROOT / "tests" / "codegen" / "golden"
PROJECT = """cmake_minimum_required(VERSION 3.25)
project(demo LANGUAGES CXX)
set(CMAKE_CXX_STANDARD 20)
find_package(hwy REQUIRED)
add_library(Tenon::tenon INTERFACE IMPORTED)
target_include_directories(Tenon::tenon INTERFACE {includes})
set(TENON_SHARE_DIR "{root}")
set(TENON_TEMPLATES_DIR "{templates}")
set(TENON_PYTHON "{python}")
{compiler}
include("{root}/cmake/TenonPython.cmake")
include("{root}/cmake/TenonOperators.cmake")
include("{root}/cmake/TenonGenerate.cmake")
# Compiled, not linked: there is no library here.
add_library(demo OBJECT)
target_compile_options(demo PRIVATE -Wall -Wextra -Werror)
tenon_add_operators(demo YAML operators.yaml DERIVATIVES derivatives.yaml KERNELS kernels.cpp)
"""
COMPILERS = {
    "tree": 'add_executable(tenonc IMPORTED)\nset_target_properties(tenonc PROPERTIES IMPORTED_LOCATION "{}")',
    "package": 'set(TENON_COMPILER "{}")',
}
KERNELS = """#include "demo/native/scale_rows.h"
#include "demo/native/twice.h"

namespace demo {
using tenon::Tensor;
tenon::TensorSpec native::scale_rows_meta(const Tensor& self, const Tensor&, double) {
  return tenon::TensorSpec(self.sizes(), self);
}
void native::scale_rows_cpu(const Tensor&, const Tensor&, double, const Tensor&) {}
Tensor native::twice(const Tensor& self) { return self; }
}  // namespace demo
"""


@unittest.skipUnless(shutil.which("cmake") and shutil.which("ninja"), "cmake and ninja build the project")
class Build(Workspace):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.base = cls.folder / "base"
        result = generate(ROOT / "native_functions.yaml", ROOT / "derivatives.yaml", cls.base)
        if result.returncode:
            raise AssertionError(result.stderr)

    def ninja(self, *arguments):
        command = ["ninja", "-C", self.build, "-j", "2", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=500)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def compiled(self, output):
        return re.findall(r"Building CXX object \S+/(\w+\.cpp)\.o", output)

    def check_project(self, kind):
        source, self.build = self.folder / kind, self.folder / kind / "build"
        shutil.copytree(GOLDEN, source, ignore=shutil.ignore_patterns("expected", "base.yaml"))
        self.write(f"{kind}/kernels.cpp", KERNELS)
        includes = " ".join(f'"{folder}"' for folder in (ROOT, self.base, os.environ["TENON_INCLUDE"]))
        self.write(
            f"{kind}/CMakeLists.txt",
            PROJECT.format(
                root=ROOT,
                templates=TEMPLATES,
                python=sys.executable,
                includes=includes,
                compiler=COMPILERS[kind].format(TENONC),
            ),
        )
        configured = subprocess.run(
            [
                "cmake",
                "-S",
                source,
                "-B",
                self.build,
                "-G",
                "Ninja",
                "-DCMAKE_BUILD_TYPE=Debug",
                f"-DCMAKE_CXX_COMPILER={os.environ['CXX']}",
            ],
            capture_output=True,
            text=True,
            timeout=120,
        )
        self.assertEqual(configured.returncode, 0, configured.stderr)
        everything = ["autograd_0.cpp", "blend.cpp", "kernels.cpp", "operators_0.cpp", "step.cpp"]
        self.assertEqual(sorted(self.compiled(self.ninja())), everything)
        self.assertIn("no work to do", self.ninja("-n"))

        # Written again as it was: the generator runs and nothing is compiled.
        operators = source / "operators.yaml"
        operators.write_text(operators.read_text())
        self.assertNotIn("no work to do", self.ninja("-n"))
        self.assertEqual(self.compiled(self.ninja()), [])
        self.assertIn("no work to do", self.ninja("-n"))

        derivatives = source / "derivatives.yaml"
        derivatives.write_text(derivatives.read_text().replace("grad.mul(weight", "grad.neg().mul(weight"))
        self.assertEqual(self.compiled(self.ninja()), ["autograd_0.cpp"])
        self.assertIn("no work to do", self.ninja("-n"))

    def test_a_rule_of_the_build(self):
        self.check_project("tree")

    def test_an_installed_generator(self):
        self.check_project("package")


if __name__ == "__main__":
    unittest.main()
