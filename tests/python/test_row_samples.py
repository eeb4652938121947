"""Reductions, softmax and norms over rows: short, long, strided and empty ones, in every dtype, beside sums of doubles that
lose nothing. PyTorch, where it is, is held to the same; its sums are what the library's may not be worse than."""

import itertools
import math
import random
import struct
from fractions import Fraction

import pytest
import tenon

FLOATS = {"float32": 2.0**-24, "float64": 2.0**-53, "float16": 2.0**-11, "bfloat16": 2.0**-8}
LENGTHS = [1, 3, 7, 100]


def numbers(count, seed=0, low=-2.0, high=2.0):
    draw = random.Random(seed)
    return [draw.uniform(low, high) for _ in range(count)]


def layouts(lib, rows, length, dtype):
    """(name, tensor, dim): the same kind of rows, laid out in several ways."""
    kind = getattr(lib, dtype)
    of = lambda *sizes: lib.tensor(numbers(math.prod(sizes)), dtype=lib.float64).to(kind).reshape(sizes)  # noqa: E731
    yield "last", of(rows, length), -1
    yield "first", of(length, rows), 0
    yield "between", of(2, length, 3), 1
    yield "transposed", of(length, rows).transpose(0, 1), 1
    yield "every second", of(rows, 2 * length)[:, ::2], 1
    yield "expanded", of(1, length).expand(rows, length), 1
    yield "one for all", of(rows, 1).expand(rows, length), 1


def rows_of(tensor, dim):
    """Rows as lists of doubles, in the order of what a reduction over `dim` gives."""
    moved = tensor.double().movedim(dim, -1)
    return moved.reshape(-1, moved.shape[-1]).tolist()


def near(got, wanted, unit, scale=0.0):
    if math.isnan(wanted) or math.isinf(wanted):
        return got == wanted or (math.isnan(got) and math.isnan(wanted))
    return abs(got - wanted) <= unit * abs(wanted) + scale


def precision(lib, dtype):
    """The units of what is computed, float's at least, and of the result, which is rounded once. PyTorch rounds half types
    more often."""
    half = FLOATS[dtype] > 2.0**-24
    rounded = FLOATS[dtype] * (101 if half and lib.__name__ == "torch" else 1)
    return (2.0**-53 if dtype == "float64" else 2.0**-24), rounded


def variance(row):
    mean = math.fsum(row) / len(row)
    return math.fsum((x - mean) ** 2 for x in row) / (len(row) - 1) if len(row) > 1 else math.nan


def logsumexp(row):
    largest = max(row)
    return largest + math.log(math.fsum(math.exp(x - largest) for x in row))


REDUCTIONS = {
    "sum": math.fsum,
    "mean": lambda row: math.fsum(row) / len(row),
    "prod": math.prod,
    "amax": max,
    "amin": min,
    "var": variance,
    "norm": lambda row: math.sqrt(math.fsum(x * x for x in row)),
    "logsumexp": logsumexp,
    "argmax": lambda row: row.index(max(row)),
    "argmin": lambda row: row.index(min(row)),
    "any": lambda row: any(row),
    "all": lambda row: all(row),
}


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_of_floats(lib, name, dtype):
    function, wanted_of = getattr(lib, name), REDUCTIONS[name]
    computed, rounded = precision(lib, dtype)
    for length in LENGTHS:
        for layout, x, dim in layouts(lib, 4, length, dtype):
            got = function(x, dim=dim) if name != "norm" else function(x, p=2, dim=dim)
            rows = rows_of(x, dim)
            assert got.numel() == len(rows)
            for value, row in zip(got.double().flatten().tolist(), rows):
                if dtype == "float16" and abs(wanted_of(row)) >= 65504:
                    assert math.isinf(value)
                    continue
                # A sum's error is one of its parts.
                parts = math.fsum(map(abs, row)) + 1
                place = f"{layout}, rows of {length}"
                unit = 1.01 * rounded + (16 + length) * computed
                assert near(value, wanted_of(row), unit, 8 * computed * parts), place


