"""Functions that make tensors, with `out`: its dtype, shape and memory."""

import pytest


@pytest.mark.parametrize("make", ["arange", "linspace", "logspace"])
def test_nothing_beside_a_view_is_written(lib, make):
    call = {
        "arange": lambda out: lib.arange(1, 5, out=out),
        "linspace": lambda out: lib.linspace(1, 4, 4, out=out),
        "logspace": lambda out: lib.logspace(1, 4, 4, base=1.0, out=out),
    }[make]
    values = [1.0] * 4 if make == "logspace" else [1.0, 2.0, 3.0, 4.0]
    base = lib.zeros(3, 3)
    view = base.as_strided((2, 2), (4, 1), 1)
    assert call(view) is view
    assert base.flatten().tolist() == [0, *values[:2], 0, 0, *values[2:], 0, 0] and view.shape == (2, 2)
    columns = lib.zeros(4, 2)
    call(columns[:, 0])
    assert columns[:, 0].tolist() == values and columns[:, 1].tolist() == [0] * 4


@pytest.mark.parametrize("dtype", ["int64", "int32", "float64", "float16", "bool"])
def test_results_have_the_dtype_of_out(lib, dtype):
    dtype = getattr(lib, dtype)
    out = lambda *sizes: lib.empty(*sizes, dtype=dtype)
    for made, wanted in (
        (lib.zeros(2, out=out(2)), [0, 0]),
        (lib.ones(2, out=out(2)), [1, 1]),
        (lib.full((2,), 1, out=out(2)), [1, 1]),
        (lib.eye(2, out=out(2, 2)), [[1, 0], [0, 1]]),
        (lib.bernoulli(lib.tensor([0.0, 1.0]), out=out(2)), [0, 1]),
    ):
        assert made.dtype is dtype and made.tolist() == wanted
    assert lib.empty(2, out=out(3)).dtype is dtype
    if dtype is not lib.bool:
        assert lib.arange(0.0, 2.0, out=out(2)).tolist() == [0, 1] and lib.linspace(0, 4, 3, out=out(3)).tolist() == [
            0,
            2,
            4,
        ]
        assert lib.logspace(0, 2, 3, out=out(0)).tolist() == [1, 10, 100]
        assert lib.randperm(5, out=out(5)).sort().values.tolist() == [0, 1, 2, 3, 4]
        assert lib.randint(3, 4, (2,), out=out(2)).tolist() == [3, 3]


def test_whole_numbers_of_an_integer_out(lib):
    out = lib.empty(4, dtype=lib.int64)
    assert lib.arange(0.0, 2.0, 0.5, out=out).tolist() == [0, 0, 0, 0]
    assert lib.linspace(0, 5.7, 4, out=out).tolist() == [0, 1, 3, 5] and lib.full((2,), 3.5, out=out[:2]).tolist() == [
        3,
        3,
    ]


RANDOM = {
    "rand": lambda lib, **out: lib.rand(3, **out), "randn": lambda lib, **out: lib.randn((3,), **out),
    "randint": lambda lib, **out: lib.randint(10, (3,), **out), "randint_low": lambda lib, **out: lib.randint(2, 10, (3,), **out),
    "randperm": lambda lib, **out: lib.randperm(3, **out), "normal": lambda lib, **out: lib.normal(0.0, 2.0, (3,), **out),
    "normal_of_tensors": lambda lib, **out: lib.normal(lib.zeros(3), lib.ones(3), **out),
    "generator": lambda lib, **out: lib.rand(3, generator=lib.Generator().manual_seed(3), **out),
}  # fmt: skip


@pytest.mark.parametrize("name", RANDOM)
def test_random_numbers_are_the_same_with_out(lib, name):
    lib.manual_seed(5)
    wanted = RANDOM[name](lib)
    lib.manual_seed(5)
    out = lib.empty(0, dtype=wanted.dtype)
    assert RANDOM[name](lib, out=out) is out and out.equal(wanted)
    columns = lib.zeros(3, 2, dtype=wanted.dtype)
    lib.manual_seed(5)
    RANDOM[name](lib, out=columns[:, 0])
    assert columns[:, 0].equal(wanted) and columns[:, 1].tolist() == [0] * 3


def test_integers_into_floats_and_errors(lib):
    lib.manual_seed(0)
    assert lib.randint(10, (3,), out=lib.empty(3)).tolist() == [4.0, 9.0, 3.0]
    lib.manual_seed(0)
    assert lib.rand(2, out=lib.empty(2, dtype=lib.float64)).dtype is lib.float64
    for bad in (
        lambda: lib.rand(2, dtype=lib.float64, out=lib.empty(2)),
        lambda: lib.rand(2, out=lib.empty(2, dtype=lib.int64)),
        lambda: lib.randint(0, 300, (3,), out=lib.empty(3, dtype=lib.uint8)),
        lambda: lib.rand(2, out=lib.empty(2, requires_grad=True)),
        lambda: lib.arange(2, out=lib.empty(2, requires_grad=True)),
    ):
        with pytest.raises(RuntimeError):
            bad()
