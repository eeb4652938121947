#!/usr/bin/env python3
"""Checks that no two files of a program define the same function or type.

    definitions.py [--root FOLDER]

The linker keeps one of several functions that have one mangled name, silently if they are inline, and the name says
nothing of the return type: a caller then gets what the other header meant. Types of one name break as silently. Files
are read as text: what macros define is not seen. Names of anonymous namespaces and static functions are each file's
own. Exit status 1 where a name has two definitions.
"""

import argparse
import pathlib
import re
import sys
from collections import defaultdict

# What may be linked into one program.
LIBRARY = ("codegen/schema", "aten", "autograd", "runtime", "bindings/python/src")
# A module of its own, with hidden symbols, that has names of the other one.
DISTRIBUTED_MODULE = ("bindings/python/distributed",)
GENERATOR = ("codegen",)
SUFFIXES = {".h", ".cpp", ".cu", ".cuh"}

NOISE = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)+\'|//[^\n]*|/\*.*?\*/|R"\((?:.|\n)*?\)"', re.S)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", re.M)
TOKEN = re.compile(r"[A-Za-z_]\w*|\d[\w.']*|::|->|&&|\S")
SPECIFIERS = {
    "inline",
    "constexpr",
    "consteval",
    "extern",
    "friend",
    "virtual",
    "explicit",
    "__device__",
    "__host__",
    "__forceinline__",
    "__noinline__",
    "typename",
}
BUILTIN = {"int", "char", "long", "short", "unsigned", "signed", "float", "double", "bool", "void", "auto", "const"}
ENTRIES = {"main", "LLVMFuzzerTestOneInput", "tenon_register_backend"}  # each program's own, or each plug-in's
MACRO = re.compile(r"[A-Z][A-Z0-9]*_[A-Z0-9_]+$")


def blanked(match):
    text = match.group(0)
    if text[0] in "\"'":
        return '""' if text[0] == '"' else "0"
    if text.startswith("R"):
        return '""' + "\n" * text.count("\n")
    return " " + "\n" * text.count("\n")


def tokens_of(text):
    """(token, line) of the code without comments, texts and directives."""
    text = NOISE.sub(blanked, text)
    text = DIRECTIVE.sub(lambda m: "\n" * m.group(0).count("\n"), text)
    line, at = 1, 0
    for match in TOKEN.finditer(text):
        line += text.count("\n", at, match.start())
        at = match.start()
        yield match.group(0), line


def closing(tokens, start, opening, closing_):
    """Index of the bracket that closes tokens[start]."""
    depth = 0
    for i in range(start, len(tokens)):
        if tokens[i] == opening:
            depth += 1
        elif tokens[i] == closing_:
            depth -= 1
            if depth == 0:
                return i
    return len(tokens) - 1


def split_commas(tokens):
    parts, depth = [[]], 0
    for token in tokens:
        depth += (token in "(<[{") - (token in ")>]}")
        if token == "," and depth == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    return [p for p in parts if p]


def parameter_type(tokens):
    if "=" in tokens:
        tokens = tokens[: tokens.index("=")]
    tokens = [t for t in tokens if not MACRO.match(t) and t != "typename"]
    named = len(tokens) > 1 and re.match(r"[A-Za-z_]\w*$", tokens[-1]) and tokens[-1] not in BUILTIN
    if named and tokens[-2] != "::" and tokens[:-1] != ["const"]:
        tokens = tokens[:-1]
    return " ".join(tokens)


def without_noise(head):
    """A declaration without attributes, macros and specifiers; and its template header."""
    template, out, i = "", [], 0
    while i < len(head):
        token = head[i]
        if token == "template" and i + 1 < len(head) and head[i + 1] == "<":
            end = closing(head, i + 1, "<", ">")
            template += " ".join(head[i : end + 1])
            i = end + 1
            if i < len(head) and head[i] == "requires":  # up to what the function returns: part of the key
                while i < len(head) and head[i] != "(":
                    template += " " + head[i]
                    i += 1
                if i < len(head):
                    end = closing(head, i, "(", ")")
                    template += " ".join(head[i : end + 1])
                    i = end + 1
        elif token == "[" and head[i : i + 2] == ["[", "["]:
            i = closing(head, i, "[", "]") + 1
        elif token in ("__attribute__", "alignas", "__launch_bounds__") or (
            MACRO.match(token) and head[i + 1 : i + 2] == ["("]
        ):
            i = closing(head, i + 1, "(", ")") + 1 if head[i + 1 : i + 2] == ["("] else i + 1
        elif token in SPECIFIERS or MACRO.match(token):
            i += 1
        else:
            out.append(token)
            i += 1
    return template, out


