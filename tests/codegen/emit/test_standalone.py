"""tenonc gen --target c: kernels that a C program links with nothing else, against formulas in Python."""

import array
import ctypes
import math
import os
import subprocess
import sys
import unittest

from support import ROOT, TEMPLATES, Workspace, tenonc

OPERATORS = """
- func: mine::swiglu(Tensor x, Tensor gate, *, float limit=7.0) -> Tensor
  pointwise: where(gate > limit, x * 0.0, x * gate * sigmoid(gate))
- func: mine::plus(Tensor self, Tensor other, Scalar alpha) -> Tensor
  pointwise: self + other * alpha
- func: mine::softmax(Tensor self, int dim) -> Tensor
  over: dim
  rowwise: e = exp(self - detach(max(self))); e / sum(e)
- func: mine::rms_norm(Tensor self, Tensor? weight=None, float eps=1e-06) -> Tensor
  over: -1
  columns: weight
  rowwise: self * rsqrt(mean(square(self)) + eps) * (weight ?? 1)
- func: mine::pick_logit(Tensor self, Tensor target) -> Tensor
  over: -1
  rows: target
  rowwise: log(sum(exp(self))) - pick(self, target)
- func: mine::power_sum(Tensor self) -> Tensor
  over: all
  rowwise: sum(square(self))
"""

# The header alone, in C; a null pointer is what no error is.
PROGRAM = r"""
#include <math.h>
#include <stdio.h>
#include "operators.h"
int main(void) {
  float x[6] = {-1, 0, 1, 2, 3, 4}, gate[3] = {1, 2, 8}, y[6], dx[6], ones[6] = {1, 1, 1, 1, 1, 1};
  const int64_t sizes[2] = {2, 3}, strides[2] = {3, 1}, one[1] = {1};
  const tenon_array ax = {x, tenon_float32, 2, sizes, strides};
  const tenon_array agate = {gate, tenon_float32, 1, sizes + 1, one};
  const tenon_array ay = {y, tenon_float32, 2, sizes, strides};
  const tenon_array adx = {dx, tenon_float32, 2, sizes, strides};
  const tenon_array aones = {ones, tenon_float32, 2, sizes, strides};
  const char* error = mine_swiglu(&ax, &agate, 7.0, &ay);
  if (!error) error = mine_swiglu_backward(&aones, &ax, &agate, 7.0, &adx, NULL);
  if (error) return puts(error), 1;
  for (int i = 0; i < 6; ++i) {
    const double g = gate[i % 3], slope = g > 7 ? 0 : g / (1 + exp(-g));
    if (fabs(y[i] - x[i] * slope) > 1e-5 || fabs(dx[i] - slope) > 1e-5) return 2;
  }
  error = mine_softmax(&ax, 2, &ay);
  puts(error ? error : "no error");
  return 0;
}
"""


