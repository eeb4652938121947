#!/usr/bin/env python3
"""Checks that a name leads to one file.

    names.py [--root FOLDER]

A folder of the library, the generator or the runtime holds at most 40 files; kernels and compositions are excepted, whose files are as many
as operators. Within a library no two files have one base name, but an interface and its implementation, and the files of one operator
in the folders of several backends. Exit status 1 if a rule is broken.
"""

import argparse
import collections
import pathlib
import sys

LARGEST_FOLDER = 40
SUFFIXES = {".h", ".cpp", ".cu", ".cuh"}
LIBRARIES = (("aten", "autograd"), ("codegen",), ("runtime",), ("bindings",))
# A file of an operator has the operator's name in each of them.
OPERATORS = ("aten/composite", "aten/cpu", "aten/cuda", "aten/meta")
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


def check(root):
    problems = []
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
