"""tenon.ops and load_operators()."""

import os
import pathlib
import re
import subprocess
import sys
import time

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
    changed = tenon._foreach_mul_([c, b], 3)
    assert changed[0] is c and changed[1] is b and numbers(changed) == [[3, 6], [9]]
    with pytest.raises(
        RuntimeError,
        match=r"\[_foreach_add\] lists must have the same number of elements, got 2 in self and 1 in other",
    ):
        tenon._foreach_add([a, b], [b])
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"):
        tenon._foreach_mul_([a], 2)
    with pytest.raises(TypeError, match="_foreach_mul_"):
        tenon._foreach_mul_([a, b], ["x", "y"])


def test_other_names():
    x = tenon.tensor([[-1.0, 0.5], [2.0, -0.25]], requires_grad=True)
    assert (
        tenon.absolute(x).tolist() == x.absolute().tolist() == tenon.ops.aten.absolute(x).tolist() == x.abs().tolist()
    )
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
    x, g = (
        tenon.randn(5, dtype=tenon.float64, requires_grad=True),
        tenon.randn(5, dtype=tenon.float64, requires_grad=True),
    )
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
    with pytest.raises(tenon.OperatorError, match=r"^operators\.yaml:1: error: `nothing` needs a namespace of its own"):
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


def test_a_wrong_kernel_is_told_its_signature(tmp_path):
    kernel = tmp_path / "kernel.cpp"
    kernel.write_text("""#include "wrongkernel/native/twice.h"
namespace wrongkernel {
void native::twice_cpu(const tenon::Tensor& self, tenon::Tensor& out) { out.copy_(self); }
}
""")
    with pytest.raises(RuntimeError) as error:
        tenon.load_operators(
            "- func: wrongkernel::twice(Tensor self) -> Tensor\n  structured: CPU\n  non_differentiable: True\n",
            sources=kernel,
        )
    text = str(error.value)
    assert f"{kernel}:3:" in text
    assert "operators.yaml:1: note: kernel twice_cpu is declared by this entry" in text
    assert "its definition must be: void native::twice_cpu(const tenon::Tensor& self, const tenon::Tensor& out)" in text


def test_a_program_that_ends_in_silence(monkeypatch, tmp_path):
    from tenon import _build_paths

    for command, said in (("kill -SEGV $$", "was ended by SIGSEGV"), ("exit 3", "ended with status 3 and no message")):
        program = tmp_path / "tenonc"
        program.write_text(f"#!/bin/sh\n{command}\n")
        program.chmod(0o755)
        monkeypatch.setattr(_build_paths, "TENONC", str(program))
        with pytest.raises(tenon.OperatorError, match=f"{re.escape(str(program))} {said}"):
            tenon.load_operators(SWIGLU.format(name="silent"))


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
- func: pycapped::os(Tensor self) -> Tensor
  pointwise: self + 1
- func: pycapped::_name(Tensor self) -> Tensor
  pointwise: self + 2
"""


def test_aliases_and_infinite_defaults_of_a_library():
    from tenon import _build

    ops = tenon.load_operators(CAPPED)
    x = tenon.tensor([1.0, 5.0])
    assert ops.capped(x).tolist() == [1, 5] and ops.at_most(x, 2).tolist() == [1, 2]
    # What a module that CMake writes has.
    assert _build.load(CAPPED, (), None) == (
        "pycapped",
        [f"pycapped::{n}" for n in ("_name", "at_most", "capped", "os")],
    )
    assert ops._name(x).tolist() == [3, 7] and ops.__name__ == "pycapped"


def test_a_module_of_operators_loses_none(monkeypatch):
    """What CMake writes for PYTHON_MODULE."""
    from tenon import _build

    tenon.load_operators(CAPPED)
    library = _build._find(_build._Operators(CAPPED, None, ()).key())[0]
    recipe = pathlib.Path(__file__).resolve().parents[2] / "cmake" / "TenonOperators.cmake"
    written = re.search(r'/\$\{name\}\.py" CONTENT "\\\n(.*?)\n"\)', recipe.read_text(), re.S)[1].replace('\\"', '"')
    written = written.replace("$<TARGET_FILE_NAME:${target}>", library.name).replace(
        "${TENON_VERSION}", tenon.__version__
    )
    (library.parent / "module_of_operators.py").write_text(written)
    monkeypatch.syspath_prepend(str(library.parent))
    import module_of_operators

    assert {name for name in vars(module_of_operators) if not name.startswith("__")} == {
        "_name",
        "at_most",
        "capped",
        "os",
    }
    assert module_of_operators.os(tenon.tensor(1.0)).item() == 2


SCALED = """
- func: edited::scaled(Tensor self) -> Tensor
  variants: function, inplace
  pointwise: self * 2
