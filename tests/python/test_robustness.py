"""Calls leak nothing, and whatever is passed, the answer is a result or one of Python's errors."""

import gc
import random

import pytest
import tenon

CALLS = 100_000


class Tagged(tenon.Tensor):
    pass


def _memory():
    """Bytes of the process that are its own."""
    with open("/proc/self/statm", encoding="ascii") as file:
        numbers = list(map(int, file.read().split()))
    return (numbers[1] - numbers[2]) * 4096


a, b = tenon.ones(8), tenon.ones(8)
w = tenon.ones(8, requires_grad=True)
tagged = tenon.ones(8).as_subclass(Tagged)


def _fails():
    try:
        tenon.add(a, "text")
    except TypeError:
        pass


GROUPS = {
    "operators": (lambda: a + b, 1),
    "numbers": (lambda: 2.0 * a, 1),
    "functions": (lambda: tenon.add(a, b, alpha=2), 1),
    "methods": (lambda: a.relu(), 1),
    "lists": (lambda: tenon.cat([a, b]), 1),
    "named results": (lambda: tenon.max(a, 0), 1),
    "attributes": (lambda: (a.shape, a.dtype, a.device, a.T), 1),
    "indexing": (lambda: a[1:3], 1),
    "boxed calls": (lambda: tenon.ops.aten.add(a, b), 1),
    "creation": (lambda: tenon.tensor([1.0, 2.0]), 1),
    "conversion": (lambda: a.tolist(), 1),
    "errors": (_fails, 10),
    "numpy": (lambda: tenon.from_numpy(a.numpy()), 1),
    "subclasses": (lambda: tagged + 1, 10),
    "graphs": (lambda: (w * w).sum().backward(), 10),
}


@pytest.mark.parametrize("group", GROUPS)
def test_nothing_leaks(group):
    call, slower = GROUPS[group]
    count = CALLS // slower
    for _ in range(count // 10):
        call()
    w.grad = None
    gc.collect()
    before = _memory()
    for _ in range(count):
        call()
    w.grad = None
    gc.collect()
    # An object of the smallest that calls make has 48 bytes.
    assert _memory() - before < 48 * count / 2 + 2**18


def _value(rng, depth=0):
    kinds = [
        lambda: rng.choice([0, 1, -1, 2, 3, 7, 2**62, -(2**63), 2**63, 10**30]),
        lambda: rng.choice([0.0, -1.5, float("nan"), float("inf"), 1e-300]),
        lambda: rng.choice([True, False, None, ..., "sum", "", "no\0name", b"bytes", 1j]),
        lambda: rng.choice(
            [
                tenon.float32,
                tenon.int8,
                tenon.bool,
                tenon.strided,
                tenon.channels_last,
                tenon.device("cpu"),
                "cpu",
                "meta",
            ]
        ),
        lambda: rng.choice(
            [
                a,
                w,
                tagged,
                tenon.tensor(1),
                tenon.ones(2, 3),
                tenon.zeros(0),
                tenon.ones(2, 2, dtype=tenon.bool),
                tenon.arange(3),
                tenon.empty(2, device="meta"),
            ]
        ),
        lambda: rng.choice([object(), int, slice(1), {}, range(3), set()]),
    ]
    if depth < 2:
        kinds.append(lambda: rng.choice([list, tuple])(_value(rng, depth + 1) for _ in range(rng.randrange(4))))
    return rng.choice(kinds)()


# What leaves something behind for other tests.
LEFT_OUT = {"set_default_device", "set_default_dtype"}
NAMES = ["input", "other", "dim", "out", "dtype", "keepdim", "size", "alpha", "no_such_name"]


@pytest.mark.parametrize("share", range(8))
def test_arguments_of_any_kind(share):
    """Every function and method, with arguments drawn at random; sizes that are too large are errors as well."""
    rng = random.Random(share)
    kind = type(tenon._C.add)
    functions = [
        f
        for name, f in sorted(vars(tenon._C).items())
        if isinstance(f, kind) and not name.startswith("_") and name not in LEFT_OUT
    ]
    descriptor = type(tenon.Tensor.add)
    functions += [
        m for name, m in sorted(vars(tenon.Tensor).items()) if isinstance(m, descriptor) and not name.startswith("_")
    ]
    assert len(functions) > 500
    answered = 0
    for function in functions[share::8]:
        for _ in range(40):
            args = [_value(rng) for _ in range(rng.randrange(5))]
            names = {rng.choice(NAMES): _value(rng) for _ in range(rng.choice([0, 0, 1, 2]))}
            if isinstance(function, descriptor):
                args.insert(0, tenon.ones(2, 3))
            try:
                function(*args, **names)
                answered += 1
            except (
                TypeError,
                ValueError,
                RuntimeError,
                IndexError,
                NotImplementedError,
                AttributeError,
                OverflowError,
                MemoryError,
            ):
                pass
    assert answered > 0
