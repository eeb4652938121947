"""The reference of the C++ interface: what the public headers declare, with their comments."""

import collections
import pathlib
import re

ROOT = pathlib.Path(__file__).parents[2]
# What programs call; the other public headers serve generated code.
FOLDERS = {
    "aten/core": "Tensors, devices, errors",
    "aten/dispatch": "Registered operators and boxed calls",
    "aten/registration": "Registration at run time",
    "aten/meta": "Shape and dtype rules",
    "autograd": "Autograd",
    "runtime/nn": "Modules and losses",
    "runtime/optim": "Optimizers",
    "runtime/data": "Data sets and loaders",
    "runtime/serialization": "Files",
    "runtime/hub": "The hub",
    "runtime/distributed": "Several processes",
    "runtime/fusion": "Functions that fuse",
    "runtime/profiler": "The profiler",
}
SKIPPED = ("generated_support", "/views/")


def public_headers():
    text = (ROOT / "cmake/TenonPublicHeaders.cmake").read_text()
    return re.search(r"set\(TENON_PUBLIC_HEADERS\n(.*?)\)", text, re.S)[1].split()


def declarations(text):
    """(comment, code) of what a header declares with a comment at its own margin; namespaces named detail are left out."""
    lines, i, comment = text.splitlines(), 0, []
    while i < len(lines):
        line = lines[i]
        if re.match(r"namespace \w*detail", line):
            while i + 1 < len(lines) and not re.match(r"}  // namespace \w*detail", lines[i]):
                i += 1
        elif line.startswith("///"):
            comment.append(line[3:].strip())
        elif not line or line.startswith(("#", "//", "namespace", "}")):
            comment = []
        else:
            end = end_of(lines, i)
            if comment:
                yield " ".join(comment), code(lines[i : end + 1])
            comment, i = [], end
        i += 1


def end_of(lines, start):
    """The last line of the declaration that begins at `start`: where its braces are closed and it ends."""
    depth = 0
    for i in range(start, len(lines)):
        line = re.sub(r'"[^"]*"|//.*', "", lines[i])
        depth += line.count("{") - line.count("}")
        if depth == 0 and line.rstrip().endswith((";", "}")):
            return i
    return len(lines) - 1


def code(lines):
    """Without what is private, without the body of a function, and without the macro of exported symbols."""
    out, hidden = [], False
    for line in lines:
        if re.match(r" (private|protected|public):", line):
            hidden = "public" not in line
        elif line.startswith("}"):
            hidden = False
        if not hidden:
            out.append(line.replace("TENON_API ", ""))
    while len(out) > 1 and not out[-2].strip():
        del out[-2]
    text = "\n".join(out)
    if not re.search(r"^(?:template <.*>\s*)?(?:class|struct|enum|union|concept)\b", text):
        text = re.sub(r"\)((?: const)?(?: noexcept)?) {.*}$", r")\1;", text, flags=re.S)
    return text


def name_of(text):
    plain = re.sub(r"template <[^\n]*>\s*|\s*__attribute__\(\(.*?\)\)(?=;| )|decltype\(\w+\)", "", text)
    found = (
        re.search(r"^(?:class|struct|enum class|enum|concept)(?: alignas\(\w+\))? (\w+)", plain)
        or re.search(r"\busing (\w+) =", plain)
        or re.search(r"(operator\W+|[\w~]+)\(", plain)
        or re.search(r"(\w+)(?: =|;|\[)", plain)
    )
    return f"`{found[1]}`"


def escaped(text):
    """Markdown's marks outside of code."""
    return "".join(
        part if part.startswith("`") else re.sub(r"([*_<])", r"\\\1", part) for part in re.split(r"(`[^`]*`)", text)
    )


def pages():
    folders = collections.defaultdict(list)
    for header in public_headers():
        folder = next((f for f in FOLDERS if header.startswith(f + "/")), None)
        if folder and not any(part in header for part in SKIPPED):
            folders[folder].append(header)
    index = [
        "# C++ interface",
        "",
        "The public headers that programs include, by folder. Operators have [pages of their own](../operators/index.md).",
        "",
    ]
    index += ["| folder | |", "| --- | --- |"]
    for folder, title in FOLDERS.items():
        file = folder.replace("/", "_")
        index.append(f"| [`{folder}`]({file}.md) | {title} |")
        out = ["---", "hide: [navigation]", "---", "", f"# {title}", ""]
        for header in folders[folder]:
            found = list(declarations((ROOT / header).read_text()))
            if not found:
                continue
            out += [f"## {header.removeprefix(folder + '/')}", "", "```cpp", f'#include "{header}"', "```", ""]
            for comment, text in found:
                out += [f"### {name_of(text)}", "", escaped(comment), "", "```cpp", text, "```", ""]
        yield f"reference/cpp/{file}.md", "\n".join(out)
    yield "reference/cpp/index.md", "\n".join(index)