- alias: edited::other(Tensor self) -> Tensor
  of: edited::scaled
"""
EDITED = """
- func: edited::scaled.by(Tensor self, float by=5) -> Tensor
  pointwise: self * by
"""


def test_an_edited_text_gives_the_new_operator(capfd):
    x = tenon.tensor([3.0], requires_grad=True)
    ops = tenon.load_operators(SCALED)
    before, y = ops.scaled, ops.scaled(x)
    assert ops.other(x).item() == 6 and ops.scaled_(x.detach().clone()).item() == 6
    assert tenon.load_operators(EDITED) is ops
    assert ops.scaled(x).item() == 15 and tenon.ops.edited.scaled(x, 7).item() == 21
    for gone in ("other", "scaled_"):
        with pytest.raises(AttributeError, match=f"no operator 'edited::{gone}'"):
            getattr(ops, gone)
    assert dir(ops) == ["scaled"]
    # What was made before is what it was.
    y.backward()
    assert x.grad.item() == 2 and before(x).item() == 6
    ops.scaled(x).backward()
    assert x.grad.item() == 7
    # And back, without building anything.
    tenon.load_operators(SCALED)
    assert ops.scaled(x).item() == ops.other(x).item() == 6
    with pytest.raises(TypeError):
        ops.scaled(x, 2)
    assert "warning" not in capfd.readouterr().err


SHIFTED = """
- func: header::shifted(Tensor self) -> Tensor
  variants: function
  dispatch: {CPU: shifted_cpu}
  non_differentiable: True
"""
KERNEL = """
#include "amount of it.h"
#include "header/native/shifted.h"
#include "tenon/ops/add.h"

template <class T>
T amount() {
  static const T kept = SHIFT;  // not the one of the library before
  return kept;
}