@pytest.mark.parametrize("dtype", FLOATS)
def test_rows_of_softmax_and_norms(lib, dtype):
    computed, rounded = precision(lib, dtype)
    for length in LENGTHS:
        for layout, x, dim in layouts(lib, 4, length, dtype):
            soft, log = rows_of(lib.softmax(x, dim), dim), rows_of(lib.log_softmax(x, dim), dim)
            for row, s, t in zip(rows_of(x, dim), soft, log):
                whole = logsumexp(row)
                for a, b, c in zip(row, s, t):
                    # float16 has fewer digits below 6e-5.
                    least = 2.0**-25 if dtype == "float16" else 0
                    assert near(b, math.exp(a - whole), 1.01 * rounded + 16 * computed, least), layout
                    assert near(
                        c,
                        a - whole,
                        1.01 * rounded,
                        8 * computed * (1 + abs(whole)) + rounded * (rounded > FLOATS[dtype]),
                    ), layout
        if length == 1:
            continue  # the variance is 0: only eps is left
        for layout, x, dim in layouts(lib, 4, length, dtype):
            if dim not in (1, -1) or x.dim() != 2:
                continue
            for row, got in zip(rows_of(x, 1), rows_of(lib.layer_norm(x, (length,)), 1)):
                mean = math.fsum(row) / length
                scale = 1 / math.sqrt(math.fsum((v - mean) ** 2 for v in row) / length + 1e-5)
                for a, b in zip(row, got):
                    assert near(b, (a - mean) * scale, 1.01 * rounded, 32 * computed * scale), layout


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8", "bool"])
def test_reductions_of_integers(lib, dtype):
    kind = getattr(lib, dtype)
    for length in LENGTHS:
        draw = random.Random(length)
        values = [[draw.randrange(0, 4) for _ in range(length)] for _ in range(5)]
        x = lib.tensor(values).to(kind)
        values = x.long().tolist()
        for layout, y, dim in [("last", x, 1), ("first", x.t().contiguous(), 0), ("transposed", x.t(), 0)]:
            assert lib.sum(y, dim=dim).tolist() == [sum(row) for row in values], layout
            assert lib.sum(y, dim=dim).dtype == lib.int64
            # Modulo 2^64, as two's complement.
            products = [struct.unpack("q", struct.pack("Q", math.prod(row) % 2**64))[0] for row in values]
            assert lib.prod(y, dim=dim).tolist() == products, layout
            assert lib.amax(y, dim=dim).long().tolist() == [max(row) for row in values], layout
            assert lib.any(y, dim=dim).bool().tolist() == [any(row) for row in values], layout
            assert lib.all(y, dim=dim).bool().tolist() == [all(row) for row in values], layout
            if dtype != "bool":
                at = lib.argmax(y, dim=dim).tolist()
                assert [row[i] for row, i in zip(values, at)] == [max(row) for row in values], layout


def test_every_form_of_dimensions(lib):
    sizes = (2, 3, 4, 5)
    x = lib.tensor(numbers(120), dtype=lib.float64).reshape(sizes)
    flat = x.flatten().tolist()
    place = dict(zip(itertools.product(*map(range, sizes)), flat))
    for dims in [0, 2, -1, (0,), (1, 3), (-1, 0), (0, 1, 2, 3), (), None]:
        reduced = range(4) if dims in ((), None) else [d % 4 for d in ([dims] if isinstance(dims, int) else dims)]
        kept = [d for d in range(4) if d not in reduced]
        groups = {}
        for index, value in place.items():
            groups.setdefault(tuple(index[d] for d in kept), []).append(value)
        for keepdim in (False, True):
            shape = [1 if d in reduced else n for d, n in enumerate(sizes) if keepdim or d in kept]
            for name in ("sum", "mean", "amax", "var", "logsumexp", "norm"):
                if name == "amax" and dims is None or name in ("logsumexp", "norm") and dims in ((), None):
                    continue
                options = {"p": 2} if name == "norm" else {}
                got = getattr(lib, name)(x, dim=dims, keepdim=keepdim, **options)
                assert list(got.shape) == shape, (name, dims, keepdim)
                wanted = [REDUCTIONS[name](groups[key]) for key in sorted(groups)]
                assert all(near(a, b, 1e-14, 1e-14) for a, b in zip(got.flatten().tolist(), wanted)), (name, dims)


def test_empty_rows(lib):
    x = lib.zeros(2, 0, 3)
    assert lib.sum(x, dim=1).tolist() == [[0.0] * 3] * 2
    assert lib.prod(x, dim=1).tolist() == [[1.0] * 3] * 2
    assert lib.norm(x, p=2, dim=1).tolist() == [[0.0] * 3] * 2
    assert lib.any(x, dim=1).tolist() == [[False] * 3] * 2
    assert lib.all(x, dim=1).tolist() == [[True] * 3] * 2
    for name in ("mean", "var"):
        assert all(map(math.isnan, getattr(lib, name)(x, dim=1).flatten().tolist())), name
    for name in ("amax", "amin", "argmax", "argmin"):
        with pytest.raises((IndexError, RuntimeError), match="(?i)non-zero|empty|no elements|identity"):
            getattr(lib, name)(x, dim=1)
        # No rows at all is no mistake.
        assert getattr(lib, name)(x, dim=0).shape == (0, 3)
    assert lib.softmax(x, 1).shape == (2, 0, 3) and lib.log_softmax(x, 0).shape == (2, 0, 3)
    assert lib.sum(lib.zeros(0, 4), dim=1).shape == (0,)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["var", "std", "var_mean", "std_mean"])
