#!/usr/bin/env python3
"""Checks that no file includes a header of a layer above its own, and that no test includes all operators.

    layers.py [--root FOLDER] [--gen FOLDER] [file...]

Without files, every C++ and CUDA file of the library, its tests and benchmarks is read. docs/design.md has LAYERS below as a table: a file
may include what its own layer and the layers named in `uses` hold. Exit status 1 where a rule is broken.
"""

import argparse
import pathlib
import re
import sys
from typing import NamedTuple


class Layer(NamedTuple):
    name: str
    prefixes: tuple  # of root-relative paths; the longest match of all layers decides
    uses: tuple  # names of layers


# Generated headers are of two kinds. "generated" is what kernels may see: per-operator headers, Tensor and
# the kernel declarations. "umbrella" is for users alone: a new operator recompiles what includes it.
BELOW = ("codegen/schema", "config")
ATEN = tuple(
    "aten/" + name
    for name in (
        "core",
        "dispatch",
        "iterator",
        "common",
        "meta",
        "generated_support",
        "composite",
        "registration",
        "cpu",
        "cuda",
        "batching",
        "stable",
        "sparse",
        "conjugate",
    )
)
OPERATORS = BELOW + ATEN + ("generated", "autograd")
RUNTIME = ("nn", "optim", "data", "serialization", "hub", "distributed", "profiler", "fusion")
MODEL = ("codegen/schema", "codegen/expr", "codegen/yaml", "codegen/model", "codegen/meaning")
GENERATOR = tuple(
    "codegen/" + name
    for name in (
        "load",
        "sources",
        "report",
        "diff",
        "editor",
        "format",
        "check",
        "ir",
        "select",
        "emit",
        "optimizers",
        "explain",
        "output",
    )
)
LAYERS = (
    Layer("codegen/schema", ("codegen/schema/",), ()),
    # The generator: what is read, what is checked, and what is made of it. Checks and emission do not know each other.
    Layer("codegen/sources", ("codegen/sources/",), ()),
    Layer("codegen/expr", ("codegen/expr/",), MODEL[:1]),
    Layer("codegen/yaml", ("codegen/yaml/",), MODEL[:1]),
    Layer("codegen/model", ("codegen/model/",), MODEL[:3]),
    Layer("codegen/meaning", ("codegen/meaning/",), MODEL[:4]),
    Layer("codegen/load", ("codegen/load/",), MODEL),
    Layer("codegen/report", ("codegen/report/",), MODEL),
    Layer("codegen/diff", ("codegen/diff/",), MODEL + ("codegen/report",)),
    Layer("codegen/editor", ("codegen/editor/",), MODEL),
    Layer("codegen/format", ("codegen/format/",), MODEL + ("codegen/load",)),
    Layer("codegen/check", ("codegen/check/",), MODEL + ("codegen/sources",)),
    Layer("codegen/ir", ("codegen/ir/",), MODEL),
    Layer("codegen/select", ("codegen/select/",), MODEL + ("codegen/ir", "codegen/sources")),
    Layer("codegen/emit", ("codegen/emit/",), MODEL + ("codegen/ir", "codegen/select")),
    Layer("codegen/optimizers", ("codegen/optimizers/",), MODEL + ("codegen/ir",)),
    Layer("codegen/explain", ("codegen/explain/",), MODEL + ("codegen/ir",)),
    Layer("codegen/output", ("codegen/output/",), ("codegen/ir",)),
    Layer("codegen", ("codegen/",), MODEL + GENERATOR),
    Layer("config", ("tenon/config.h",), ()),
    Layer("aten/core", ("aten/core/",), BELOW),
    Layer("aten/dispatch", ("aten/dispatch/",), BELOW + ATEN[:1]),
    Layer("aten/iterator", ("aten/iterator/",), BELOW + ATEN[:2]),
    Layer("aten/common", ("aten/common/",), BELOW + ATEN[:3] + ("generated",)),
    Layer("aten/meta", ("aten/meta/",), BELOW + ATEN[:4] + ("generated",)),
    # Back ends and compositions do not know each other.
    Layer("aten/cpu", ("aten/cpu/",), BELOW + ATEN[:5] + ("generated",)),
    Layer("aten/cuda", ("aten/cuda/",), BELOW + ATEN[:5] + ("generated",)),
    Layer("aten/generated_support", ("aten/generated_support/",), BELOW + ATEN[:5] + ("generated",)),
    Layer("aten/composite", ("aten/composite/",), BELOW + ATEN[:6] + ("generated", "aten/batching")),
    Layer("aten/batching", ("aten/batching/",), BELOW + ATEN[:4] + ("generated",)),
    Layer("aten/stable", ("aten/stable/",), BELOW + ATEN[:6] + ("aten/registration", "aten/cpu", "generated")),
    Layer("aten/sparse", ("aten/sparse/",), BELOW + ATEN[:8] + ("generated",)),
    Layer("aten/conjugate", ("aten/conjugate/",), BELOW + ATEN[:8] + ("generated",)),
    Layer("aten/registration", ("aten/registration/",), BELOW + ATEN[:5] + ("generated",)),
    Layer(
        "generated",
        ("tenon/", "gen/"),
        BELOW + ATEN + ("autograd",),
    ),
    Layer("autograd", ("autograd/",), OPERATORS[:-1]),
    # One library each.
    Layer("nn", ("runtime/nn/",), OPERATORS),
    Layer("optim", ("runtime/optim/", "gen/runtime/optim/"), OPERATORS + ("nn",)),
    Layer("data", ("runtime/data/",), OPERATORS + ("nn",)),
    Layer("serialization", ("runtime/serialization/",), OPERATORS + ("nn", "optim", "data")),
    Layer("hub", ("runtime/hub/",), OPERATORS + RUNTIME[:4]),
    Layer("distributed", ("runtime/distributed/",), OPERATORS + ("nn", "data")),
    Layer("profiler", ("runtime/profiler/",), OPERATORS),
    Layer("fusion", ("runtime/fusion/",), OPERATORS),
    Layer("tools", ("runtime/tools/",), OPERATORS + RUNTIME),
    Layer("bindings", ("bindings/", "gen/python/"), OPERATORS + RUNTIME),
    Layer("umbrella", ("tenon/tenon.h", "tenon/ops.h"), ATEN + ("generated", "autograd") + RUNTIME),
)