def function_of(head):
    """(name, what else distinguishes it) of a function's declaration, or None."""
    template, head = without_noise(head)
    if not head or head[0] in ("using", "typedef", "static_assert", "static", "namespace", "concept", "return"):
        return None
    for i, token in enumerate(head):
        if token == "=":
            return None
        if token == "operator":
            start = i
            i += 1
            if head[i : i + 2] == ["(", ")"]:
                i += 2
            while i < len(head) and head[i] != "(":
                i += 1
            name = "".join(head[start:i])
            break
        if token == "(" and i > 0 and re.match(r"[A-Za-z_]\w*$|>$", head[i - 1]):
            start = i - 1
            if head[start] == ">":  # an explicit specialisation
                depth = 0
                while start >= 0:
                    depth += (head[start] == ">") - (head[start] == "<")
                    start -= 1
                    if depth == 0:
                        break
            name = "".join(head[start:i])
            break
    else:
        return None
    while start >= 2 and head[start - 1] == "::" and re.match(r"\w+$|>$", head[start - 2]):
        owner = start - 2
        if head[owner] == ">":  # a member of a template: `Base<Derived>::reset`
            depth = 0
            while owner >= 0:
                depth += (head[owner] == ">") - (head[owner] == "<")
                owner -= 1
                if depth == 0:
                    break
        name = "".join(head[max(owner, 0) : start]) + name
        start = max(owner, 0)
    end = closing(head, i, "(", ")")
    if start == 0 or name in ENTRIES:  # without a return type: a constructor, a macro
        return None
    tail = head[end + 1 :]
    parameters = ", ".join(parameter_type(p) for p in split_commas(head[i + 1 : end]))
    constraint = " ".join(tail[: tail.index("->")] if "->" in tail else tail)
    return name, f"{template}({parameters}) {constraint}".strip()


def definitions_of(text):
    """Yields (qualified name, key, line) of every type and function that the text defines."""
    tokens, lines = [], []
    for token, line in tokens_of(text):
        tokens.append(token)
        lines.append(line)
    scopes, head, first, i = [], [], 1, 0
    while i < len(tokens):
        token = tokens[i]
        if not head:
            first = lines[i]
        inside = None in scopes
        prefix = "::".join(s for s in scopes if s)

        def qualify(name, prefix=prefix):
            return f"{prefix}::{name}" if prefix else name

        if token == ";":
            head = []
        elif token == "}":
            if scopes:
                scopes.pop()
            head = []
        elif token == "{" and head.count("(") != head.count(")"):  # a default argument
            i = closing(tokens, i, "{", "}")
        elif token == "{":
            if "namespace" in head[:2] and head[0] in ("inline", "namespace"):
                name = "".join(head[head.index("namespace") + 1 :])
                scopes.append(name or None)
                head = []
                i += 1
                continue
            if head == ["extern", '"', '"']:
                scopes.append("")
                head = []
                i += 1
                continue
            end = closing(tokens, i, "{", "}")
            _, bare = without_noise(head)
            kind = bare[0] if bare else ""
            function = function_of(head)
            if kind in ("class", "struct", "union", "enum"):
                rest = bare[1:]
                if rest[:1] in (["class"], ["struct"]):
                    rest = rest[1:]
                name, depth = [], 0
                for t in rest:
                    if depth == 0 and (t == ":" or t == "final"):
                        break
                    depth += (t == "<") - (t == ">")
                    name.append(t)
                constraint = "requires" in head
                if name and not inside and not constraint:
                    yield qualify("".join(name)), "", first
                head = ["="]  # what follows is a variable of that type, or nothing
            elif function:
                if not inside:
                    yield qualify(function[0]), function[1], first
                head = []
            else:
                head = head or ["="]  # an initialiser: the statement goes on
            i = end
        else:
            head.append(token)
        i += 1


def check(files):
    """Problems among (path, text), which may be linked into one program."""
    places = defaultdict(dict)  # of a definition: file -> line
    for path, text in files:
        for name, key, line in definitions_of(text):
            places[name, key].setdefault(path, line)
    problems = []
    for (name, key), by_file in places.items():
        if len(by_file) > 1:
            (first, at), *others = by_file.items()
            problems += [
                f"{path}:{line}: [definitions] {name}{key} is defined in {first}:{at}, too" for path, line in others
            ]
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).parents[2])
    root = parser.parse_args().root
    programs = [LIBRARY, DISTRIBUTED_MODULE, GENERATOR] + [
        (f"tests/{p.name}",) for p in sorted((root / "tests").glob("*")) if p.is_dir()
    ]
    count, problems = 0, []
    for folders in programs:
        files = []
        for folder in folders:
            for path in sorted((root / folder).rglob("*")):
                if path.suffix in SUFFIXES:
                    text = path.read_text(encoding="utf-8", errors="replace")
                    files.append((path.relative_to(root).as_posix(), text))
        count += len(files)
        problems += check(files)
    problems = sorted(set(problems))
    print("\n".join(problems + [f"definitions: {count} files, {len(problems)} problems"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
