"""./tenon, in a tree of its own whose compilers, package managers and Python environments are stand-ins that write down
how they are called; and that each of its verbs runs in CI or here."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).parents[2]

# Writes its name and arguments to calls.txt.
RECORD = '#!/bin/sh\necho "${0##*/} $*" >>"$TENON_TEST_TREE/calls.txt"\n'


def problems(usage, script, ci, tests):
    """What of ./tenon's verbs is not as it should be, one line each."""
    documented = set(re.findall(r"(?m)^  ([a-z][a-z-]*) ", usage.split("Environment:")[0]))
    known = set(
        re.findall(r"(?m)^  ([a-z][a-z-]*)(?: \| [^)]*)?\) (?:no_options \"\$@\"; )?(?:verb_\w+|usage)", script)
    )
    run = set(re.findall(r"\./tenon ([a-z][a-z-]*)", ci)) | set(re.findall(r'self\.tenon\("([a-z][a-z-]*)"', tests))
    found = [f"{verb}: in ./tenon, not in its help" for verb in sorted(known - documented)]
    found += [f"{verb}: in the help of ./tenon, which does not know it" for verb in sorted(documented - known)]
    return found + [f"{verb}: neither .ci/run nor tests/lint/test_tenon.py runs it" for verb in sorted(known - run)]