FOLDERS = ("codegen", "aten", "autograd", "runtime", "bindings", "tests", "benchmarks")
# What may include every layer below the umbrella.
ABOVE_LAYERS = ("tests/", "benchmarks/")
SUFFIXES = {".h", ".cpp", ".cu", ".cuh"}
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')


def layer_of(path):
    """The layer that a root-relative path belongs to, or None."""
    best, length = None, 0
    for layer in LAYERS:
        for prefix in layer.prefixes:
            if path.startswith(prefix) and len(prefix) > length:
                best, length = layer, len(prefix)
    return best


def problems_of(path, text):
    """Yields 'path:line: message' for each include that the layers forbid."""
    own = layer_of(path)
    above = path.startswith(ABOVE_LAYERS)
    if own is None and not above:
        return
    for number, line in enumerate(text.splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        header = match.group(1)
        theirs = layer_of(header)
        if above:
            if theirs is not None and theirs.name == "umbrella":
                yield (
                    f'{path}:{number}: [layers] "{header}" includes every operator, so that a new one would recompile this '
                    "file; include tenon/ops/<name>.h of those it calls"
                )
        elif theirs is None:
            yield (
                f'{path}:{number}: [layers] "{header}" is not root-relative or lies in no layer; '
                "write the path from the repository's root"
            )
        elif theirs.name != own.name and theirs.name not in own.uses:
            allowed = ", ".join(own.uses) or "nothing else"
            yield (
                f'{path}:{number}: [layers] {own.name} may not include "{header}" of {theirs.name}; '
                f"beside itself it may include: {allowed}"
            )


def files_of(root, gen):
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in SUFFIXES:
                yield path.relative_to(root).as_posix(), path
    if gen and gen.is_dir():
        for path in sorted(gen.rglob("*")):
            if path.suffix in SUFFIXES:
                relative = path.relative_to(gen).as_posix()
                yield relative if relative.startswith("tenon/") else "gen/" + relative, path


def check(root, gen=None, only=None):
    problems = []
    count = 0
    for relative, path in files_of(root, gen):
        if only and relative not in only:
            continue
        count += 1
        problems += problems_of(relative, path.read_text(encoding="utf-8", errors="replace"))
    return count, problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).parents[2])
    parser.add_argument("--gen", type=pathlib.Path, help="folder of generated files to check too")
    parser.add_argument("files", nargs="*", help="root-relative; default: all")
    args = parser.parse_args()
    count, problems = check(args.root, args.gen, set(args.files))
    print("\n".join(problems + [f"layers: {count} files, {len(problems)} problems"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
