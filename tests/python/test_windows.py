"""Windows of signal processing, against their formulas."""

import math

import pytest
import tenon
from tenon.signal import windows


def bessel_i0(x):
    term = total = 1.0
    for k in range(1, 60):
        term *= (x / 2 / k) ** 2
        total += term
    return total


def cosines(*a):
    return lambda k, last: sum((-1) ** i * c * math.cos(2 * math.pi * i * k / last) for i, c in enumerate(a))


FORMULAS = {
    "bartlett": (lambda k, last: 1 - abs(2 * k / last - 1), {}),
    "blackman": (cosines(0.42, 0.5, 0.08), {}),
    "cosine": (lambda k, last: math.sin(math.pi * (k + 0.5) / (last + 1)), {}),
    "exponential": (lambda k, last: math.exp(-abs(k - last / 2) / 1.5), {"tau": 1.5}),
    "gaussian": (lambda k, last: math.exp(-(((k - last / 2) / 0.9) ** 2) / 2), {"std": 0.9}),
    "general_cosine": (cosines(0.2, 0.3, 0.5), {"a": [0.2, 0.3, 0.5]}),
    "general_hamming": (cosines(0.6, 0.4), {"alpha": 0.6}),
    "hamming": (cosines(0.54, 0.46), {}),
    "hann": (cosines(0.5, 0.5), {}),
    "kaiser": (lambda k, last: bessel_i0(8 * math.sqrt(1 - (2 * k / last - 1) ** 2)) / bessel_i0(8), {"beta": 8}),
    "nuttall": (cosines(0.3635819, 0.4891775, 0.1365995, 0.0106411), {}),
}


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("sym", [True, False])
@pytest.mark.parametrize("size", [2, 7, 10])
def test_values(name, sym, size):
    formula, arguments = FORMULAS[name]
    found = getattr(windows, name)(size, sym=sym, dtype=tenon.float64, **arguments)
    last = size - 1 if sym else size
    assert found.tolist() == pytest.approx([formula(k, last) for k in range(size)], abs=1e-12)


def test_short_windows_and_options():
    assert sorted(FORMULAS) == sorted(windows.__all__)
    for name, (_, arguments) in FORMULAS.items():
        assert getattr(windows, name)(0, **arguments).shape == (0,)
        assert getattr(windows, name)(1, **arguments).tolist() == [1.0]
    assert windows.hann(5).dtype == tenon.get_default_dtype()
    assert windows.hann(5, requires_grad=True).requires_grad
    center = windows.exponential(5, center=1.0, sym=False, dtype=tenon.float64)
    assert center.tolist() == pytest.approx([math.exp(-abs(k - 1)) for k in range(5)])


def test_bad_calls():
    for call, error, text in [
        (lambda: windows.hann(-1), ValueError, "non-negative window length, got M=-1"),
        (lambda: windows.cosine(5, dtype=tenon.float16), ValueError, "expects float32 or float64"),
        (lambda: windows.gaussian(5, std=0), ValueError, "Standard deviation must be positive"),
        (lambda: windows.exponential(5, tau=0), ValueError, "Tau must be positive"),
        (lambda: windows.exponential(5, center=1.0), ValueError, "Center must be None"),
        (lambda: windows.kaiser(5, beta=-1), ValueError, "beta must be non-negative"),
        (lambda: windows.general_cosine(5, a=[]), ValueError, "cannot be empty"),
        (lambda: windows.general_cosine(5, a=3.0), TypeError, "must be a list/tuple"),
    ]:
        with pytest.raises(error, match=text):
            call()