class Tenon(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.environment = {
            "PATH": f"{self.root}/bin:{os.environ['PATH']}",
            "HOME": str(self.root),
            "TENON_JOBS": "1",
            "TENON_TEST_TREE": str(self.root),
            "TENON_NO_SETUP": "1",
        }
        for path in (
            ".clang-format",
            "tenon",
            "cmake/lint/sources.py",
            "cmake/lint/public_headers.py",
            "cmake/lint/requirements.txt",
            "cmake/tools/new_op.py",
            "codegen/requirements.txt",
            "tests/requirements.txt",
            "tests/oracle-requirements.txt",
            "bindings/python/requirements.txt",
            "docs/requirements.txt",
        ):
            self.plant(path, (ROOT / path).read_text())
        self.plant("cmake/TenonPublicHeaders.cmake", "set(TENON_PUBLIC_ENTRIES\n)\nset(TENON_PUBLIC_HEADERS\n)\n")
        (self.root / "tenon").chmod(0o755)
        self.program("bin/dpkg-query", "#!/bin/sh\necho installed\n")
        for name in ("apt-get", "sudo", "cmake"):
            self.program(f"bin/{name}", RECORD)
        for name in ("venv", "venv-docs", "venv-oracle"):
            self.program(f"build/{name}/bin/python", RECORD)
        self.program("build/venv/bin/ruff", RECORD)

    def plant(self, path, text=""):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def program(self, path, text):
        self.plant(path, text).chmod(0o755)

    def tenon(self, *arguments, **environment):
        return subprocess.run(
            [self.root / "tenon", *arguments],
            env={**self.environment, **environment},
            text=True,
            capture_output=True,
            stdin=subprocess.DEVNULL,
        )

    def good(self, done):
        self.assertEqual((0, ""), (done.returncode, done.stderr), done.stdout)
        return done.stdout

    def bad(self, done, *texts):
        self.assertEqual(1, done.returncode, done.stdout + done.stderr)
        for text in texts:
            self.assertIn(text, done.stderr)

    def calls(self):
        file = self.root / "calls.txt"
        lines = file.read_text().splitlines() if file.exists() else []
        file.unlink(missing_ok=True)
        return [line.replace(f"{self.root}/", "") for line in lines]

    def snapshot(self):
        skipped = ("build/", ".git/")
        files = {p.relative_to(self.root).as_posix(): p for p in self.root.rglob("*") if p.is_file()}
        return {name: p.read_text() for name, p in files.items() if not name.startswith(skipped)}

    # ---- help ----

    def test_help(self):
        text = self.good(self.tenon("help"))
        self.assertEqual([text] * 3, [self.good(self.tenon(*more)) for more in ((), ("-h",), ("--help",))])
        self.assertEqual([], self.calls())
        self.bad(self.tenon("biuld"), "tenon: there is no verb biuld; ./tenon help lists the verbs")

    def test_each_verb_is_in_the_help_and_is_run(self):
        texts = [
            self.good(self.tenon("help")),
            *((ROOT / path).read_text() for path in ("tenon", ".ci/run")),
            pathlib.Path(__file__).read_text(),
        ]
        self.assertEqual([], problems(*texts))
        texts[1] = texts[1].replace("  fmt) no_options", "  check) verb_check\n  format) no_options")
        texts[2] = texts[2].replace("./tenon demo", "./demo")
        self.assertEqual(
            [
                "check: in ./tenon, not in its help",
                "format: in ./tenon, not in its help",
                "fmt: in the help of ./tenon, which does not know it",
                "check: neither .ci/run nor tests/lint/test_tenon.py runs it",
                "demo: neither .ci/run nor tests/lint/test_tenon.py runs it",
                "format: neither .ci/run nor tests/lint/test_tenon.py runs it",
            ],
            problems(*texts),
        )

    # ---- set-up ----

    def test_setup_installs_what_the_pins_say_once(self):
        self.good(self.tenon("setup"))
        pip = "python -m pip install --disable-pip-version-check --requirement "
        self.assertEqual(
            [
                pip + path
                for path in (
                    "codegen/requirements.txt",
                    "tests/requirements.txt",
                    "bindings/python/requirements.txt",
                    "cmake/lint/requirements.txt",
                )
            ],
            self.calls(),
        )
        self.good(self.tenon("setup"))
        self.assertEqual([], self.calls())
        self.good(self.tenon("setup", "--oracle"))
        self.assertEqual([pip + "tests/requirements.txt", pip + "tests/oracle-requirements.txt"], self.calls())
        self.plant("tests/oracle-requirements.txt", "torch==99\n")
        self.good(self.tenon("setup", "--oracle"))
        self.assertEqual([pip + "tests/oracle-requirements.txt"], self.calls())

    def test_setup_says_what_is_wrong(self):
        self.bad(self.tenon("setup", "--oracel"), "tenon: setup: the only option is --oracle, got: --oracel")
        self.program("build/venv/bin/python", "#!/bin/sh\necho no network\nexit 1\n")
        self.bad(
            self.tenon("setup"),
            "no network",
            "tenon: step failed: Python packages of codegen/requirements.txt",
            f"log: {self.root}/build/logs/Python-packages-of-codegen-requirements-txt.log",
            "fix: check the connection to the Python package index",
        )
        self.assertFalse((self.root / "build/venv/codegen-requirements.txt").exists())

    def test_missing_system_packages_are_named(self):
        self.program("bin/dpkg-query", '#!/bin/sh\n[ "$3" = ccache ] || [ "$3" = mold ] || echo installed\n')
        self.bad(
            self.tenon("setup"),
            "tenon: missing system packages; run as root: apt-get install --yes --no-install-recommends ccache mold",
        )
        self.assertEqual([], self.calls())

    def test_other_systems_are_told_the_packages(self):
        (self.root / "bin/apt-get").unlink()
        (self.root / "bin/cmake").unlink()
        for tool in ("cat", "date", "dirname", "sh", "tr", "g++"):
            os.symlink(shutil.which(tool) or "/bin/true", self.root / "bin" / tool)
        self.bad(
            self.tenon("setup", PATH=f"{self.root}/bin"),
            "tenon: cmake is not installed, and this is no Debian system",
            "counterparts of these Debian packages: g++ cmake",
        )

    # ---- building ----

    def test_build_names_presets_and_failing_steps(self):
        self.bad(
            self.tenon("build", "relase"), "there is no preset relase; the presets are release, debug, thread, cuda"
        )
        self.bad(
            self.tenon("lint", "layer"),
            "lint: there is no check layer; the checks are layers, names, definitions, sources",
        )
        self.program("bin/cmake", "#!/bin/sh\nexit 1\n")
        self.bad(self.tenon("build"), "tenon: step failed: configure release", "fix: read CMake's message above")

    def test_bench_runs_fairly_with_the_oracles_python(self):
        self.program(
            "build/venv-oracle/bin/python", RECORD + 'env | grep "^OPENBLAS_" >>"$TENON_TEST_TREE/calls.txt"\ntrue\n'
        )
        self.good(self.tenon("bench", "--quick", OPENBLAS_NUM_THREADS="1", OPENBLAS_CORETYPE="x"))
        calls = self.calls()
        self.assertIn("python cmake/tools/build.py --jobs 1 build/release tenon_package tenon_benchmarks", calls)
        self.assertEqual("python benchmarks/run.py --quick", calls[-1])

    def test_docs_are_built_with_pages_of_the_module_and_the_generator(self):
        self.program(
            "build/venv-docs/bin/python",
            RECORD + 'echo "$TENON_GENERATOR $PYTHONPATH" >>"$TENON_TEST_TREE/calls.txt"\n',
        )
        built = ["build/release/codegen/tenonc build/release/python"]
        self.good(self.tenon("docs"))
        calls = self.calls()
        self.assertIn("python cmake/tools/build.py --jobs 1 build/release tenon_python tenonc", calls)
        self.assertEqual(["python -B -m mkdocs build --strict", *built], calls[-2:])
        self.good(self.tenon("docs", "--serve"))
        self.assertEqual(["python -B -m mkdocs serve", *built], self.calls()[-2:])
        self.bad(self.tenon("docs", "--open"), "docs: the only option is --serve, got: --open")
        self.program("build/venv-docs/bin/python", "#!/bin/sh\nexit 1\n")
        self.bad(self.tenon("docs"), "docs: the messages above name the page and the link")

    def calls_but_set_up(self):
        return [call for call in self.calls() if not call.startswith("python -m")]

    def test_bundle_gpu_packs_the_cuda_build(self):
        self.plant("cmake/tools/bundle_gpu.sh", 'echo "bundle $*" >>"$TENON_TEST_TREE/calls.txt"\n')
        self.plant("build/cuda/benchmarks/bench_calls")
        self.good(self.tenon("bundle-gpu"))
        self.assertEqual(
            [
                "cmake --preset cuda -B build/cuda -DTENON_INSTRUCTION_SETS=all",
                "python cmake/tools/build.py --jobs 1 build/cuda tenon_package tenon_benchmarks test_cuda test_ops",
                "bundle build/cuda build/bundle-gpu test_cuda test_ops bench_calls",
            ],
            self.calls_but_set_up(),
        )
        self.good(self.tenon("bundle-gpu", "test_cuda"))
        self.assertEqual(
            [
                "python cmake/tools/build.py --jobs 1 build/cuda tenon_package test_cuda",
                "bundle build/cuda build/bundle-gpu test_cuda",
            ],
            self.calls_but_set_up()[-2:],
        )

    def test_a_tree_goes_from_one_preset_to_another(self):
        build = "python cmake/tools/build.py --jobs 1 build/release tenon"
        self.good(self.tenon("build", "release", "tenon"))
        self.assertEqual(["cmake --preset release -B build/release", build], self.calls_but_set_up())
        self.plant("build/release/build.ninja")
        self.good(self.tenon("build", "release", "tenon"))
        self.assertEqual([build], self.calls_but_set_up())
        tree = {"TENON_TREE": "build/release"}
        self.good(self.tenon("build", "cuda", "tenon", **tree, TENON_CMAKE_OPTIONS="-DCMAKE_CUDA_ARCHITECTURES=90"))
        self.assertEqual(
            ["cmake --preset cuda -B build/release -DCMAKE_CUDA_ARCHITECTURES=90", build], self.calls_but_set_up()
        )
        self.good(self.tenon("wheel", **tree))
        wheel = next(call for call in self.calls() if "pip wheel" in call)
        for setting in (
            "cmake.define.TENON_INSTRUCTION_SETS=all",
            "build-dir=build/release",
            "cmake.define.TENON_TESTS=true",
            "cmake.define.TENON_BENCHMARKS=true",
        ):
            self.assertIn(f" --config-settings {setting} ", wheel)
        self.good(self.tenon("build", "release", "tenon"))
        self.assertEqual(["cmake --preset release -B build/release", build], self.calls_but_set_up())
        self.good(self.tenon("wheel"))
        wheel = next(call for call in self.calls() if "pip wheel" in call)
        self.assertIn(" --config-settings cmake.define.TENON_INSTRUCTION_SETS=all ", wheel)
        self.assertEqual(1, wheel.count("config-settings"))

    def test_sanitizers_take_the_generator_of_release(self):
        self.good(self.tenon("build", "thread", "test_autograd"))
        self.assertEqual(
            [
                "cmake --preset release -B build/release",
                "python cmake/tools/build.py --jobs 1 build/release tenonc",
                "cmake --preset thread -B build/thread -DTENON_GENERATOR=build/release/codegen/tenonc",
                "python cmake/tools/build.py --jobs 1 build/thread test_autograd",
            ],
            self.calls_but_set_up(),
        )

    # ---- editing ----

    def real_python(self):
        self.program("build/venv/bin/python", f'#!/bin/sh\nexec "{sys.executable}" -B "$@"\n')
        for path in ("codegen/requirements.txt", "tests/requirements.txt", "bindings/python/requirements.txt"):
            self.plant("build/venv/" + path.replace("/", "-"), (ROOT / path).read_text())

    def test_new_op(self):
        self.real_python()
        self.plant("native_functions.yaml", "- func: neg(Tensor self) -> Tensor\n  pointwise: -self\n")
        text = self.good(self.tenon("new-op", "gated", "--pointwise", "sigmoid(gate) * self"))
        self.assertIn("native_functions.yaml: entry added", text)
        self.assertIn(
            "\n\n- func: gated(Tensor self, Tensor gate) -> Tensor\n", self.snapshot()["native_functions.yaml"]
        )
        self.assertIn("tests/ops/test_gated.cpp", self.snapshot())
        before = self.snapshot()
        self.bad(self.tenon("new-op", "gated", "--composite"), "new-op: native_functions.yaml has gated already")
        self.assertEqual(before, self.snapshot())

    @unittest.skipUnless(shutil.which("clang-format") and shutil.which("git"), "clang-format or git is missing")
    def test_fmt_settles(self):
        self.real_python()
        self.program("build/venv/bin/ruff", "#!/bin/sh\n")
        subprocess.run(["git", "init", "--quiet", self.root], env=self.environment, check=True)
        self.plant(".gitignore", "/build/\n")
        self.plant("part/CMakeLists.txt", "tenon_target_sources(part\n  FOLDERS a\n  SOURCES\n    a/gone.cpp\n)\n")
        self.plant("part/a/b.cpp", "int  f( ){return 1;}\n")
        self.plant("native_functions.yaml", "-   func: f(Tensor self)->Tensor\n    composite: implicit\n")
        self.plant("derivatives.yaml", "- name: g\n  self:   grad\n")
        self.plant("tags.yaml", "- tag: core\n  desc:   One.\n")
        self.plant("examples/toy/toy.yaml", "backend: PrivateUse1\ncpp_namespace: toy\nsupported:   [f]\n")
        untouched = self.plant("build/x.cpp", "int  f( ){return 1;}\n")
        self.assertIn("the YAML files are not formatted: ./tenon build makes tenonc", self.good(self.tenon("fmt")))
        self.assertIn("func: f(Tensor self)->", self.snapshot()["native_functions.yaml"])
        (self.root / "build/release/codegen").mkdir(parents=True)
        os.symlink(os.environ["TENONC"], self.root / "build/release/codegen/tenonc")
        self.assertIn("tenon: formatted 1 files", self.good(self.tenon("fmt")))
        after = self.snapshot()
        self.assertIn("SOURCES\n    a/b.cpp\n)", after["part/CMakeLists.txt"])
        self.assertEqual("int f() { return 1; }\n", after["part/a/b.cpp"])
        self.assertEqual("- func: f(Tensor self) -> Tensor\n  composite: implicit\n", after["native_functions.yaml"])
        self.assertEqual("- name: g\n  self: grad\n", after["derivatives.yaml"])
        self.assertEqual("- tag: core\n  desc: One.\n", after["tags.yaml"])
        self.assertEqual("backend: PrivateUse1\ncpp_namespace: toy\nsupported: [f]\n", after["examples/toy/toy.yaml"])
        self.assertEqual("int  f( ){return 1;}\n", untouched.read_text())
        self.good(self.tenon("fmt"))
        self.assertEqual(after, self.snapshot())

    def test_clean_removes_what_was_built_alone(self):
        for name in (
            "release",
            "debug",
            "cuda",
            "small",
            "clones",
            "examples",
            "install",
            "logs",
            "site",
            "bundle-gpu",
            "mine",
        ):
            self.plant(f"build/{name}/file")
        before = self.snapshot()
        self.good(self.tenon("clean"))
        left = lambda: sorted(p.name for p in (self.root / "build").iterdir())  # noqa: E731
        self.assertEqual(["mine", "venv", "venv-docs", "venv-oracle"], left())
        self.good(self.tenon("clean", "--all"))
        self.assertEqual(["mine"], left())
        self.assertEqual(before, self.snapshot())


if __name__ == "__main__":
    unittest.main()
