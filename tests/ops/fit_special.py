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


AIRY_U = mp.mpf(3) / 2 / mp.sqrt(8)  # 1 / zeta of x = 2


def airy_tail(u):
    """2 sqrt(pi) x^(1/4) exp(1 / u) Ai(x) of u = 1 / zeta, zeta = 2 / 3 x^(3/2)"""
    if u < mp.mpf(10) ** -12:
        return mp.mpf(1)
    x = (mp.mpf(3) / (2 * u)) ** (mp.mpf(2) / 3)
    return 2 * mp.sqrt(PI) * mp.root(x, 4) * mp.exp(1 / u) * mp.airyai(x)


def airy_wave(part):
    """P and Q of Ai(-z) sqrt(pi) z^(1/4) = P cos(c) + Q / zeta sin(c), c = zeta - pi / 4, of w = 1 / zeta^2 (DLMF 9.7.9)."""

    def of_w(w):
        if w < mp.mpf(10) ** -12:
            return mp.mpf(1) if part == "p" else mp.mpf(5) / 72
        zeta = 1 / mp.sqrt(w)
        z = (3 * zeta / 2) ** (mp.mpf(2) / 3)
        c, s = mp.cos(zeta - PI / 4), mp.sin(zeta - PI / 4)
        size = mp.sqrt(PI) * mp.root(z, 4)
        a, b = size * mp.airyai(-z), size * mp.airybi(-z)
        return c * a - s * b if part == "p" else (s * a + c * b) * zeta

    return of_w


def log_gamma1p(a):
    """log(gamma(1 + a)) / (a (a - 1))"""
    if a in (0, 1):
        return mp.euler if a == 0 else 1 - mp.euler
    return mp.log(mp.gamma(1 + a)) / (a * (a - 1))


def temme(order):
    """The Taylor series of c_k of the incomplete gamma functions, for |eta| < 1/3 and a > 200 (DLMF 8.12.9 to 8.12.12)."""
    most = 40
    # mu = eta + ..., where eta^2 / 2 = mu - log(1 + mu), so that mu mu' = eta (1 + mu).
    mu = [mp.mpf(0), mp.mpf(1)]
    for n in range(2, most):
        known = mp.fsum(mu[i] * mu[n + 1 - i] * (n + 1 - i) for i in range(2, n))
        mu.append((mu[n - 1] - known) / (n + 1))
    # 1 / mu = (1 + ...) / eta
    inverse = [mp.mpf(1)]
    for n in range(1, most - 1):
        inverse.append(-mp.fsum(inverse[i] * mu[n + 1 - i] for i in range(n)))
    # g_k: gamma(a) = sqrt(2 pi / a) (a / e)^a (g_0 + g_1 / a + ...)
    logs = [mp.mpf(0)] + [mp.bernoulli(k + 1) / (k * (k + 1)) for k in range(1, order + 1)]
    g = [mp.mpf(1)]
    for n in range(1, order + 1):
        g.append(mp.fsum(k * logs[k] * g[n - k] for k in range(1, n + 1)) / n)
    c = inverse[1:]
    for k in range(1, order + 1):
        slope = [(n + 1) * c[n + 1] for n in range(len(c) - 1)]  # its first term and g_k's cancel
        c = [slope[n + 1] + (-1) ** k * g[k] * inverse[n + 1] for n in range(len(slope) - 1)]
    size = mp.mpf(200) ** order * mp.mpf("3e-17")
    degree = max(n for n, value in enumerate(c) if abs(value) / mp.mpf(3) ** n > size)
    return c[: degree + 1]


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
    "airy_left": lambda: fit(mp.airyai, -5, -1),
    "airy_middle": lambda: fit(lambda x: mp.airyai(x) * mp.exp(x), -1, 2),
    "airy_tail": lambda: fit(airy_tail, 0, AIRY_U),
    "airy_p": lambda: fit(airy_wave("p"), 0, mp.mpf(9) / 500),
    "airy_q": lambda: fit(airy_wave("q"), 0, mp.mpf(9) / 500),
    "log_gamma1p_rest": lambda: fit(log_gamma1p, 0, mp.mpf(5) / 4),
    **{f"temme{k}": lambda k=k: temme(k) for k in range(6)},
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
