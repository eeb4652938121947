"""Pages that are kept beside the code they describe: README files of folders, with their links led to the site's pages."""

import os
import pathlib
import re

ROOT = pathlib.Path(__file__).parents[2]
# The page of the site, and the file.
PAGES = {
    "reference/ir.md": "codegen/ir/README.md",
    "reports/autograd.md": "tests/autograd/README.md",
    "reports/benchmarks.md": "benchmarks/README.md",
    "reports/build.md": "cmake/README.md",
    "reports/cuda_emulation.md": "tests/cuda_emulation/README.md",
    "reports/fusion.md": "runtime/fusion/README.md",
    "reports/libtorch.md": "tests/libtorch/README.md",
    "reports/programs.md": "tests/programs/README.md",
    "reports/python.md": "bindings/python/README.md",
    "reports/pytorch_tests.md": "tests/pytorch/README.md",
    "reports/rows.md": "codegen/expr/rows/README.md",
    "reports/vmap.md": "tests/python/vmap_samples/README.md",
}
# A link, but no picture.
LINK = re.compile(r"(?<!!)\[([^\[\]]+)\]\(([^):\s#]+)((?:#[^)\s]*)?)\)")


def led_to_pages(text, folder, page):
    """A Markdown text of `folder`, as the page `page` of the site: a link to another file becomes the file's path."""
    shown_at = {file: name for name, file in PAGES.items()}

    def link(match):
        label, target, anchor = match.groups()
        path = os.path.normpath(os.path.join(folder, target))
        name = shown_at.get(path) or (path.removeprefix("docs/") if path.startswith("docs/") else None)
        if name and name.endswith(".md"):
            return f"[{label}]({os.path.relpath(name, os.path.dirname(page))}{anchor})"
        if path.startswith("docs/") or not (ROOT / path).exists():
            return match[0]  # a file of the site, or a dead link, which MkDocs reports
        return f"`{path}`" if label.strip("`") in path else f"{label} (`{path}`)"

    return "".join(part if code else LINK.sub(link, part) for code, part in fenced(text))


def fenced(text):
    """(whether it is code, part) of a Markdown text."""
    for number, part in enumerate(re.split(r"^(```.*?^```$)", text, flags=re.S | re.M)):
        yield number % 2 == 1, part


def pages():
    for page, file in PAGES.items():
        text = (ROOT / file).read_text()
        yield page, led_to_pages(text, os.path.dirname(file), page)