tenon::Tensor header::native::shifted_cpu(const tenon::Tensor& self) { return tenon::add(self, amount<int>()); }
"""


def test_headers_of_kernels_count(tmp_path):
    from tenon import _build

    (tmp_path / "k.cpp").write_text('#include "kernel.h"\n')
    (tmp_path / "kernel.h").write_text(KERNEL)
    x = tenon.tensor([1.0])
    for amount in (10, 20, 10):
        (tmp_path / "amount of it.h").write_text(f"#define SHIFT {amount}\n")
        assert tenon.load_operators(SHIFTED, sources=tmp_path / "k.cpp").shifted(x).item() == 1 + amount
    # The same kernel beside other headers.
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "k.cpp").write_text('#include "kernel.h"\n')
    assert (
        _build._Operators(SHIFTED, None, tmp_path / "k.cpp").key()
        != _build._Operators(SHIFTED, None, [tmp_path / "b" / "k.cpp"]).key()
    )


def test_a_kernel_that_no_source_defines(tmp_path):
    with pytest.raises(tenon.OperatorError, match="kernel 'shifted_cpu' is not defined") as error:
        tenon.load_operators(SHIFTED)
    assert ":4:" in str(error.value)
    (tmp_path / "k.cpp").write_text("int nothing;\n")
    cache = pathlib.Path(os.environ["TENON_CACHE_DIR"]) / "operators"
    before = sorted(cache.glob("*.so"))
    with pytest.raises(tenon.OperatorError, match="kernel 'shifted_cpu' is not defined"):
        tenon.load_operators(SHIFTED, sources=tmp_path / "k.cpp")
    assert sorted(cache.glob("*.so")) == before  # what cannot be loaded is not kept


@pytest.mark.parametrize(
    "text",
    [
        '- func: "mine::f(Tensor self) -> Tensor"\n  pointwise: self * 2\n',
        "- 'func': 'mine::f(Tensor self) -> Tensor'\n  pointwise: self * 2\n",
        "- {func: 'mine::f(Tensor self) -> Tensor', pointwise: self * 2}",
        "- func: >-\n    mine::f(Tensor self)\n    -> Tensor\n  pointwise: self * 2\n",
        "# func: other::f(Tensor self)\n- func: mine::f(Tensor self) -> Tensor\n  pointwise: self * 2\n",
        "- func: mine::z(Tensor self) -> Tensor\n  pointwise: self\n- func: another::f(Tensor self) -> Tensor\n  pointwise: self * 2\n",
    ],
    ids=["quoted", "quoted key", "one line", "folded", "comment", "two"],
)
def test_the_namespace_is_the_first_entrys(text, tmp_path):
    from tenon import _build

    assert _build._Operators(text, None, ()).generate(tmp_path)[0] == "mine"


def test_texts_and_paths(tmp_path):
    from tenon import _build

    derivatives = "- {name: 'textual::h(Tensor self) -> Tensor', self: grad * 7}"
    (tmp_path / "file: of operators.yaml").write_text(SWIGLU)
    operators = _build._Operators(str(tmp_path / "file: of operators.yaml"), derivatives, tmp_path / "k.cpp")
    assert (operators.name, operators.yaml, operators.derivatives) == ("file: of operators.yaml", SWIGLU, derivatives)
    for empty in ("", "  \n", "# nothing\n", "[]"):
        with pytest.raises(tenon.OperatorError, match="there are no operators"):
            tenon.load_operators(empty)
    for wrong in (3, None, b"- func"):
        with pytest.raises(TypeError, match=f"argument 'yaml' must be a path or a text, got {type(wrong).__name__}"):
            tenon.load_operators(wrong)
    with pytest.raises(TypeError, match="argument 'derivatives' must be a path or a text, got int"):
        tenon.load_operators(SWIGLU, derivatives=3)
    with pytest.raises(TypeError, match="argument 'sources' must be a path or a list of paths, got 3"):
        tenon.load_operators(SWIGLU, sources=3)
    with pytest.raises(FileNotFoundError):
        tenon.load_operators("no such file.yaml")


def test_what_killed_builds_leave_goes(tmp_path, monkeypatch):
    from tenon import _build

    monkeypatch.setenv("TENON_CACHE_DIR", str(tmp_path))
    code = "from tenon import _build\nwith _build._folder_to_build_in() as folder: print(folder, flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        folder = other.stdout.readline().strip()
        with _build._folder_to_build_in() as own:
            assert os.path.isdir(folder) and os.path.isdir(own)  # both are in use
        other.kill()
    assert os.path.isdir(folder) and not os.path.isdir(own)
    with _build._folder_to_build_in():
        assert not os.path.isdir(folder)
    assert os.listdir(tmp_path / "operators") == []
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TENON_CACHE_DIR", str(tmp_path / "file"))
    with pytest.raises(OSError, match="TENON_CACHE_DIR names another folder"):
        tenon.load_operators(SWIGLU.format(name="nowhere"))


def test_a_failing_compiler_ends_the_others():
    from tenon import _build

    begin = time.monotonic()
    with pytest.raises(RuntimeError, match="^it fails:\nwhy$"):
        _build._run_all(
            [
                (["sleep", "60"], "it is ended", RuntimeError),
                (["sh", "-c", "echo why >&2; exit 1"], "it fails", RuntimeError),
            ]
        )
    assert time.monotonic() - begin < 20


def test_functions_say_what_they_take():
    ops = tenon.load_operators(SWIGLU.format(name="first"))
    assert ops.swiglu.__doc__ == "swiglu(Tensor self, Tensor gate, *, Scalar scale=1) -> Tensor\n"
    assert "add(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor\n" in tenon.ops.aten.add.__doc__


def test_none_for_an_argument_with_a_default():
    x = tenon.tensor([2.0, 1.0])
    assert tenon.ops.aten.sort(x, descending=None)[0].tolist() == [1, 2]
    assert tenon.ops.aten.sum(x, dtype=None).item() == 3
