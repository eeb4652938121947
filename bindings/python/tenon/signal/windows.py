"""Windows of signal processing, each a tensor of M values.

sym: True gives a symmetric window, for the design of filters; False a periodic one, for spectra: the first M values of the
symmetric window of M + 1.
dtype: float32 or float64; by default the default dtype. Symmetric windows are 1 in the middle, if they have one.
"""

import math

import tenon

__all__ = [
    "bartlett",
    "blackman",
    "cosine",
    "exponential",
    "gaussian",
    "general_cosine",
    "general_hamming",
    "hamming",
    "hann",
    "kaiser",
    "nuttall",
]


def _window(name, M, sym, dtype, layout, device, requires_grad, values):
    """`values(k, last)` of the places k = 0 ... M - 1, where the symmetric window ends at `last`."""
    dtype = dtype or tenon.get_default_dtype()
    if M < 0:
        raise ValueError(f"{name} requires non-negative window length, got M={M}")
    if layout is not tenon.strided:
        raise ValueError(f"{name} is implemented for strided tensors only, got: {layout}")
    if dtype not in (tenon.float32, tenon.float64):
        raise ValueError(f"{name} expects float32 or float64 dtypes, got: {dtype}")
    if M < 2:
        return tenon.ones((M,), dtype=dtype, device=device, requires_grad=requires_grad)
    with tenon.no_grad():
        places = tenon.arange(M, dtype=dtype, device=device)
        window = values(places, M - 1 if sym else M)
    return window.requires_grad_(requires_grad)


def _sum_of_cosines(places, last, a):
    """sum_i (-1)^i a_i cos(2 pi i k / last)"""
    angles = places * (2 * math.pi / last)
    result = tenon.full_like(places, a[0])
    for i, coefficient in enumerate(a[1:], 1):
        result = result + (-1) ** i * coefficient * tenon.cos(angles * i)
    return result


def exponential(
    M, *, center=None, tau=1.0, sym=True, dtype=None, layout=tenon.strided, device=None, requires_grad=False
):
    """exp(-|k - center| / tau); the center is the middle unless sym is False."""
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")

    def values(places, last):
        middle = last / 2 if center is None else center
        return tenon.exp(-tenon.abs(places - middle) / tau)

    return _window("exponential", M, sym, dtype, layout, device, requires_grad, values)


def cosine(M, *, sym=True, dtype=None, layout=tenon.strided, device=None, requires_grad=False):
    """sin(pi (k + 0.5) / M)"""

    def values(places, last):
        return tenon.sin((places + 0.5) * (math.pi / (last + 1)))

    return _window("cosine", M, sym, dtype, layout, device, requires_grad, values)


def gaussian(M, *, std=1.0, sym=True, dtype=None, layout=tenon.strided, device=None, requires_grad=False):
    """exp(-((k - middle) / std)^2 / 2)"""
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")

    def values(places, last):
        return tenon.exp(-0.5 * ((places - last / 2) / std) ** 2)

    return _window("gaussian", M, sym, dtype, layout, device, requires_grad, values)


def kaiser(M, *, beta=12.0, sym=True, dtype=None, layout=tenon.strided, device=None, requires_grad=False):
    """I0(beta sqrt(1 - ((k - middle) / middle)^2)) / I0(beta), where I0 is the modified Bessel function of order 0."""
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")

    def values(places, last):
        middle = last / 2
        root = tenon.sqrt(tenon.clamp(1 - ((places - middle) / middle) ** 2, min=0))
        return tenon.i0(beta * root) / tenon.i0(tenon.full_like(root[:1], beta))

    return _window("kaiser", M, sym, dtype, layout, device, requires_grad, values)


def general_cosine(M, *, a, sym=True, dtype=None, layout=tenon.strided, device=None, requires_grad=False):
    """a_0 - a_1 cos(x) + a_2 cos(2 x) - ..., of x = 2 pi k / (M - 1)"""
    if not isinstance(a, (list, tuple)):
        raise TypeError("Coefficients must be a list/tuple")
    if not a:
        raise ValueError("Coefficients cannot be empty")

    def values(places, last):
        return _sum_of_cosines(places, last, a)

    return _window("general_cosine", M, sym, dtype, layout, device, requires_grad, values)


def general_hamming(M, *, alpha=0.54, sym=True, dtype=None, layout=tenon.strided, device=None, requires_grad=False):
    """alpha - (1 - alpha) cos(2 pi k / (M - 1))"""
    return general_cosine(
        M, a=[alpha, 1 - alpha], sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad
    )


def hamming(M, *, sym=True, dtype=None, layout=tenon.strided, device=None, requires_grad=False):
    """0.54 - 0.46 cos(2 pi k / (M - 1))"""
    return general_hamming(M, sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad)


def hann(M, *, sym=True, dtype=None, layout=tenon.strided, device=None, requires_grad=False):
    """0.5 - 0.5 cos(2 pi k / (M - 1))"""
    return general_hamming(
        M, alpha=0.5, sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad
    )


def blackman(M, *, sym=True, dtype=None, layout=tenon.strided, device=None, requires_grad=False):
    """0.42 - 0.5 cos(x) + 0.08 cos(2 x), of x = 2 pi k / (M - 1)"""
    return general_cosine(
        M, a=[0.42, 0.5, 0.08], sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad
    )


def bartlett(M, *, sym=True, dtype=None, layout=tenon.strided, device=None, requires_grad=False):
    """1 - |2 k / (M - 1) - 1|"""

    def values(places, last):
        return 1 - tenon.abs(places * (2 / last) - 1)

    return _window("bartlett", M, sym, dtype, layout, device, requires_grad, values)


def nuttall(M, *, sym=True, dtype=None, layout=tenon.strided, device=None, requires_grad=False):
    """Nuttall's window of four terms with continuous first derivative (Nuttall 1981)."""
    return general_cosine(
        M,
        a=[0.3635819, 0.4891775, 0.1365995, 0.0106411],
        sym=sym,
        dtype=dtype,
        layout=layout,
        device=device,
        requires_grad=requires_grad,
    )
