"""Writes what the sources say of operators, the comments before `native::NAME_meta(`, `native::NAME(` and the entries of
compositions, as a table for Python's docstrings.

    docstrings.py native_functions.yaml OUTPUT SOURCE...
"""

import json
import pathlib
import re
import sys

ENTRY = re.compile(
    r"((?:^# .*\n)+)^- func: (\w+)(\.?).*\n(?:^  .*\n)*?^  (?:composite|foreach): (?!implicit$|explicit$)", re.M
)
DEFINITION = re.compile(r"((?:^///.*\n)+)(?:^[^\n;{}/]*\n)?^[^\n;{}/]*?\bnative::(\w+)\(", re.M)


def operator_of(name, operators):
    """native::max_dim_meta computes max.dim: the longest operator's name that `name` begins with."""
    name = name.removesuffix("_meta")
    while name not in operators:
        name, _, last = name.rpartition("_")
        if not last or not name:
            return None
    return name


def main():
    yaml, output, *sources = map(pathlib.Path, sys.argv[1:])
    entries = yaml.read_text()
    operators = set(re.findall(r"^- func: (\w+)", entries, re.M))
    texts = {}

    def add(name, comment, mark, of_its_own):
        text = " ".join(line.removeprefix(mark).strip() for line in comment.splitlines())
        # Of several forms, that of the operator's own name.
        if name and (of_its_own or name not in texts):
            texts[name] = re.sub(r"`?\bself\b`?", "input", text)  # Python's name of it

    for source in sorted(sources):
        for comment, native in DEFINITION.findall(source.read_text()):
            name = operator_of(native, operators)
            add(name, comment, "///", native.removesuffix("_meta") == name)
    for comment, name, overload in ENTRY.findall(entries):
        add(name, comment, "#", not overload)
    rows = "".join(f"    {{{json.dumps(name)}, {json.dumps(text)}}},\n" for name, text in sorted(texts.items()))
    text = f"""// Written by bindings/python/docstrings.py.
#include "bindings/python/src/docstrings.h"

namespace tenon::python {{
namespace {{

constexpr Docstring kTexts[] = {{
{rows}}};

}}  // namespace

const std::span<const Docstring> kDocstrings(kTexts);

}}  // namespace tenon::python
"""
    if not output.exists() or output.read_text() != text:
        output.write_text(text)


if __name__ == "__main__":
    main()
