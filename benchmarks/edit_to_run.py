#!/usr/bin/env python3
"""Times the way from an edit to a run: the sources are changed as a user would, the library is built, and a program that
uses the change is compiled, linked and run. The compiler's cache is off meanwhile. Afterwards the files are put back,
and the library too.

    pointwise   a new entry of native_functions.yaml with an expression
    rows        a new entry with an expression over rows, a norm with a weight
    structured  a new entry, a meta function and a kernel in files of their own
    formula     another formula of an operator that exists
    method      a new method of Tensor, which everything that includes tenon/tensor.h is compiled again for
    own         another expression over rows in a project outside the tree, examples/custom_operator
    own_here    the same with kernels for this machine alone

Prints seconds and what was compiled; fails if a kernel that was there before was among it (but for `method`).
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NATIVE, DERIVATIVES = ROOT / "native_functions.yaml", ROOT / "derivatives.yaml"
TARGET_SECONDS = 15.0
TARGET_SECONDS_ROWS = 6.0

PROGRAM = """
#include <cstdio>
#include "tenon/ops/{header}.h"
#include "tenon/ops/ones.h"
#include "tenon/ops/sum.h"
int main() {{
  tenon::Tensor x = tenon::ones({{2, 2}}, tenon::TensorOptions());
  x.requires_grad_();
  {body}
}}
"""

META = """#include "tenon/native/bench_edit_to_run.h"

namespace tenon {

TensorSpec native::bench_edit_to_run_meta(const Tensor& self) { return TensorSpec(self.sizes(), self); }

}  // namespace tenon
"""

KERNEL = """#include "tenon/native/bench_edit_to_run.h"

