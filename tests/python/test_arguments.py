"""How arguments are read: forms, errors, and that no argument whatever ends the process."""

import gc
import random
import tracemalloc

import numpy as np
import pytest
import tenon
from tenon import _C


def test_sizes_as_numbers_or_as_a_sequence():
    assert (
        tenon.zeros(2, 3).shape
        == tenon.zeros((2, 3)).shape
        == tenon.zeros([2, 3]).shape
        == tenon.zeros(size=(2, 3)).shape
    )
    x = tenon.zeros(2, 3)
    assert x.view(3, 2).shape == x.view((3, 2)).shape == x.view(tenon.Size([3, 2])).shape == (3, 2)
    assert x.view(-1, np.int64(2)).shape == (3, 2) and x.permute(1, 0).shape == (3, 2)
    assert tenon.zeros(()).shape == () and tenon.zeros(tenon.tensor(2), 3).shape == (2, 3)


def test_names_of_arguments():
    x = tenon.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert tenon.sum(input=x, dim=0).tolist() == x.sum(axis=0).tolist() == [4, 6]
    assert x.sum(dim=1, keepdims=True).shape == (2, 1)
    assert tenon.add(x, x, alpha=2, out=None).tolist() == [[3, 6], [9, 12]]
    assert (
        tenon.zeros(2, dtype=float).dtype is tenon.float64
        and tenon.zeros(2, device="cpu", dtype=None).dtype is tenon.float32
    )


@pytest.mark.parametrize(
    "call, parts",
    [
        (lambda: tenon.mm(tenon.ones(1, 1)), ["mm()", "argument 'mat2' is missing"]),
        (
            lambda: tenon.add(tenon.ones(1), "a"),
            ["received an invalid combination of arguments - got (Tensor, str)", "'other' must be Number, not str"],
        ),
        (lambda: tenon.ones(1).view("a"), ["argument 'size' must be tuple of ints, not str"]),
        (lambda: tenon.ones(1).view(1, 2.5), ["argument 2 must be int, not float"]),
        (lambda: tenon.relu(tenon.ones(1), foo=1), ["there is no argument 'foo'"]),
        (lambda: tenon.ones(1).softmax(0, dim=0), ["argument 'dim' is given twice"]),
        (lambda: tenon.abs(1, 2, 3), ["at most 1 positional argument is taken, got 3"]),
        (
            lambda: tenon.cat([tenon.ones(1), 3]),
            ["expected Tensor as element 1 in argument 0, but got int"],
        ),
        (lambda: tenon.ones(1).sum(dim=True), ["argument 'dim' must be"]),
    ],
)
def test_errors_say_which_argument_and_why(call, parts):
    with pytest.raises(TypeError) as error:
        call()
    for part in parts:
        assert part in str(error.value)


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda: tenon.ones(2).select(0, 5), IndexError),
        (lambda: tenon.mm(tenon.ones(2, 3), tenon.ones(2, 3)), RuntimeError),
        (lambda: tenon.device("nothing"), (RuntimeError, ValueError)),
        (lambda: tenon.zeros(2, -1), RuntimeError),
        (lambda: tenon.ones(1).add(10**30), RuntimeError),
        (lambda: tenon.ones(3).view(2), RuntimeError),
    ],
)
def test_errors_of_operators_keep_their_kind(call, error):
    with pytest.raises(error):
        call()


class Odd:
    """Whatever is asked of it, it fails."""

    def __index__(self):
        raise KeyError("index")

    def __float__(self):
        raise KeyError("float")

    def __bool__(self):
        raise KeyError("bool")

    def __len__(self):
        raise KeyError("len")


def _callables():
    """Every function and method of the module that an operator made, with its name."""
    kind = type(_C.add)
    for module in (_C, _C._nn):
        yield from ((f"{module.__name__}.{n}", f) for n, f in vars(module).items() if isinstance(f, kind))
    method = type(tenon.Tensor.add)
    yield from ((f"Tensor.{n}", f) for n, f in vars(tenon.Tensor).items() if isinstance(f, method))


