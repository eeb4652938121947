#!/usr/bin/env python3
"""Writes the YAML entry and the skeletons of a new operator.

    ./tenon new-op NAME --pointwise 'EXPRESSION'   all from the expression; no C++ but the test
    ./tenon new-op NAME --structured               meta function, CPU and CUDA kernels, derivative
    ./tenon new-op NAME --composite                written with other operators, which give its derivative

--args gives the schema's arguments, such as 'Tensor self, Tensor other, *, Scalar alpha=1'. Without it an
expression's names become Tensors, and the other forms take one Tensor, self. Nothing is overwritten.
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys

CPP_TYPES = {
    "Tensor": "const Tensor&",
    "Tensor?": "const std::optional<Tensor>&",
    "Tensor[]": "TensorList",
    "Scalar": "const Scalar&",
    "Scalar?": "const std::optional<Scalar>&",
    "bool": "bool",
    "float": "double",
    "float?": "std::optional<double>",
    "int": "int64_t",
    "int?": "std::optional<int64_t>",
    "int[]": "IntArrayRef",
    "int[]?": "OptionalIntArrayRef",
    "str": "std::string_view",
    "ScalarType": "ScalarType",
    "ScalarType?": "std::optional<ScalarType>",
}

META = """#include "tenon/native/{name}.h"

namespace tenon {{

TensorSpec native::{name}_meta({parameters}) {{
  // Checks of shapes and dtypes go here, and nowhere else; the kernels only compute.
  return TensorSpec({like}.sizes(), {like});
}}

}}  // namespace tenon
"""

KERNEL = """#include "tenon/native/{name}.h"

namespace tenon {{

void native::{name}_{backend}({parameters}, const Tensor& /*out*/) {{
  TENON_CHECK_NOT_IMPLEMENTED(false, "[{name}] the {label} kernel is not written yet");
}}

}}  // namespace tenon
"""

COMPOSITE = """#include "tenon/native/{name}.h"

namespace tenon {{

Tensor native::{name}({parameters}) {{
  TENON_CHECK_NOT_IMPLEMENTED(false, "[{name}] is not written yet");
}}

}}  // namespace tenon
"""

TEST = """#include <catch2/catch.hpp>

#include "autograd/tools/gradcheck.h"
#include "tenon/ops/{name}.h"
#include "tenon/ops/rand.h"

namespace tenon {{

TEST_CASE("{name}: shape and finite differences") {{
{inputs}
  const Tensor result = {name}({call});
  CHECK(result.sizes() == {first}.sizes());
  CHECK(autograd::gradcheck(
      [](const std::vector<Tensor>& x) {{ return std::vector<Tensor>{{{name}({checked})}}; }},
      {{{tensors}}}));
}}

}}  // namespace tenon
"""


def fail(message):
    sys.exit(f"new-op: {message}")


def names_of(expression):
    """The free names of an expression, in order, `self` first."""
    names = []
    for match in re.finditer(r"[A-Za-z_]\w*(?!\w)(?!\s*\()", expression):
        before = expression[: match.start()]
        if match.group() not in names and not re.search(r"[\d.]$", before):
            names.append(match.group())
    return sorted(names, key=lambda n: n != "self")


def parse_arguments(text):
    """[(type, name, default or None)] of a schema's argument list."""
    arguments = []
    for item in filter(None, (part.strip() for part in text.split(","))):
        if item == "*":
            continue
        match = re.fullmatch(r"(\S+) (\w+)(?:=(\S+))?", item)
        if not match:
            fail(f"--args: expected 'Type name[=default]', got '{item}'")
        if match.group(1) not in CPP_TYPES:
            fail(f"--args: a skeleton can have {', '.join(CPP_TYPES)}; got {match.group(1)}")
        arguments.append(match.groups())
    if not arguments or arguments[0][0] != "Tensor":
        fail("--args: the first argument must be a Tensor")
    return arguments