def test_variances_far_from_zero(lib, name, dtype):
    if lib is not tenon and dtype == "float64":
        pytest.skip("Welford's steps keep fewer digits")
    unit = FLOATS[dtype]
    far = {"float32": 1e5, "float64": 1e13}[dtype]
    for length in (2, 7, 100, 3000):
        x = lib.tensor(numbers(3 * length, length, far - 1, far + 1), dtype=getattr(lib, dtype)).reshape(3, length)
        for y, dim in [(x, 1), (x.t().contiguous(), 0)]:
            got = getattr(lib, name)(y, dim=dim)
            got = (got[0] if name.endswith("_mean") else got).double().tolist()
            for value, row in zip(got, rows_of(y, dim)):
                exact = [Fraction(v) for v in row]
                mean = sum(exact) / length
                wanted = float(sum((v - mean) ** 2 for v in exact) / (length - 1))
                assert near(value, math.sqrt(wanted) if "std" in name else wanted, 32 * unit), (length, dim)


@pytest.mark.parametrize("dtype", FLOATS)
def test_rows_of_one_value_do_not_vary(lib, dtype):
    for value in (0.1, 1 / 3, -7.7, 12345.678):
        for length in (2, 3, 7, 100, 1031, 70_001):
            for sizes, dim in [((2, length), 1), ((length, 3), 0)]:
                x = lib.full(sizes, value, dtype=getattr(lib, dtype), requires_grad=True)
                std = lib.std(x, dim=dim)
                assert not lib.any(std).item() and not lib.any(lib.var(x, dim=dim)).item(), (value, sizes)
                assert not lib.any(lib.std_mean(x, dim=dim)[0]).item(), (value, sizes)
                std.sum().backward()
                assert not lib.any(x.grad).item(), (value, sizes)


def test_no_degrees_of_freedom(lib):
    x = lib.tensor([[1.0, 2.0, 4.0], [5.0, 5.0, 5.0]])
    for correction in (3, 3.0, 4, 10):
        for name in ("var", "std", "var_mean", "std_mean"):
            got = getattr(lib, name)(x, dim=1, correction=correction)
            high, none = (got[0] if name.endswith("_mean") else got).tolist()
            assert math.isinf(high) and high > 0 and math.isnan(none), (name, correction)
    assert lib.var(x, dim=1, correction=2.5).tolist()[0] == pytest.approx(14 / 3 / 0.5)
    for name in ("var", "std"):
        assert all(map(math.isnan, getattr(lib, name)(lib.zeros(2, 0), dim=1, correction=-1).tolist()))
        assert getattr(lib, name)(lib.zeros(0, 2), dim=1).shape == (0,)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("shift", [0.0, 1.0])
def test_long_sums_are_no_worse_than_pytorch_s(dtype, shift):
    torch = pytest.importorskip("torch")
    draw = random.Random(3)
    for rows, length in [(1, 1_000_000), (16, 4096), (4, 65_537), (64, 100)]:
        values = [draw.uniform(-1, 1) + shift for _ in range(rows * length)]
        errors = {}
        for lib in (tenon, torch):
            kind = getattr(lib, dtype)
            x = lib.tensor(values, dtype=lib.float64).to(kind).reshape(rows, length)
            exact = [(math.fsum(row), math.fsum(map(abs, row))) for row in x.double().tolist()]
            # In float, so that the rounding of the result to a half type hides nothing.
            for dim, y in [(1, x), (0, x.t())]:
                got = lib.sum(y, dim=dim, dtype=lib.float32).double().tolist()
                worst = max(abs(value - sum_) / parts for value, (sum_, parts) in zip(got, exact))
                errors[lib.__name__] = max(errors.get(lib.__name__, 0), worst)
        # A unit of the last place, of which rounding the result takes half.
        assert errors["tenon"] <= max(errors["torch"], 2.0**-23), (rows, length, errors)
