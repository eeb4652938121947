#!/usr/bin/env python3
"""Checks, or with --fix writes, the list of public headers in cmake/TenonPublicHeaders.cmake.

    public_headers.py [--root FOLDER] [--fix]

Public, and so installed, are the entries that the file names, the headers that generated code includes, and whatever
those include; every other header is the library's own. What README.md, docs/ and examples/ include must be public.
"""

import argparse
import pathlib
import re
import sys

LIST = pathlib.Path("cmake/TenonPublicHeaders.cmake")
FOLDERS = ("aten", "autograd", "runtime", "codegen/schema")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)
# Templates include literally or by a name that the generator put into the JSON document.
QUOTED = re.compile(r'"((?:' + "|".join(FOLDERS) + r')/[\w/.-]+\.(?:h|cuh))"')
SET = r"set\({}\n(.*?)\)"


def entries(text, name):
    found = re.search(SET.format(name), text, re.S)
    if not found:
        sys.exit(f"{LIST}: there is no set({name}")
    return found[1].split()


def of_generated_code(root):
    """Headers named by templates and by the generator's sources as text."""
    for folder, suffix in (
        ("codegen/module_templates", "*.j2"),
        ("codegen/templates", "*.j2"),
        ("codegen/emit", "*.cpp"),
        ("codegen/expr", "*.cpp"),
    ):
        for path in (root / folder).rglob(suffix):
            text = path.read_text()
            # A source's own includes are no text of a generated file.
            own = set(INCLUDE.findall(text)) if path.suffix == ".cpp" else set()
            yield from (name for name in QUOTED.findall(text) if name not in own)


def closure(root, names):
    found, waiting = set(), list(names)
    while waiting:
        name = waiting.pop()
        if name in found or not name.startswith(FOLDERS) or not (root / name).is_file():
            continue
        found.add(name)
        waiting += INCLUDE.findall((root / name).read_text())
    return found


def used_by_readers(root):
    """(place, header) of every include in the text and the programs that users copy from."""
    files = [root / "README.md", *sorted((root / "docs").rglob("*.md"))]
    files += [p for s in ("*.h", "*.cpp", "*.cu", "*.cuh") for p in sorted((root / "examples").rglob(s))]
    for path in files:
        if not path.is_file():
            continue
        for match in re.finditer(r'#\s*include\s+"([^"]+)"', path.read_text()):
            if match[1].startswith(FOLDERS):
                yield path.relative_to(root), match[1]


def check(root):
    """(problems, the list's file as it should be)"""
    old = (root / LIST).read_text()
    named = entries(old, "TENON_PUBLIC_ENTRIES")
    problems = [f"{LIST}: [public] {n} is not there" for n in named if not (root / n).is_file()]
    public = closure(root, [*named, *of_generated_code(root)])
    problems += [
        f"{place}: [public] {name} is not a public header: include another, or add it to TENON_PUBLIC_ENTRIES in {LIST}"
        for place, name in used_by_readers(root)
        if name not in public
    ]
    text = "".join(f"  {name}\n" for name in sorted(public))
    return problems, re.sub(SET.format("TENON_PUBLIC_HEADERS"), f"set(TENON_PUBLIC_HEADERS\n{text})", old, flags=re.S)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).parents[2])
    parser.add_argument("--fix", action="store_true", help="write the list")
    args = parser.parse_args()
    problems, text = check(args.root)
    if text != (args.root / LIST).read_text():
        if args.fix:
            (args.root / LIST).write_text(text)
            print(f"public_headers: {LIST} written")
        else:
            problems.append(f"{LIST}: [public] the list is not what its entries include; run ./tenon fmt")
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
