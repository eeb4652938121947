"""tenon.library: operators that Python code defines, with kernels and derivatives of Python."""

import gc
import itertools
from collections.abc import Sequence

import pytest
import tenon
from tenon import Tensor, library

numbers = itertools.count()


@pytest.fixture
def ns():
    """A namespace that no other test uses."""
    return f"test_library_{next(numbers)}"


def scale_of(ns):
    @library.custom_op(f"{ns}::scale", mutates_args=())
    def scale(x: Tensor, factor: float, *, shift: float = 0.0) -> Tensor:
        return x * factor + shift

    return scale


def with_derivative(scale):
    def backward(ctx, grad):
        return grad * ctx.factor, None

    def setup_context(ctx, inputs, output, keyword_only_inputs=None):
        ctx.factor = inputs[1]

    scale.register_autograd(backward, setup_context=setup_context)


def test_an_operator_is_called_by_its_name(ns):
    scale = scale_of(ns)
    x = tenon.tensor([1.0, 2.0])
    assert scale(x, 3.0).tolist() == [3, 6]
    assert getattr(tenon.ops, ns).scale(x, 3.0, shift=1.0).tolist() == [4, 7]
    assert repr(scale) == f"<CustomOpDef({ns}::scale)>"
    with pytest.raises(TypeError):
        scale(1, 2)


def test_its_derivative(ns):
    scale = scale_of(ns)
    x = tenon.tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(RuntimeError, match="derivative for .*scale is not implemented"):
        scale(x, 3.0).sum().backward()
    with_derivative(scale)
    y = scale(x, 3.0, shift=1.0)
    assert y.grad_fn is not None
    y.sum().backward()
    assert x.grad.tolist() == [3, 3]
    with tenon.no_grad():
        assert scale(x, 3.0).grad_fn is None


def test_results_on_the_device_meta(ns):
    scale = scale_of(ns)
    scale.register_fake(lambda x, factor, shift=0.0: tenon.empty_like(x))
    assert scale(tenon.empty(2, 3, device="meta"), 2.0).shape == (2, 3)


def test_changes_of_arguments_are_counted(ns):
    @library.custom_op(f"{ns}::increase", mutates_args={"x"})
    def increase(x: Tensor) -> None:
        x.numpy()[...] += 1

    x = tenon.zeros(2)
    assert increase(x) is None and x.tolist() == [1, 1] and x._version == 1


def test_results_must_not_share_memory(ns):
    @library.custom_op(f"{ns}::same", mutates_args=())
    def same(x: Tensor) -> Tensor:
        return x[:1]

    with pytest.raises(RuntimeError, match="must not share memory with an argument"):
        same(tenon.ones(2))


def test_several_results_lists_and_none(ns):
    @library.custom_op(f"{ns}::parts", mutates_args=())
    def parts(x: Sequence[Tensor], y: Tensor | None = None, n: Sequence[int] | None = None) -> tuple[Tensor, Tensor]:
        return sum(x) + 0, tenon.tensor([len(x), -1 if y is None else 1])

    assert [t.tolist() for t in parts([tenon.ones(1), tenon.ones(1)])] == [[2], [2, -1]]
    assert parts([tenon.ones(1)], tenon.ones(1))[1].tolist() == [1, 1]


def test_errors_of_kernels_and_wrong_results(ns):
    @library.custom_op(f"{ns}::fail", mutates_args=())
    def fail(x: Tensor, how: int) -> tuple[Tensor, Tensor]:
        if how == 0:
            raise KeyError("from the kernel")
        return (x + 1,) if how == 1 else (x + 1, 2)

    with pytest.raises(KeyError, match="from the kernel"):
        fail(tenon.ones(1), 0)
    with pytest.raises(TypeError, match="must return 2 results"):
        fail(tenon.ones(1), 1)
    with pytest.raises(TypeError, match="result 1 of the kernel: expected Tensor, got int"):
        fail(tenon.ones(1), 2)


def test_kernels_of_devices_and_the_end_of_a_library(ns):
    made = library.Library(ns, "DEF")
    assert made.define("square(Tensor x) -> Tensor") == "square"
    made.impl("square", lambda x: x * x, "CPU")
    square = getattr(tenon.ops, ns).square
    assert square(tenon.tensor([3.0])).tolist() == [9]
    with pytest.raises(ValueError, match="square"):
        made.impl("square", lambda x: x, "CPU")
    with pytest.raises(ValueError, match="no_such"):
        made.impl("no_such", lambda x: x, "CPU")
    with pytest.raises(ValueError, match="unknown dispatch key"):
        made.impl("square", lambda x: x, "Cpu")
    made._destroy()
    with pytest.raises(AttributeError):
        getattr(tenon.ops, ns).square
    with pytest.raises(RuntimeError):
        made.impl("square", lambda x: x, "CPU")


