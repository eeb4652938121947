#!/usr/bin/env python3
"""Checks that a name leads to one file.

    names.py [--root FOLDER]

A folder of the library, the generator or the runtime holds at most 40 files; kernels and compositions are excepted, whose files are as many
as operators. Within a library no two files have one base name, but an interface and its implementation, and the files of one operator
in the folders of several backends. A kernel's name leads to its file: native::nll_loss_forward_cuda is in a file of aten/cuda whose name
is the operator's or the beginning of it, or in a file of FAMILIES. Exit status 1 if a rule is broken.
"""

import argparse
import collections
import pathlib
import re
import sys

LARGEST_FOLDER = 40
SUFFIXES = {".h", ".cpp", ".cu", ".cuh"}
KERNEL_SUFFIXES = {".cpp", ".cu"}
LIBRARIES = (("aten", "autograd"), ("codegen",), ("runtime",), ("bindings",))
# A file of an operator has the operator's name in each of them.
OPERATORS = ("aten/composite", "aten/cpu", "aten/cuda", "aten/meta")
# Kernels that share their code are in one file, which has the name of one of them or of what they do.
FAMILIES = {
    "aten/cpu": {
        "_linalg_det": ("_linalg_slogdet",),
        "amax": ("amin", "max", "min"),
        "any": ("all",),
        "fill": ("zero",),
        "normal": ("log_normal",),
        "segment_reduce": ("_segment_reduce_backward",),
        "linalg_eig": ("_linalg_eigvals",),
        "sort": ("topk",),
        "sum": ("mean",),
        "tril": ("triu",),
    },
    "aten/cuda": {
        "amax": ("amin", "max", "min"),
        "any": ("all",),
        "avg_pool2d": ("_adaptive_avg_pool2d",),
        "fill": ("zero",),
        "gather": ("scatter",),
        "index_select": ("embedding", "index_add", "index_fill"),
        "masked_select": ("nonzero",),
        "max_pool2d": ("_max_pool2d_gather",),
        "random": ("bernoulli", "normal", "uniform"),
        "rearrange": ("constant_pad_nd", "flip", "repeat", "roll"),
        "sort": ("topk",),
        "sum": ("mean",),
        "tril": ("triu",),
    },
}
# The definition of a kernel: at the beginning of a line, as `void native::sum_cpu(const Tensor& self) {`.
KERNEL = re.compile(r"^(?!\s)[\w:<>,&* ]*\bnative::(\w+?)_(cpu|cuda)_?\([^;{}]*\)\s*\{", re.M)
# Programs and modules of their own.
SEPARATE = {"main", "module"}


def files_of(root, folders):
    for folder in folders:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in SUFFIXES:
                yield path.relative_to(root)


def stem_of(path):
    stem = path.name.split(".")[0]
    return stem.removesuffix("-inl")


def is_predicted(folder, stem, operator):
    """Whether a kernel of the operator is expected in the file."""
    return operator.startswith((stem, *FAMILIES[folder].get(stem, ())))


def kernel_problems(root):
    for folder in FAMILIES:
        for path in files_of(root, (folder,)):
            stem = stem_of(path)
            kernels = KERNEL.findall((root / path).read_text())
            for operator, backend in kernels:
                if folder == f"aten/{backend}" and not is_predicted(folder, stem, operator):
                    yield (
                        f"{path.as_posix()}: [names] {operator}_{backend} is expected in {folder}/{operator}; "
                        "move it, or name the file in FAMILIES"
                    )
            for name in FAMILIES[folder].get(stem, ()):
                if path.suffix in KERNEL_SUFFIXES and not any(operator.startswith(name) for operator, _ in kernels):
                    yield f"{path.as_posix()}: [names] FAMILIES expects a kernel of {name} here, and there is none"


def check(root):
    problems = list(kernel_problems(root))
    for library in LIBRARIES:
        sizes, places = collections.Counter(), collections.defaultdict(dict)
        for path in files_of(root, library):
            folder = path.parent.as_posix()
            sizes[folder] += 1
            places[stem_of(path)].setdefault(folder, set()).add(path.suffix)
        for folder, size in sizes.items():
            if size > LARGEST_FOLDER and folder not in OPERATORS:
                problems.append(f"{folder}: [names] {size} files; split a folder of more than {LARGEST_FOLDER} by idea")
        for stem, folders in sorted(places.items()):
            interface_apart = sorted(map(sorted, folders.values())) == [[".cpp"], [".h"]]
            if (
                len(folders) > 1
                and stem not in SEPARATE
                and not interface_apart
                and not folders.keys() <= set(OPERATORS)
            ):
                problems.append(f"{stem}: [names] files of {', '.join(sorted(folders))} have one name")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).parents[2])
    problems = check(parser.parse_args().root)
    print("\n".join(problems + [f"names: {len(problems)} problems"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
