"""Functions of operators' expressions, of numbers and tensors alike: for steps that record (differentiable=True)."""

import math

import tenon


def _of(name, tensors, numbers):
    def function(*arguments):
        return (tensors if any(isinstance(one, tenon.Tensor) for one in arguments) else numbers)(*arguments)

    function.__name__ = name
    return function


sqrt = _of("sqrt", tenon.sqrt, math.sqrt)
exp = _of("exp", tenon.exp, math.exp)
log = _of("log", tenon.log, math.log)
sign = _of("sign", tenon.sign, lambda x: math.copysign(1, x) if x else 0)
conj = _of("conj", tenon.conj, lambda x: x.conjugate())
# A bound may be a number.
maximum = _of("maximum", lambda a, b: a.clamp(min=b), max)
minimum = _of("minimum", lambda a, b: a.clamp(max=b), min)


def where(condition, a, b):
    """Of two numbers exact ones, which no dtype of the formula has rounded yet."""
    if not isinstance(a, tenon.Tensor) and not isinstance(b, tenon.Tensor):
        a = tenon.tensor(a, dtype=tenon.float64)
    return tenon.where(condition, a, b)
