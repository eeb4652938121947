#!/usr/bin/env python3
"""Computes the polynomials of native_functions.yaml's section on Bessel functions and their like.

    fit_special.py [NAME...]       prints `define` entries; needs mpmath, which PyTorch's environment has

Each is the interpolation of a smooth function in Chebyshev nodes, of the lowest degree whose remaining Chebyshev
coefficients are below 3e-17 of the largest. It is given in powers of the place in the interval scaled to [-1, 1], or, for
the series of I and K, whose coefficients have one sign or fall quickly, in powers of the variable itself.
"""

import sys

import mpmath as mp

mp.mp.dps = 40
MOST = 60  # the highest degree that is tried
EULER, PI = mp.euler, mp.pi


def chebyshev(f, degree):
    """The Chebyshev coefficients of the interpolation of f on [-1, 1]."""
    n = degree + 1
    angles = [PI * (k + mp.mpf(1) / 2) / n for k in range(n)]
    values = [f(mp.cos(a)) for a in angles]
    found = [2 * mp.fsum(v * mp.cos(j * a) for v, a in zip(values, angles)) / n for j in range(n)]
    found[0] /= 2
    return found


def powers(coefficients):
    """The same polynomial in powers of its variable."""
    result = [mp.mpf(0)] * len(coefficients)
    before, now = [mp.mpf(0)], [mp.mpf(1)]
    for k, coefficient in enumerate(coefficients):
        for i, value in enumerate(now):
            result[i] += coefficient * value
        # T_1 = s T_0, T_(k+1) = 2 s T_k - T_(k-1)
        following = [mp.mpf(0)] + [(1 if k == 0 else 2) * value for value in now]
        for i, value in enumerate(before if k else []):
            following[i] -= value
        before, now = now, following
    return result


def composed(coefficients, a, b):
    """p(a + b s) in powers of s."""
    result = [mp.mpf(0)]
    for coefficient in reversed(coefficients):
        following = [mp.mpf(0)] * (len(result) + 1)
        for i, value in enumerate(result):
            following[i] += value * a
            following[i + 1] += value * b
        following[0] += coefficient
        result = following
    return result[: len(coefficients)]


def fit(f, low=0, high=1, natural=False):
    low, high = mp.mpf(low), mp.mpf(high)

    def scaled(s):
        return f((s * (high - low) + low + high) / 2)

    sizes = [abs(c) for c in chebyshev(scaled, MOST)]
    degree = max(k for k, size in enumerate(sizes) if size >= 3e-17 * max(sizes)) + 1
    found = powers(chebyshev(scaled, degree))
    return composed(found, -(low + high) / (high - low), 2 / (high - low)) if natural else found


def ratio(numerator, x, at_zero):
    return numerator / x if x > mp.mpf(10) ** -18 else mp.mpf(at_zero)


def bessel_i(order):
    """sum_k s^k / (k! (k + order)!): I_order(2 sqrt(s)) / sqrt(s)^order, for order 0 without its 1 and divided by s."""
    if order == 0:
        return lambda s: ratio(mp.besseli(0, 2 * mp.sqrt(s)) - 1, s, 1)
    return lambda s: ratio(mp.besseli(1, 2 * mp.sqrt(s)), mp.sqrt(s), 1)


def tail(function, order, start):
    """f(x) e^(-+x) sqrt(x) of t = start / x."""
    sign = -1 if function is mp.besseli else 1
    return lambda t: function(order, start / t) * mp.exp(sign * start / t) * mp.sqrt(start / t)


def k0(z):
    x = mp.sqrt(z)
    return mp.besselk(0, x) + mp.log(x / 2) * mp.besseli(0, x) if z > 0 else -EULER


def k1(z):
    x = mp.sqrt(z)
    return x * (mp.besselk(1, x) - mp.log(x / 2) * mp.besseli(1, x)) if z > 0 else mp.mpf(1)


J0_ZEROS = [mp.besseljzero(0, k) ** 2 for k in (1, 2)]
J1_ZEROS = [mp.besseljzero(1, k) ** 2 for k in (1, 2)]


def j0(z):
    return mp.besselj(0, mp.sqrt(z)) / ((z - J0_ZEROS[0]) * (z - J0_ZEROS[1]))


def j1(z):
    return ratio(mp.besselj(1, mp.sqrt(z)), mp.sqrt(z), 0.5) / ((z - J1_ZEROS[0]) * (z - J1_ZEROS[1]))


def y0(z):
    x = mp.sqrt(z)
    return mp.bessely(0, x) - 2 / PI * mp.log(x) * mp.besselj(0, x) if z > 0 else 2 / PI * (EULER - mp.log(2))


