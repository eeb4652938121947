"""tenon.ops and load_operators()."""

import os
import subprocess
import sys

import pytest
import tenon

SWIGLU = """
- func: {name}::swiglu(Tensor self, Tensor gate, *, Scalar scale=1) -> Tensor
  variants: function
  pointwise: scale * self * gate * sigmoid(gate)
"""


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory):
    os.environ["TENON_CACHE_DIR"] = str(tmp_path_factory.mktemp("cache"))
    yield
    del os.environ["TENON_CACHE_DIR"]


def test_operators_by_name():
    x = tenon.tensor([[1.0, 5.0], [4.0, 2.0]])
    assert tenon.ops.aten.add(x, 1).tolist() == (x + 1).tolist()
    assert tenon.ops.aten.add(x, other=x, alpha=2).tolist() == (3 * x).tolist()
    assert [t.tolist() for t in tenon.ops.aten.max(x, 1)] == [[5, 4], [1, 0]]
    assert [t.tolist() for t in tenon.ops.aten.split(x, 1)] == [[[1, 5]], [[4, 2]]]
    assert tenon.ops.aten.zeros([2], dtype=tenon.int8).dtype is tenon.int8
    assert tenon.ops.aten.mse_loss(x, x + 1).item() == 1  # the default is the name Mean
    assert tenon.ops.aten.max(x, x + 1).tolist() == (x + 1).tolist()  # of this overload an alias
    with pytest.raises(AttributeError, match="no operator 'aten::nothing'"):
        tenon.ops.aten.nothing
    with pytest.raises(TypeError, match="argument 'other' must be"):
        tenon.ops.aten.mm(x, 1) if False else tenon.ops.aten.sub(x, "a")


def test_operators_of_lists():
    def numbers(list_):
        return [t.tolist() for t in list_]

    a, b = tenon.tensor([1.0, 2.0], requires_grad=True), tenon.tensor([3.0])
    sums = tenon._foreach_add([a, b], (tenon.ones(2), tenon.ones(1)), alpha=2)
    assert isinstance(sums, (list, tuple)) and numbers(sums) == [[3, 4], [5]]
    sums[0].sum().backward()
    assert a.grad.tolist() == [1, 1] and not sums[1].requires_grad
    assert numbers(tenon._foreach_mul([a, b], [2, 0.5])) == [[2, 4], [1.5]]
    assert numbers(tenon.ops.aten._foreach_mul([a, b], [2, True])) == [[2, 4], [3]]
    c = a.detach().clone()
    assert tenon._foreach_mul_([c, b], 3) is None and numbers([c, b]) == [[3, 6], [9]]
    with pytest.raises(RuntimeError, match=r"\[_foreach_add\] lists must have the same number of elements, got 2 in self and 1 in other"):
        tenon._foreach_add([a, b], [b])
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"):
        tenon._foreach_mul_([a], 2)
    with pytest.raises(TypeError, match="_foreach_mul_"):
        tenon._foreach_mul_([a, b], ["x", "y"])


def test_other_names():
    x = tenon.tensor([[-1.0, 0.5], [2.0, -0.25]], requires_grad=True)
    assert tenon.absolute(x).tolist() == x.absolute().tolist() == tenon.ops.aten.absolute(x).tolist() == x.abs().tolist()
    assert type(tenon.absolute(x).grad_fn).__name__ == type(x.abs().grad_fn).__name__
    assert tenon.clip(x, min=0).tolist() == x.clip(0).tolist() == x.clamp(min=0).tolist()
    assert tenon.special.expit(x).tolist() == x.sigmoid().tolist()
    assert x.swapaxes(axis0=0, axis1=1).tolist() == x.t().tolist()
    y = x.detach().clone()
    assert y.negative_() is y
    out = tenon.empty(0)
    assert tenon.multiply(x.detach(), 2.0).tolist() == tenon.multiply(x.detach(), y, out=out).div(y).mul(2).tolist()


