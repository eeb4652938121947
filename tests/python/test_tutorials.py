"""The scripts in tutorials/ print the same with PyTorch and with Tenon as `torch`; where there is no PyTorch, they run."""

import contextlib
import importlib
import importlib.util
import io
import pathlib

import pytest

SCRIPTS = sorted((pathlib.Path(__file__).resolve().parent / "tutorials").glob("*.py"))


def output(script, library):
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        exec(
            compile(script.read_text(), script, "exec"),
            {"torch": importlib.import_module(library), "__name__": "tutorial"},
        )
    return text.getvalue()


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda s: s.stem)
def test_same_output(script):
    ours = output(script, "tenon")
    assert ours.count("\n") > 5
    if importlib.util.find_spec("torch") is not None:
        assert ours.replace("tenon", "torch") == output(script, "torch")
