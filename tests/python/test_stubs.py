"""The stubs say what is there, and nothing else."""

import ast
import pathlib

import pytest
import tenon
from tenon import _C

STUBS = ast.parse((pathlib.Path(tenon.__file__).parent / "_C.pyi").read_text())


def _names(body):
    """{name: its definitions}"""
    names = {}
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.setdefault(node.name, []).append(node)
        elif isinstance(node, ast.AnnAssign):
            names.setdefault(node.target.id, []).append(node)
    return names


def _class(name):
    return next(n for n in STUBS.body if isinstance(n, ast.ClassDef) and n.name == name)


def test_functions_and_values_agree_in_both_directions():
    run_time = {n for n in vars(_C) if not n.startswith("_")}
    stubs = {n for n in _names(STUBS.body) if not n.startswith("_")}
    assert run_time - stubs == set() and stubs - run_time == set()


def test_modules_agree():
    assert {n for n in vars(_C._nn) if not n.startswith("_")} == {
        n for n in _names(_class("_nn").body) if not n.startswith("_")
    }


def test_methods_of_tensor_agree():
    run_time = {n for n in vars(tenon.Tensor) if not n.startswith("_")}
    stubs = {n for n in _names(_class("Tensor").body) if not n.startswith("_")}
    assert run_time - stubs == set() and stubs - run_time == set()


def test_parameters_agree_with_what_the_parser_says():
    """Each overload of the stubs has the names of one form of the docstring."""
    kind = type(_C.add)
    checked = 0
    for name, nodes in _names(STUBS.body).items():
        function = getattr(_C, name, None)
        if not isinstance(function, kind) or not (function.__doc__ or "").startswith(name + "("):
            continue
        forms = [line for line in function.__doc__.splitlines() if line.startswith(name + "(") and ") ->" in line]
        said = [
            {p.split("=")[0].split()[-1] for p in form[len(name) + 1 : form.rindex(") ->")].split(", ") if p != "*"}
            - {""}
            for form in forms
        ]
        for node in nodes:
            if node.args.vararg or not forms:
                continue
            own = {a.arg for a in node.args.args + node.args.kwonlyargs}
            own = {"from" if n == "from_" else n for n in own}  # a word of the language
            assert own in said, (name, own, said)
            checked += 1
    assert checked > 300


def test_docstrings_say_what_is_computed_and_of_which_shapes():
    assert tenon.mm.__doc__.splitlines()[0] == "mm(Tensor input, Tensor mat2) -> Tensor"
    assert "[m, k] @ [k, n] -> [m, n]" in tenon.mm.__doc__
    assert "self + alpha * other" in tenon.add.__doc__ and "broadcast together; RuntimeError" in tenon.add.__doc__
    assert "input's shape" in tenon.exp.__doc__ and "input's shape" in tenon.Tensor.exp_.__doc__
    assert "Sizes of input, but the number of indices" in tenon.Tensor.index_select.__doc__
    assert "[N, C, H, W] or [C, H, W] -> the mean of every window" in tenon.nn.functional.avg_pool2d.__doc__
    kind = type(_C.add)
    functions = [f for name, f in vars(_C).items() if isinstance(f, kind) and not name.startswith("_") and f.__doc__]
    forms = [f for f in functions if ") -> " in f.__doc__]
    assert sum("\n\n" in f.__doc__.strip() for f in forms) > 250


def test_the_distributed_module_agrees():
    distributed = pytest.importorskip("tenon._distributed")
    stubs = ast.parse((pathlib.Path(tenon.__file__).parent / "_distributed.pyi").read_text()).body
    assert {n for n in vars(distributed) if not n.startswith("_")} == {
        n for n in _names(stubs) if not n.startswith("_")
    }
    for node in stubs:
        if isinstance(node, ast.ClassDef) and not node.name.endswith("Error"):
            run_time = {n for n in vars(getattr(distributed, node.name)) if not n.startswith("_")} - {"get_future"}
            said = {n for n in _names(node.body) if not n.startswith("_")} | {
                t.id for a in node.body if isinstance(a, ast.Assign) for t in a.targets
            }
            assert run_time == said - {"get_future"}, node.name