def y1(z):
    x = mp.sqrt(z)
    if z < mp.mpf(10) ** -15:
        return (2 * EULER - 1 - 2 * mp.log(2)) / (2 * PI)
    return (mp.bessely(1, x) - 2 / PI * (mp.log(x) * mp.besselj(1, x) - 1 / x)) / x


def wave(order, part):
    """P and Q of J = sqrt(2 / (pi x)) (P cos(c) - 5 / x Q sin(c)), c = x - (2 order + 1) pi / 4, of w = (5 / x)^2."""
    shift = (2 * order + 1) * PI / 4

    def of_w(w):
        if w <= 0:
            return mp.mpf(1) if part == "p" else mp.mpf(4 * order**2 - 1) / 40
        x = 5 / mp.sqrt(w)
        j, y = mp.besselj(order, x), mp.bessely(order, x)
        c, s = mp.cos(x - shift), mp.sin(x - shift)
        size = mp.sqrt(PI * x / 2)
        return size * (j * c + y * s) if part == "p" else size * (y * c - j * s) * x / 5

    return of_w


def erfcx(t):
    """erfcx(x) / t of t = 4 / (4 + x)"""
    x = 4 * (1 - t) / t if t > mp.mpf(10) ** -12 else None
    return 1 / (4 * mp.sqrt(PI)) if x is None else mp.erfc(x) * mp.exp(x * x) / t


NDTRI_MIDDLE = mp.mpf(1) / 2 - mp.exp(-2)


def ndtri_middle(s):
    """ndtri(1/2 + y) / y of s = y^2"""
    return ratio(mp.sqrt(2) * mp.erfinv(2 * mp.sqrt(s)), mp.sqrt(s), mp.sqrt(2 * PI))


def ndtri_tail(z):
    """(x - log(x) / x + ndtri(p)) x of z = 1 / x, where p = exp(-x^2 / 2); by Newton's steps on the logarithm."""
    x = 1 / z
    target, y = -x * x / 2, x - mp.log(x) / x
    while True:
        p = mp.erfc(y / mp.sqrt(2)) / 2
        step = (mp.log(p) - target) * p / (mp.exp(-y * y / 2) / mp.sqrt(2 * PI))
        y += step
        if abs(step) < mp.mpf(10) ** -34:
            return (x - mp.log(x) / x - y) * x


POLYNOMIALS = {
    "bessel_i0_series": lambda: fit(bessel_i(0), 0, 16, natural=True),
    "bessel_i0_tail": lambda: fit(tail(mp.besseli, 0, 8)),
    "bessel_i1_series": lambda: fit(bessel_i(1), 0, 16, natural=True),
    "bessel_i1_tail": lambda: fit(tail(mp.besseli, 1, 8)),
    "bessel_k0_series": lambda: fit(k0, 0, 4, natural=True),
    "bessel_k0_tail": lambda: fit(tail(mp.besselk, 0, 2)),
    "bessel_k1_series": lambda: fit(k1, 0, 4, natural=True),
    "bessel_k1_tail": lambda: fit(tail(mp.besselk, 1, 2)),
    "bessel_j0_series": lambda: fit(j0, 0, 25),
    "bessel_j1_series": lambda: fit(j1, 0, 25),
    "bessel_y0_series": lambda: fit(y0, 0, 25),
    "bessel_y1_series": lambda: fit(y1, 0, 25),
    "bessel_p0": lambda: fit(wave(0, "p")),
    "bessel_q0": lambda: fit(wave(0, "q")),
    "bessel_p1": lambda: fit(wave(1, "p")),
    "bessel_q1": lambda: fit(wave(1, "q")),
    "erfcx_rational": lambda: fit(erfcx),
    "ndtri_middle": lambda: fit(ndtri_middle, 0, NDTRI_MIDDLE**2),
    "ndtri_tail": lambda: fit(ndtri_tail, mp.mpf(1) / 8, mp.mpf(1) / 2),
    "ndtri_far_tail": lambda: fit(ndtri_tail, mp.mpf(1) / 40, mp.mpf(1) / 8),
}


def horner(coefficients):
    text = repr(float(coefficients[-1]))
    for i, coefficient in enumerate(reversed(coefficients[:-1])):
        value = float(coefficient)
        left = f"({text})" if i else text
        text = f"{left} * s {'-' if value < 0 else '+'} {abs(value)!r}"
    return text


def main():
    for name in sys.argv[1:] or POLYNOMIALS:
        print(f"- define: {name}(s)\n  as: {horner(POLYNOMIALS[name]())}\n")


if __name__ == "__main__":
    main()