def test_an_implicit_kernel_is_differentiated_through(ns):
    library.define(f"{ns}::cube", "(Tensor x) -> Tensor")
    library.impl(f"{ns}::cube", "CompositeImplicitAutograd", lambda x: x * x * x)
    x = tenon.tensor([2.0], requires_grad=True)
    getattr(tenon.ops, ns).cube(x).sum().backward()
    assert x.grad.tolist() == [12]


def test_a_kernel_for_an_operator_that_exists():
    made = library.Library("aten", "IMPL")
    made.impl("hypot", lambda self, other: self * 0 + 7, "CPU")
    assert tenon.ops.aten.hypot(tenon.ones(1), tenon.ones(1)).tolist() == [7]
    made._destroy()
    assert tenon.ops.aten.hypot(tenon.tensor([3.0]), tenon.tensor([4.0])).tolist() == [5]


@pytest.mark.parametrize(
    "function, options, expected",
    [
        (
            lambda: _annotated(x=Tensor, y=Tensor | None, n=Sequence[int], f=float, returns=Tensor),
            {},
            "(Tensor x, Tensor? y, SymInt[] n, float f) -> Tensor",
        ),
        (
            lambda: _annotated(x=Tensor, flag=bool, name=str, dtype=tenon.dtype, returns=None),
            {"mutates_args": {"x"}},
            "(Tensor(a0!) x, bool flag, str name, ScalarType dtype) -> ()",
        ),
        (
            lambda: _annotated(x=list[Tensor], returns=tuple[Tensor, int]),
            {"op_name": "f"},
            "f(Tensor[] x) -> (Tensor, SymInt)",
        ),
    ],
)
def test_schemas_from_annotations(function, options, expected):
    assert library.infer_schema(function(), **{"mutates_args": (), **options}) == expected


def _annotated(returns, **types):
    scope = {}
    exec(f"def function({', '.join(types)}): ...", scope)
    scope["function"].__annotations__ = {**types, "return": returns}
    return scope["function"]


@pytest.mark.parametrize(
    "types, options, error",
    [
        ({"x": dict, "returns": Tensor}, {}, "Parameter x has unsupported type"),
        ({"x": Tensor, "returns": dict}, {}, "Return has unsupported type"),
        (
            {"x": int, "returns": Tensor},
            {"mutates_args": {"x"}},
            "only Tensors or collections of Tensors can be mutated",
        ),
        ({"x": Tensor, "returns": Tensor}, {"mutates_args": {"z"}}, "were not found in the custom op's signature"),
    ],
)
def test_annotations_that_no_schema_has(types, options, error):
    with pytest.raises(ValueError, match=error):
        library.infer_schema(_annotated(**types), **{"mutates_args": (), **options})


def test_opcheck(ns):
    scale = scale_of(ns)
    x = tenon.tensor([1.0, 2.0], requires_grad=True)
    scale.register_fake(lambda x, factor, shift=0.0: tenon.empty_like(x, dtype=tenon.float64))
    with pytest.raises(RuntimeError, match="test_faketensor failed with on the device meta dtype is"):
        library.opcheck(scale, (x.detach(), 2.0))
    with pytest.raises(RuntimeError, match="derivative for"):
        scale(x, 2.0).sum().backward()
    with_derivative(scale)
    checks = library.opcheck(scale, (x, 2.0), test_utils=["test_schema", "test_autograd_registration"])
    assert checks == dict.fromkeys(["test_schema", "test_autograd_registration"], "SUCCESS")


@pytest.mark.parametrize(
    "schema, kernel, error",
    [
        ("(Tensor x) -> Tensor", lambda x: x.add_(1) + 0, "an argument was changed that the schema does not say"),
        ("(Tensor x) -> Tensor", lambda x: x[:1], "a result shares memory with an argument"),
        ("(Tensor(a!) x) -> Tensor(a!)", lambda x: x.add_(1), None),
        ("(Tensor x) -> Tensor", lambda x: x + 1, None),
    ],
)
def test_opcheck_compares_what_happens_with_the_schema(ns, schema, kernel, error):
    library.define(f"{ns}::f", schema)
    library.impl(f"{ns}::f", "cpu", kernel)
    call = getattr(tenon.ops, ns).f
    if error is None:
        assert library.opcheck(call, (tenon.ones(2),), test_utils="test_schema") == {"test_schema": "SUCCESS"}
    else:
        with pytest.raises(RuntimeError, match=error):
            library.opcheck(call, (tenon.ones(2),), test_utils="test_schema")


def test_kernels_are_called_from_other_threads_and_freed(ns):
    import threading

    made = library.Library(ns, "DEF")
    made.define("f(Tensor x) -> Tensor")
    made.impl("f", lambda x: x + 1, "CPU")
    results = []
    call = getattr(tenon.ops, ns).f

    def run():
        results.append(call(tenon.ones(1)).item())

    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [2] * 8
    made._destroy()
    gc.collect()