class Operator:
    def __init__(self, options):
        self.name = options.name
        self.kind = next(k for k in ("pointwise", "structured", "composite") if getattr(options, k))
        self.expression = options.pointwise
        if options.args:
            self.schema_arguments = options.args
        elif self.expression:
            self.schema_arguments = ", ".join(f"Tensor {n}" for n in names_of(self.expression))
        else:
            self.schema_arguments = "Tensor self"
        self.arguments = parse_arguments(self.schema_arguments)

    @property
    def tensors(self):
        return [name for kind, name, _ in self.arguments if kind == "Tensor"]

    def parameters(self, used=()):
        return ", ".join(
            f"{CPP_TYPES[kind]} {name if name in used else f'/*{name}*/'}" for kind, name, _ in self.arguments
        )

    def entry(self):
        lines = [f"- func: {self.name}({self.schema_arguments}) -> Tensor"]
        if self.kind == "pointwise":
            lines += ["  variants: function, out", f"  pointwise: {self.expression}"]
        elif self.kind == "structured":
            lines += ["  variants: function, out", "  structured: CPU, CUDA"]
        else:
            lines += ["  variants: function", "  composite: implicit"]
        return "\n".join(lines) + "\n"

    def derivative(self):
        if self.kind != "structured":
            return None
        formulas = [f'  {t}: not_implemented("{self.name} with respect to {t}")' for t in self.tensors]
        return "\n".join([f"- name: {self.name}", *formulas]) + "\n"

    def test(self):
        inputs, call, checked = [], [], []
        for kind, name, default in self.arguments:
            if kind == "Tensor":
                inputs.append(
                    f"  const Tensor {name} = rand({{2, 3}}, TensorOptions().dtype(kDouble).requires_grad(true));"
                )
                checked.append(f"x[{self.tensors.index(name)}]")
                call.append(name)
            elif default is None:
                fail(f"--args: give {kind} {name} a default, so that the test can leave it out")
        return TEST.format(
            name=self.name,
            inputs="\n".join(inputs),
            call=", ".join(call),
            first=self.tensors[0],
            checked=", ".join(checked),
            tensors=", ".join(self.tensors),
        )

    def files(self):
        like = self.tensors[0]
        found = {f"tests/ops/test_{self.name}.cpp": self.test()}
        if self.kind == "structured":
            meta = META.format(name=self.name, parameters=self.parameters(used=(like,)), like=like)
            found[f"aten/meta/{self.name}.cpp"] = meta
            for backend, suffix, label in (("cpu", "cpp", "CPU"), ("cuda", "cu", "CUDA")):
                found[f"aten/{backend}/{self.name}.{suffix}"] = KERNEL.format(
                    name=self.name, backend=backend, label=label, parameters=self.parameters()
                )
        elif self.kind == "composite":
            found[f"aten/composite/{self.name}.cpp"] = COMPOSITE.format(name=self.name, parameters=self.parameters())
        return found


def next_steps(operator):
    name = operator.name
    steps = {
        "pointwise": [
            f"./tenon build, then ./tenon test -R '{name}': the kernel, the variants and the backward are generated",
            "leave `variants` out of the entry to get a method and an in-place form too",
        ],
        "structured": [
            f"write shape and dtype rule in aten/meta/{name}.cpp, the kernels in aten/cpu/{name}.cpp and aten/cuda/{name}.cu",
            "write the derivative in derivatives.yaml in place of not_implemented, or say non_differentiable: True "
            "in native_functions.yaml",
            f"./tenon test -R '{name}'",
        ],
        "composite": [
            f"write aten/composite/{name}.cpp with other operators, including their tenon/ops/ headers",
            f"./tenon test -R '{name}'",
        ],
    }[operator.kind]
    steps.append(
        "add a row to tests/ops/samples/<family>.yaml, which checks every form against PyTorch (tests/ops/README.md)"
    )
    return "".join(f"  {i}. {step}\n" for i, step in enumerate(steps, 1))


def append(path, text):
    old = path.read_text() if path.exists() else ""
    path.write_text(old.rstrip("\n") + ("\n\n" if old.strip() else "") + text)


def main():
    parser = argparse.ArgumentParser(
        prog="./tenon new-op", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name")
    kind = parser.add_mutually_exclusive_group(required=True)
    kind.add_argument("--pointwise", metavar="EXPRESSION")
    kind.add_argument("--structured", action="store_true")
    kind.add_argument("--composite", action="store_true")
    parser.add_argument("--args", metavar="ARGUMENTS", help="the schema's arguments")
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).parents[2])
    options = parser.parse_args()

    if not re.fullmatch(r"[a-z_][a-z0-9_]*", options.name):
        fail(f"a name is lower case letters, digits and _, got '{options.name}'")
    native = options.root / "native_functions.yaml"
    if native.exists() and re.search(rf"^- (func|alias): {options.name}[.(]", native.read_text(), re.M):
        fail(f"native_functions.yaml has {options.name} already")
    operator = Operator(options)
    files = operator.files()
    for path in files:
        if (options.root / path).exists():
            fail(f"{path} exists already")

    append(native, operator.entry())
    print("native_functions.yaml: entry added")
    if operator.derivative():
        append(options.root / "derivatives.yaml", operator.derivative())
        print("derivatives.yaml: entry added")
    for path, text in files.items():
        (options.root / path).parent.mkdir(parents=True, exist_ok=True)
        (options.root / path).write_text(text)
        print(f"{path}: written")
    if shutil.which("clang-format"):
        style = f"--style=file:{pathlib.Path(__file__).parents[2] / '.clang-format'}"
        subprocess.run(["clang-format", style, "-i", *(str(options.root / path) for path in files)], check=True)
    sources = pathlib.Path(__file__).parents[1] / "lint" / "sources.py"
    subprocess.run([sys.executable, str(sources), "--root", str(options.root), "--fix"], check=True)
    print(f"\nnext:\n{next_steps(operator)}", end="")


if __name__ == "__main__":
    main()
