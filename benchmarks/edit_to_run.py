#!/usr/bin/env python3
"""Times the way from an edit to a run: a pointwise operator is added to native_functions.yaml, the library is built, and
a program that calls the operator is compiled, linked and run. The file is put back afterwards, and the library too.

Also lists what the build recompiled, and fails if a kernel written by hand was among it.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
YAML = ROOT / "native_functions.yaml"
TARGET_SECONDS = 15.0

ENTRY = """
- func: bench_edit_to_run(Tensor self, Tensor other) -> Tensor
  variants: function
  pointwise: tanh(self) * other + self
"""

PROGRAM = """
#include <cstdio>
#include "tenon/ops/bench_edit_to_run.h"
#include "tenon/ops/ones.h"
int main() {
  tenon::Tensor x = tenon::ones({2}, tenon::TensorOptions());
  x.requires_grad_();
  tenon::bench_edit_to_run(x, x).sum().backward();
  std::printf("%.6f\\n", x.grad().select(0, 0).item<double>());
}
"""
EXPECTED = "2.181568"  # 1 - tanh(1)^2 + tanh(1) + 1


def ninja(build):
    """Builds the library; the names of the objects that were compiled."""
    env = {**os.environ, "NINJA_STATUS": ""}
    result = subprocess.run(["cmake", "--build", str(build), "--target", "tenon"], capture_output=True, text=True, env=env)
    if result.returncode != 0:
        raise SystemExit(f"edit_to_run.py: the build failed:\n{result.stdout[-4000:]}{result.stderr[-2000:]}")
    return re.findall(r"Building C\w+ object CMakeFiles/tenon\.dir/(\S+)\.o", result.stdout)


def compile_and_run(build, folder):
    source, binary = Path(folder) / "main.cpp", Path(folder) / "main"
    source.write_text(PROGRAM)
    subprocess.run([os.environ.get("CXX", "g++"), "-std=c++20", "-O1", f"-I{ROOT}", f"-I{build}/gen", f"-I{build}/include",
                    str(source), "-o", str(binary), f"-L{build}", "-ltenon", f"-Wl,-rpath,{build}"], check=True)
    return subprocess.run([str(binary)], check=True, capture_output=True, text=True).stdout.strip()


def measure(build):
    ninja(build)  # what was left to do does not count
    before = YAML.read_text()
    env_ccache = os.environ.get("CCACHE_DISABLE")
    os.environ["CCACHE_DISABLE"] = "1"
    try:
        with tempfile.TemporaryDirectory() as folder:
            start = time.perf_counter()
            YAML.write_text(before + ENTRY)
            compiled = ninja(build)
            built = time.perf_counter()
            output = compile_and_run(build, folder)
            done = time.perf_counter()
    finally:
        YAML.write_text(before)
        if env_ccache is None:
            del os.environ["CCACHE_DISABLE"]
        ninja(build)
    if output != EXPECTED:
        raise SystemExit(f"edit_to_run.py: the program printed {output}, expected {EXPECTED}")
    kernels = [name for name in compiled if name.startswith("aten/")]
    return {"seconds": done - start, "build_seconds": built - start, "compiled": compiled, "kernels_recompiled": kernels}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    options = parser.parse_args()
    result = measure(options.build.resolve())
    if options.json:
        print(json.dumps(result))
    else:
        print(f"edit -> linked -> run: {result['seconds']:.1f} s (target {TARGET_SECONDS:.0f} s), "
              f"of which the library {result['build_seconds']:.1f} s; compiled {len(result['compiled'])} files:")
        for name in result["compiled"]:
            print(f"  {name}")
    if result["kernels_recompiled"]:
        sys.exit(f"edit_to_run.py: kernels were recompiled: {', '.join(result['kernels_recompiled'])}")


if __name__ == "__main__":
    main()
