"""What an installed package must do, run by a Python that has it and where nothing of the source tree is in reach.

python installed.py EXAMPLE FOLDER     EXAMPLE: a copy of examples/python_module; FOLDER: for what it builds
"""

import os
import pathlib
import subprocess
import sys

import tenon

example, folder = map(pathlib.Path, sys.argv[1:])
package = pathlib.Path(tenon.__file__).resolve().parent
prefix = pathlib.Path(tenon.utils.cmake_prefix_path).resolve()

# An operator, its derivative, and a file.
x = tenon.tensor([[1.0, -2.0], [3.0, 4.0]], requires_grad=True)
(x.relu() * x).sum().backward()
assert x.grad.tolist() == [[2, 0], [6, 8]]
tenon.save({"x": x.detach(), "step": 3}, folder / "x.pt")
loaded = tenon.load(folder / "x.pt")
assert loaded["step"] == 3 and tenon.equal(loaded["x"], x)

# Everything loaded is the package's own or the system's C and C++ libraries'.
mapped = {
    line.rstrip("\n").split(maxsplit=5)[-1] for line in open("/proc/self/maps") if "/lib" in line and ".so" in line
}
ours = sorted(path for path in mapped if "libtenon" in path)
assert ours and all(pathlib.Path(path).resolve().is_relative_to(prefix) for path in ours), ours
if prefix == package:  # a wheel
    for name in ("libdnnl", "libgomp", "libhwy"):
        assert all(str(prefix) in path for path in mapped if name in path), name

# Operators from YAML: the generator, its templates, the headers.
ops = tenon.load_operators("""
- func: installed::twice(Tensor self, *, Scalar scale=2) -> Tensor
  pointwise: scale * self
""")
assert ops.twice(tenon.ones(2)).tolist() == [2, 2]


# Without a compiler the error says so.
def fails_with(text, **environment):
    code = "import tenon; tenon.load_operators('''\n- func: nothing::f(Tensor self) -> Tensor\n  pointwise: self + 41\n''')"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **environment}
    )
    assert done.returncode != 0 and text in done.stderr, done.stderr


fails_with("needs a C++20 compiler: there is no /nowhere/c++", CXX="/nowhere/c++")

# A project of one's own, with a module of Python.
build = folder / "build"
settings = [
    "-G",
    "Ninja",
    "-DCMAKE_BUILD_TYPE=Release",
    f"-DCMAKE_PREFIX_PATH={prefix}",
    f"-DTENON_PYTHON={sys.executable}",
]
for command in (
    ["cmake", "-S", example, "-B", build, *settings],
    ["cmake", "--build", build],
    ["cmake", "--install", build, "--prefix", folder / "there"],
):
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
for place in (build, folder / "there" / "python"):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(place), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run([sys.executable, example / "use.py"], capture_output=True, text=True, env=environment)
    assert done.stdout == "agrees: True\n", done.stdout + done.stderr

print("works")