# These change global state, or read memory that a mere number says where to find.
EXCEPT = {"manual_seed", "set_default_dtype", "set_default_device"}


def _values(rng):
    return rng.choice(
        [
            lambda: None, lambda: True, lambda: 0, lambda: -1, lambda: 3, lambda: 2.5, lambda: 1j, lambda: "sum", lambda: b"x",
            lambda: (), lambda: [2, 1], lambda: [1.5], lambda: ["a", None], lambda: tenon.ones(2, 2),
            lambda: tenon.tensor([0, 1]), lambda: tenon.tensor(True), lambda: tenon.tensor(1.0), lambda: tenon.empty(0),
            lambda: [tenon.ones(2), tenon.ones(2)], lambda: tenon.float64, lambda: tenon.strided,
            lambda: tenon.device("cpu"), lambda: tenon.contiguous_format, lambda: Odd(), lambda: object(),
            lambda: np.float32(1), lambda: np.arange(3), lambda: {}, lambda: float, lambda: range(2), lambda: tenon.Generator(),
            lambda: -(10**30), lambda: float("nan"),
        ]
    )()  # fmt: skip


NAMES = ["dim", "dtype", "out", "input", "other", "alpha", "size", "keepdim", "foo", "self", "axis", "requires_grad"]


def test_arbitrary_arguments_are_errors_at_worst():
    """Wrong types, counts, names. Python's own exceptions, RuntimeError included, are the only outcome."""
    rng = random.Random(0)
    calls = taken = 0
    for name, function in _callables():
        if name.split(".")[-1] in EXCEPT:
            continue
        for _ in range(12):
            args = [_values(rng) for _ in range(rng.randrange(5))]
            if name.startswith("Tensor.") and rng.random() < 0.9:
                args.insert(0, tenon.ones(2, 2))
            kwargs = {n: _values(rng) for n in rng.sample(NAMES, rng.choice([0, 0, 1, 2]))}
            calls += 1
            try:
                function(*args, **kwargs)
                taken += 1
            except (TypeError, ValueError, IndexError, RuntimeError, NotImplementedError, KeyError, OverflowError):
                pass
    assert calls > 3000 and taken > 20


def test_names_that_no_operator_has_are_type_errors():
    for _, function in _callables():
        with pytest.raises(TypeError):
            function(tenon.ones(2, 2), nothing_has_this_name=1)


CALLS = {
    "add": lambda x: x + x,
    "number": lambda x: x * 2.0,
    "keyword": lambda x: tenon.add(x, x, alpha=2),
    "view": lambda x: x.view(2, 1),
    "item": lambda x: x.sum().item(),
    "tuple": lambda x: x.view(1, 2).max(dim=1),
    "list": lambda x: tenon.cat([x, x]),
    "split": lambda x: x.split(1),
    "out": lambda x: tenon.add(x, x, out=x.clone()),
    "index": lambda x: x[0],
    "mask": lambda x: x[x > 0],
    "tensor": lambda x: tenon.tensor([1.0, 2.0]),
    "tolist": lambda x: x.tolist(),
    "shape": lambda x: (x.shape, x.stride(), x.dtype, x.device),
    "numpy": lambda x: tenon.from_numpy(x.numpy()),
    "backward": lambda x: (x.detach().requires_grad_() * 2).sum().backward(),
    "boxed": lambda x: tenon.ops.aten.add(x, 1),
}


def _fails(x):
    with pytest.raises(TypeError):
        tenon.add(x, "a")
    with pytest.raises(IndexError):
        x[7]


CALLS["errors"] = _fails


@pytest.mark.parametrize("name", CALLS)
def test_calls_leak_nothing(name):
    import sys

    call, x = CALLS[name], tenon.tensor([1.0, 2.0])
    count = 200 if name == "errors" else 3000
    for _ in range(200):
        call(x)
    gc.collect()
    tracemalloc.start()
    references, objects = sys.getrefcount(x), len(gc.get_objects())
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(count):
        call(x)
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert sys.getrefcount(x) == references
    assert len(gc.get_objects()) - objects < 50
    # An object that stayed behind at each call would be 16 bytes at least.
    assert grown < 10 * count