def test_an_operator_of_ones_own():
    ops = tenon.load_operators(SWIGLU.format(name="first"))
    x, g = tenon.randn(5, dtype=tenon.float64, requires_grad=True), tenon.randn(5, dtype=tenon.float64, requires_grad=True)
    assert (ops.swiglu(x, g, scale=3) - ops.swiglu(x, g) * 3).abs().max().item() < 1e-12
    assert (ops.swiglu(x, g) - x * g * g.sigmoid()).abs().max().item() < 1e-12
    assert tenon.autograd.gradcheck(ops.swiglu, (x, g))
    assert ops is tenon.ops.first and tenon.load_operators(SWIGLU.format(name="first")) is ops
    assert dir(ops) == ["swiglu"]
    built = [f for f in os.listdir(os.path.join(os.environ["TENON_CACHE_DIR"], "operators")) if f.endswith(".so")]
    assert len(built) == 1
    # Another process finds it built: without a compiler on the way it loads all the same.
    code = f"import tenon; print(tenon.load_operators({SWIGLU.format(name='first')!r}).swiglu(tenon.ones(1), tenon.zeros(1)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, "PATH": ""})
    assert done.stdout == "tensor([0.])\n", done.stderr


def test_mistakes_show_their_place(tmp_path):
    with pytest.raises(tenon.OperatorError) as error:
        tenon.load_operators(SWIGLU.format(name="wrong").replace("sigmoid", "sigmoit"))
    text = str(error.value)
    assert ":4:" in text and "did you mean 'sigmoid'?" in text and "\n    " in text and "^" in text
    with pytest.raises(tenon.OperatorError, match="namespace"):
        tenon.load_operators("- func: nothing(Tensor self) -> Tensor\n  pointwise: self\n")
    with pytest.raises(FileNotFoundError):
        tenon.load_operators(tmp_path / "nothing.yaml")


def test_what_is_missing_is_said(monkeypatch):
    from tenon import _build, _build_paths

    with monkeypatch.context() as patch:
        patch.setenv("CXX", "/nowhere/c++ -flag")
        with pytest.raises(RuntimeError, match="needs a C\\+\\+20 compiler: there is no /nowhere/c\\+\\+ "):
            tenon.load_operators(SWIGLU.format(name="uncompiled"))
    with monkeypatch.context() as patch:
        patch.setattr(_build_paths, "RENDER_PYTHON", sys.executable)
        patch.setattr(_build.importlib.util, "find_spec", lambda name: None)
        with pytest.raises(RuntimeError, match="needs Jinja2: .* -m pip install Jinja2"):
            tenon.load_operators(SWIGLU.format(name="unrendered"))
    with monkeypatch.context() as patch:
        patch.setattr(_build_paths, "TEMPLATES", "/nowhere/templates")
        with pytest.raises(RuntimeError, match="needs /nowhere/templates, which is missing: install Tenon again"):
            tenon.load_operators(SWIGLU.format(name="incomplete"))


def test_libraries_of_operators(tmp_path):
    (tmp_path / "empty.so").write_bytes(b"no library")
    with pytest.raises(RuntimeError, match="cannot be loaded: .*empty.so"):
        tenon.ops.load_library(tmp_path / "empty.so")
    from tenon._ops import functions_of_library

    with pytest.raises(ImportError, match="was built with Tenon 99.1.0, and this is Tenon"):
        functions_of_library("mine.so", "99.1.0")
    with pytest.raises(ImportError, match="cannot be loaded"):
        functions_of_library(str(tmp_path / "empty.so"), tenon.__version__)


CAPPED = """
- func: pycapped::capped(Tensor self, float most=inf) -> Tensor
  pointwise: minimum(self, most)
- alias: pycapped::at_most(Tensor self, float most=inf) -> Tensor
  of: pycapped::capped
"""


def test_aliases_and_infinite_defaults_of_a_library():
    from tenon import _build

    ops = tenon.load_operators(CAPPED)
    x = tenon.tensor([1.0, 5.0])
    assert ops.capped(x).tolist() == [1, 5] and ops.at_most(x, 2).tolist() == [1, 2]
    # What a module that CMake writes has.
    assert ["pycapped::at_most", "pycapped::capped"] in list(_build._loaded.values())