class Array(ctypes.Structure):
    """tenon_array."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("dtype", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("sizes", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
    ]


class Memory:
    """Values of a shape, at distances of `gap` elements and with dimensions in the order of memory."""

    codes = {"f": 6, "d": 7, "i": 3, "q": 4, "B": 0}

    def __init__(self, shape, values=None, code="d", gap=1, order=None):
        self.shape, self.strides, size = shape, [0] * len(shape), gap
        for d in reversed(order or range(len(shape))):
            self.strides[d] = size
            size *= shape[d]
        self.data = array.array(code, [7] * max(size, 1))
        for place, value in zip(self.places(), values or []):
            self.data[place] = value
        self.sizes_ = (ctypes.c_int64 * max(len(shape), 1))(*shape)
        self.strides_ = (ctypes.c_int64 * max(len(shape), 1))(*self.strides)
        address = self.data.buffer_info()[0]
        self.array = Array(address, self.codes[code], len(shape), self.sizes_, self.strides_)

    def places(self):
        places = [0]
        for size, stride in zip(self.shape, self.strides):
            places = [p + i * stride for p in places for i in range(size)]
        return places

    @property
    def values(self):
        return [self.data[p] for p in self.places()]


def layouts(shape, values, code="d"):
    for gap in (1, 3):
        for order in (None, range(len(shape))[::-1]):
            yield Memory(shape, values, code, gap, order)


class Standalone(Workspace):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = cls.folder
        done = cls.generate(folder, OPERATORS)
        assert done.returncode == 0, done.stderr
        include = [f"-I{path}" for path in (folder / "c", ROOT, os.environ["TENON_INCLUDE"])]
        flags = ["-std=c++20", "-O1", "-fPIC", "-fvisibility=hidden", "-fno-exceptions", "-fno-rtti"]
        flags += [
            "-fno-threadsafe-statics",
            "-march=native",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-Wno-missing-field-initializers",
        ]
        source, made = folder / "c" / "operators.cpp", folder / "operators.o"
        cls.run_command(os.environ["CXX"], *flags, *include, "-c", source, "-o", made)
        cls.run_command("cc", "-shared", made, "-o", folder / "operators.so", "-lm")
        (folder / "program.c").write_text(PROGRAM)
        program = ["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", include[0], folder / "program.c", made]
        cls.run_command(*program, "-o", folder / "program", "-lm")
        cls.library = ctypes.CDLL(str(folder / "operators.so"))

    @staticmethod
    def generate(folder, text):
        (folder / "operators.yaml").write_text(text)
        options = ["--base", ROOT / "native_functions.yaml", "--tags", ROOT / "tags.yaml", "--templates", TEMPLATES]
        options += ["--python", sys.executable, "--out", folder / "c"]
        return tenonc("gen", "--target", "c", "--native", folder / "operators.yaml", *options)

    @staticmethod
    def run_command(*command):
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def call(self, name, *arguments):
        function = getattr(self.library, f"mine_{name}")
        function.restype = ctypes.c_char_p
        kinds = {float: ctypes.c_double, int: ctypes.c_int64, type(None): lambda none: none}
        error = function(*(ctypes.byref(a.array) if isinstance(a, Memory) else kinds[type(a)](a) for a in arguments))
        return error.decode() if error else None

    def assert_close(self, found, expected, tolerance=1e-12):
        self.assertEqual(len(found), len(expected))
        for one, other in zip(found, expected):
            self.assertLessEqual(abs(one - other), tolerance * (1 + abs(other)))

    def test_a_program_in_c(self):
        needed = self.run_command("ldd", self.folder / "program")
        self.assertEqual(
            {line.split()[0].split(".")[0] for line in needed.splitlines()} & {"libstdc++", "libtenon"}, set()
        )
        self.assertEqual(
            self.run_command(self.folder / "program"), "[mine::softmax] dimension 2 is out of range for 2 dimensions\n"
        )

    def test_pointwise_layouts_and_dtypes(self):
        values = [math.sin(5 * i) for i in range(24)]
        gates = [2.0, -1.0, 8.0, 0.5]
        slopes = [0 if g > 7 else g / (1 + math.exp(-g)) for g in gates]
        expected = [x * slopes[i % 4] for i, x in enumerate(values)]
        for code, tolerance in (("d", 1e-14), ("f", 1e-6)):
            gate = Memory((4,), gates, code)
            for x in layouts((2, 3, 4), values, code):
                for out in layouts((2, 3, 4), None):  # results in double, whatever is computed in
                    self.assertIsNone(self.call("swiglu", x, gate, 7.0, out))
                    self.assert_close(out.values, expected, tolerance)
        whole = [i - 3 for i in range(6)]
        for code in "iqB":
            given = [v % 256 if code == "B" else v for v in whole]
            out = Memory((6,), None, code)
            self.assertIsNone(self.call("plus", Memory((6,), given, code), Memory((1,), [2], code), 3.0, out))
            self.assertEqual(out.values, [(v + 6) % 256 if code == "B" else v + 6 for v in given])

    def test_gradients_against_differences(self):
        x, gate, step = [0.3, -2.0, 1.5], [0.7, 1.1, -0.4], 1e-6

        def total(x, gate):
            out = Memory((3,))
            self.assertIsNone(self.call("swiglu", Memory((3,), x), Memory((3,), gate), 7.0, out))
            return sum(out.values)

        gradients = Memory((3,)), Memory((3,))
        self.assertIsNone(
            self.call("swiglu_backward", Memory((3,), [1] * 3), Memory((3,), x), Memory((3,), gate), 7.0, *gradients)
        )
        for k, gradient in enumerate(gradients):
            for i in range(3):
                low, high = [x[:], gate[:]], [x[:], gate[:]]
                low[k][i] -= step
                high[k][i] += step
                self.assertAlmostEqual(gradient.values[i], (total(*high) - total(*low)) / (2 * step), 7)
        # That of a sum is the gradient itself.
        ours, other = Memory((3,)), Memory((3,))
        self.assertIsNone(self.call("plus_backward", Memory((3,), x), 2.5, ours, other))
        self.assertEqual((ours.values, other.values), (x, [2.5 * v for v in x]))

    def test_rows(self):
        shape = (2, 5, 3)
        values = [math.cos(3 * i) for i in range(30)]
        for dim in range(-3, 3):
            axis = dim % 3
            below = math.prod(shape[axis + 1 :])
            expected = [0.0] * 30
            for i in range(30):
                first = i - i // below % shape[axis] * below
                row = [first + j * below for j in range(shape[axis])]
                expected[i] = math.exp(values[i]) / sum(math.exp(values[j]) for j in row)
            for x in layouts(shape, values):
                for out in layouts(shape, None, "f"):
                    self.assertIsNone(self.call("softmax", x, dim, out))
                    self.assert_close(out.values, expected, 1e-6)
        sizes = Memory((1, 1, 1)), Memory(())
        for total in sizes:
            self.assertIsNone(self.call("power_sum", Memory(shape, values, gap=2), total))
            self.assert_close(total.values, [sum(v * v for v in values)])

    def test_columns_and_positions(self):
        rows, length = 300, 7
        values = [math.sin(i * i) for i in range(rows * length)]
        weight = [1.0 + i for i in range(length)]
        scales = [
            1 / math.sqrt(sum(v * v for v in values[r * length : (r + 1) * length]) / length + 1e-6)
            for r in range(rows)
        ]
        normal = [v * scales[i // length] for i, v in enumerate(values)]
        out, x = Memory((rows, length)), Memory((rows, length), values)
        self.assertIsNone(self.call("rms_norm", x, None, 1e-6, out))
        self.assert_close(out.values, normal)
        self.assertIsNone(self.call("rms_norm", x, Memory((length,), weight), 1e-6, out))
        self.assert_close(out.values, [v * weight[i % length] for i, v in enumerate(normal)])
        # The gradient of a column is a sum over all rows.
        summed = Memory((length,))
        ones = Memory((rows, length), [1] * len(values))
        self.assertIsNone(self.call("rms_norm_backward", ones, x, Memory((length,), weight), 1e-6, None, summed))
        self.assert_close(summed.values, [sum(normal[j::length]) for j in range(length)])
        target, losses = Memory((rows,), [i % length for i in range(rows)], "q"), Memory((rows,))
        self.assertIsNone(self.call("pick_logit", x, target, losses))
        for r in range(rows):
            row = values[r * length : (r + 1) * length]
            self.assertAlmostEqual(losses.values[r], math.log(sum(map(math.exp, row))) - row[r % length], 12)
        target.data[5] = 7
        self.assertEqual(
            self.call("pick_logit", x, target, losses),
            "[mine::pick_logit] 'target' holds 7, which is out of bounds: rows have 7 elements",
        )

    def test_errors_of_calls(self):
        x, y = Memory((3,), [1] * 3), Memory((4,), [1] * 4)
        self.assertIn("size 4 in dimension 0, the result 3", self.call("swiglu", x, y, 7.0, Memory((3,))))
        self.assertIn("got Double and Float", self.call("swiglu", x, Memory((3,), [1] * 3, "f"), 7.0, Memory((3,))))
        self.assertIn("argument 1 is null", self.call("swiglu", x, None, 7.0, Memory((3,))))
        self.assertIn("'weight' of 1 dimensions", self.call("rms_norm", x, y, 1e-6, Memory((3,))))

    def test_errors_of_entries(self):
        other = self.folder / "other"
        other.mkdir()
        done = self.generate(other, "- func: mine::twice(Tensor self) -> Tensor\n  composite: self + self\n")
        self.assertEqual(done.returncode, 1)
        self.assertIn("operators.yaml:1:3: error: `mine::twice` has no kernel without the library", done.stderr)


if __name__ == "__main__":
    unittest.main()
