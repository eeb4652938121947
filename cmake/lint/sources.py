#!/usr/bin/env python3
"""Checks, or with --fix writes, the source lists in CMakeLists.txt files.

    sources.py [--root FOLDER] [--fix]

A list is a call with FOLDERS and SOURCES (tenon_target_sources, tenon_test): its SOURCES are the *.cpp and *.cu
files below FOLDERS but for those that EXCLUDE matches, sorted. Entries with a ${variable} are kept, last.
"""

import argparse
import pathlib
import re
import sys

CALL = re.compile(r"^([ \t]*)(tenon_target_sources|tenon_test)\(([^()]*(?:\([^()]*\)[^()]*)*)\)", re.M)
TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|[^\s"]+')
KEYWORDS = {"ENABLED", "FOLDERS", "LIBRARIES", "EXCLUDE", "PRECOMPILE", "SOURCES"}


def sections(body):
    """{'': positional, keyword: arguments} of a call's text."""
    found, current = {"": []}, ""
    for token in TOKEN.findall(body):
        if token in KEYWORDS:
            current = token
            found[current] = []
        else:
            found[current].append(token)
    return found


def wanted_sources(base, call):
    excluded = [re.compile(e.strip('"').replace("\\\\", "\\")) for e in call.get("EXCLUDE", [])]
    files = set()
    for folder in call["FOLDERS"]:
        for suffix in ("*.cpp", "*.cu"):
            for path in (base / folder).rglob(suffix):
                relative = path.relative_to(base).as_posix()
                if not any(e.search(relative) for e in excluded):
                    files.add(relative)
    return sorted(files) + [s for s in call["SOURCES"] if "${" in s]


def rewrite(path):
    """The text of a CMakeLists.txt with its lists as they should be."""
    text = path.read_text()

    def replace(match):
        indent, name, body = match.groups()
        call = sections(body)
        if "FOLDERS" not in call or "SOURCES" not in call:
            return match.group(0)
        head = body[: body.index("SOURCES")]
        lines = "".join(f"{indent}    {s}\n" for s in wanted_sources(path.parent, call))
        return f"{indent}{name}({head}SOURCES\n{lines}{indent})"

    return text, CALL.sub(replace, text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).parents[2])
    parser.add_argument("--fix", action="store_true", help="write the lists")
    args = parser.parse_args()
    wrong = 0
    for path in sorted([*args.root.glob("*/CMakeLists.txt"), *args.root.glob("bindings/*/CMakeLists.txt")]):
        old, new = rewrite(path)
        if old != new:
            relative = path.relative_to(args.root)
            if args.fix:
                path.write_text(new)
                print(f"sources: {relative} written")
            else:
                wrong += 1
                print(f"{relative}: [sources] a list is not what its folders hold, sorted; run ./tenon fmt")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
