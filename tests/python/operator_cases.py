"""Cases of operators: an expression, where statements before the last `;;` come first, and the results' dtypes and values."""

import cmath
import math
import warnings

import tenon as T

F, t, nan, inf = T.nn.functional, T.tensor, math.nan, math.inf


def zeros(*sizes):
    return T.zeros(sizes).tolist()


UNIT = {"float16": 2e-3, "bfloat16": 1.6e-2, "float32": 2e-6, "complex64": 4e-6, "float64": 1e-6, "complex128": 1e-6}


def evaluate(text):
    names = dict(globals())
    before, _, expression = text.rpartition(";;")
    T.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if before:
            exec(before, names)
        return eval(expression, names)


def agree(have, want, unit):
    if isinstance(want, list):
        return isinstance(have, list) and len(have) == len(want) and all(agree(h, w, unit) for h, w in zip(have, want))
    if isinstance(want, complex):
        return agree(have.real, want.real, unit) and agree(have.imag, want.imag, unit)
    if want != want:
        return have != have
    return have == want or (math.isfinite(want) and cmath.isclose(have, want, rel_tol=unit, abs_tol=unit))


def check(have, want):
    if isinstance(want, list):
        assert len(have) == len(want)
        for one, expected in zip(have, want):
            check(one, expected)
        return
    dtype, values = want
    assert str(have.dtype) == f"tenon.{dtype}"
    assert agree(have.tolist(), values, UNIT.get(dtype, 0)), f"{have.tolist()}, not {values}"
