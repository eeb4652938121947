"""The quick start, transforms and the tutorials run as they stand and print what they show; those that say `import tenon as torch` also with PyTorch.

A block with a title is a file. ```python without a title runs; ```console has commands; ```text after one of them is its output, in
which `...` stands for anything. A title that begins with examples/ names a file of the repository that contains the block.
"""

import contextlib
import doctest
import importlib.util
import io
import itertools
import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / "docs/quickstart.md",
    ROOT / "docs/transforms.md",
    *sorted(p for p in (ROOT / "docs/tutorials").glob("*.md") if p.stem != "index"),
]
BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.S | re.M)


def run_python(code, names, page):
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        exec(compile(code, page, "exec"), names)
    return text.getvalue()


def run_console(commands):
    text = ""
    for line in commands.splitlines():
        command = re.sub(r"^\$ python\b", lambda _: sys.executable, line) if line.startswith("$ ") else ""
        assert command, line
        done = subprocess.run(command.removeprefix("$ "), shell=True, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr
        text += done.stdout
    return text


def outputs(page):
    """(block, what it printed, what the page shows or None) of every block that runs, in the current folder."""
    names, printed = {"__name__": "__main__"}, None
    for block in BLOCK.finditer(page.read_text()):
        kind, title, text = block.groups()
        if kind == "text":
            if printed is not None:
                yield block, printed, text
            printed = None
        elif title and title.startswith("examples/"):
            assert text in (ROOT / title).read_text(), f"{title} does not contain this block:\n{text}"
        elif title:
            pathlib.Path(title).parent.mkdir(parents=True, exist_ok=True)
            pathlib.Path(title).write_text(text)
        elif kind == "python":
            printed = run_python(text, names, str(page))
        elif kind == "console":
            printed = run_console(text)


def missing(text):
    """The first module that the page imports and this Python lacks."""
    names = re.findall(r"^(?:import|from) (torch|jax|numpy)\b", text, re.M)
    return next((name for name in names if not importlib.util.find_spec(name)), None)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_prints_what_it_shows(page, tmp_path, monkeypatch):
    if lacking := missing(page.read_text()):
        pytest.skip(f"no {lacking} here")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    compared = 0
    for _, printed, shown in outputs(page):
        assert doctest.OutputChecker().check_output(shown, printed, doctest.ELLIPSIS), (
            f"shown:\n{shown}\nprinted:\n{printed}"
        )
        compared += 1
    assert compared > 0
    assert "## What to read next" in page.read_text()


def programs():
    """The Python blocks of other pages that are programs: they begin with an import. distributed.md's has a test of its own."""
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        blocks = [text for kind, title, text in BLOCK.findall(page.read_text()) if kind == "python" and not title]
        if page not in PAGES and page.stem != "distributed":
            yield from (
                pytest.param(t, id=f"{page.stem}-{i}") for i, t in enumerate(blocks) if re.match(r"import|from", t)
            )


@pytest.mark.parametrize("program", list(programs()))
def test_programs_of_other_pages_run(program, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_python(program, {"__name__": "__main__"}, "program")


@pytest.mark.parametrize("page", [p for p in PAGES if "import tenon as torch\n" in p.read_text()], ids=lambda p: p.stem)
def test_prints_the_same_with_pytorch(page, tmp_path, monkeypatch):
    """Up to the block that imports Tenon by its own name, if there is one."""
    pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    code = [text for kind, title, text in BLOCK.findall(page.read_text()) if kind == "python" and not title]
    shared = list(itertools.takewhile(lambda text: not re.search(r"^import tenon$", text, re.M), code))
    texts = []
    for module in ("tenon", "torch"):
        names = {"__name__": "__main__"}
        renamed = [text.replace("import tenon as torch", f"import {module} as torch") for text in shared]
        texts.append("".join(run_python(text, names, str(page)) for text in renamed))
    assert texts[0].count("\n") > 5
    assert texts[0].replace("tenon", "torch") == texts[1]