namespace tenon {

void native::bench_edit_to_run_cpu(const Tensor& self, const Tensor& out) {
  const float* in = self.const_data_ptr<float>();
  float* result = out.mutable_data_ptr<float>();
  for (int64_t i = 0; i < self.numel(); ++i) result[i] = 3 * in[i];
}

}  // namespace tenon
"""

MM = "- name: mm\n  self: grad.mm("


class Case:
    """Files to write (path: text), and a program with what it prints."""

    def __init__(self, files, header, body, expected, wide=False):
        self.files, self.expected, self.wide = files, expected, wide
        self.program = PROGRAM.format(header=header, body=body)


def appended(path, text):
    return {path: path.read_text().rstrip("\n") + "\n\n" + text}


def cases():
    derivatives = DERIVATIVES.read_text()
    if MM not in derivatives:
        raise SystemExit("edit_to_run.py: derivatives.yaml has no entry for mm that begins as expected")
    backward = 'std::printf("%.4f\\n", x.grad().select(0, 0).select(0, 0).item<double>());'
    schema = "- func: bench_edit_to_run(Tensor self) -> Tensor\n"
    return {
        # 1 - tanh(1)^2 + tanh(1) + 1
        "pointwise": Case(
            appended(NATIVE, schema + "  variants: function\n  pointwise: tanh(self) * self + self\n"),
            "bench_edit_to_run",
            "tenon::sum(tenon::bench_edit_to_run(x)).backward(); " + backward,
            "2.1816",
        ),
        # Rows of ones over their root mean square of 1: the gradient of the weight is the number of rows.
        "rows": Case(
            appended(
                NATIVE,
                "- func: bench_edit_to_run(Tensor self, Tensor weight, float eps=0) -> Tensor\n  variants: function\n"
                "  over: -1\n  columns: [weight]\n"
                "  rowwise: self * rsqrt(mean(square(self)) + eps) * weight\n",
            ),
            "bench_edit_to_run",
            "tenon::Tensor w = tenon::ones({2}, tenon::TensorOptions()).requires_grad_();\n"
            "  tenon::sum(tenon::bench_edit_to_run(x, w)).backward();\n"
            '  std::printf("%.4f\\n", w.grad().select(0, 0).item<double>());',
            "2.0000",
        ),
        "structured": Case(
            appended(NATIVE, schema + "  variants: function\n  structured: CPU\n  non_differentiable: True\n")
            | {ROOT / "aten/meta/bench_edit_to_run.cpp": META, ROOT / "aten/cpu/bench_edit_to_run.cpp": KERNEL},
            "bench_edit_to_run",
            'std::printf("%.4f\\n", tenon::sum(tenon::bench_edit_to_run(x.detach())).item<double>());',
            "12.0000",
        ),
        # The gradient of mm's first argument, three times what it is.
        "formula": Case(
            {DERIVATIVES: derivatives.replace(MM, "- name: mm\n  self: 3 * grad.mm(")},
            "mm",
            "tenon::sum(tenon::mm(x, tenon::ones({2, 2}, tenon::TensorOptions()))).backward(); " + backward,
            "6.0000",
        ),
        "method": Case(
            appended(NATIVE, schema + "  variants: function, method\n  pointwise: self * 5\n"),
            "bench_edit_to_run",
            "tenon::sum(x.bench_edit_to_run()).backward(); " + backward,
            "5.0000",
            wide=True,
        ),
    }


def ninja(build):
    """Builds the library; the names of the objects that were compiled."""
    environment = {**os.environ, "NINJA_STATUS": ""}
    # A new source is listed first, as ./tenon fmt does it.
    subprocess.run([sys.executable, str(ROOT / "cmake/lint/sources.py"), "--fix"], check=True, capture_output=True)
    result = subprocess.run(
        ["cmake", "--build", str(build), "--target", "tenon"], capture_output=True, text=True, env=environment
    )
    if result.returncode != 0:
        raise SystemExit(f"edit_to_run.py: the build failed:\n{result.stdout[-4000:]}{result.stderr[-2000:]}")
    return re.findall(r"Building C\w+ object CMakeFiles/tenon(?:_kernels|_calls)?\.dir/(\S+)\.o", result.stdout)


def compile_and_run(case, build, folder):
    source, binary = Path(folder) / "main.cpp", Path(folder) / "main"
    source.write_text(case.program)
    subprocess.run(
        [
            os.environ.get("CXX", "g++"),
            "-std=c++20",
            "-O1",
            f"-I{ROOT}",
            f"-I{build}/gen",
            f"-I{build}/include",
            str(source),
            "-o",
            str(binary),
            f"-L{build}",
            "-ltenon",
            f"-Wl,-rpath,{build}",
        ],
        check=True,
    )
    return subprocess.run([str(binary)], check=True, capture_output=True, text=True).stdout.strip()


class Edit:
    """Writes a case's files, with the compiler's cache off; puts them back."""

    def __init__(self, case):
        self.files = case.files
        lists = ROOT / "aten/CMakeLists.txt"  # written by ninja()
        self.before = {path: path.read_text() if path.exists() else None for path in [*case.files, lists]}

    def __enter__(self):
        self.cache = os.environ.get("CCACHE_DISABLE")
        os.environ["CCACHE_DISABLE"] = "1"
        for path, text in self.files.items():
            path.write_text(text)

    def __exit__(self, *_):
        for path, text in self.before.items():
            if text is None:
                path.unlink(missing_ok=True)
            else:
                path.write_text(text)
        if self.cache is None:
            del os.environ["CCACHE_DISABLE"]


def measure_case(name, case, build):
    existing = {str(path.relative_to(ROOT)) for path in (ROOT / "aten").rglob("*.c*")}
    try:
        with tempfile.TemporaryDirectory() as folder:
            start = time.perf_counter()
            with Edit(case):
                compiled = ninja(build)
                built = time.perf_counter()
                output = compile_and_run(case, build, folder)
                done = time.perf_counter()
    finally:
        ninja(build)
    if output != case.expected:
        raise SystemExit(f"edit_to_run.py: {name}: the program printed {output}, expected {case.expected}")
    kernels = [] if case.wide else [path for path in compiled if path in existing]
    return {
        "seconds": done - start,
        "build_seconds": built - start,
        "compiled": compiled,
        "kernels_recompiled": kernels,
    }


OWN = {"own": [], "own_here": ["-DTENON_INSTRUCTION_SETS=native"]}


def measure_own(build, options):
    """The same of the example, built against an installation; its program checks its operators itself."""
    environment = {**os.environ, "CCACHE_DISABLE": "1", "NINJA_STATUS": ""}

    def run(*command):
        return subprocess.run(
            [str(word) for word in command], check=True, capture_output=True, text=True, env=environment
        ).stdout

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run("cmake", "--install", build, "--prefix", folder / "tenon")
        shutil.copytree(ROOT / "examples/custom_operator", folder / "source")
        run(
            "cmake",
            "-S",
            folder / "source",
            "-B",
            folder / "build",
            "-G",
            "Ninja",
            "-DCMAKE_BUILD_TYPE=Release",
            f"-DCMAKE_PREFIX_PATH={folder / 'tenon'}",
            *options,
        )
        run("cmake", "--build", folder / "build")
        yaml = folder / "source/custom_ops.yaml"
        text = yaml.read_text()
        edited = text.replace("mean(square(self)) + eps", "eps + mean(square(self))")
        if edited == text:
            raise SystemExit("edit_to_run.py: the example's norm is not written as expected")
        start = time.perf_counter()
        yaml.write_text(edited)
        output = run("cmake", "--build", folder / "build")
        built = time.perf_counter()
        run(folder / "build/custom_operator")
        done = time.perf_counter()
    compiled = re.findall(r"Building C\w+ object CMakeFiles/custom_operator\.dir/(\S+)\.o", output)
    others = [path for path in compiled if "/rowwise/" in path and not path.endswith("/rms_norm.cpp")]
    return {"seconds": done - start, "build_seconds": built - start, "compiled": compiled, "kernels_recompiled": others}


def measure(build, names=("pointwise",)):
    """{case: {"seconds", "build_seconds", "compiled": [objects], "kernels_recompiled"}}"""
    ninja(build)  # what was left to do does not count
    known = cases()
    return {
        name: measure_own(build, OWN[name]) if name in OWN else measure_case(name, known[name], build) for name in names
    }


def report(results):
    lines = []
    for name, result in results.items():
        lines.append(
            f"{name:<12} {result['seconds']:6.1f} s, of which the library {result['build_seconds']:.1f} s; "
            f"{len(result['compiled'])} files compiled"
        )
        lines += [f"    {path}" for path in result["compiled"][:12]]
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "cases",
        nargs="*",
        default=["pointwise", "rows", "structured", "formula"],
        metavar="CASE",
        help="pointwise, rows, structured, formula (these by default), method, own, own_here",
    )
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    options = parser.parse_args()
    if unknown := set(options.cases) - set(cases()) - set(OWN):
        parser.error(f"there is no case {min(unknown)}")
    results = measure(options.build.resolve(), options.cases)
    if options.json:
        print(json.dumps(results))
    else:
        print(f"edit -> linked -> run (target {TARGET_SECONDS:.0f} s, rows {TARGET_SECONDS_ROWS:.0f} s)")
        print("\n".join(report(results)))
    if kernels := {path for result in results.values() for path in result["kernels_recompiled"]}:
        sys.exit(f"edit_to_run.py: kernels were recompiled: {', '.join(sorted(kernels))}")


if __name__ == "__main__":
    main()
