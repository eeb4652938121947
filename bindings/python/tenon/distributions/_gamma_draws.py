"""Draws of gamma and Dirichlet distributions, and their derivatives in the concentration.

A draw x = F^-1(u; a) has the derivative dx/da = -(dF/da) / p(x): implicit reparameterization (Figurnov, Mohamed, Mnih 2018).
The series of F are differentiated term by term.
"""

import math

import tenon

__all__ = ["sample_dirichlet", "standard_gamma"]

_THIRD = 0.3333333432674408  # 1 / 3 in single precision, which PyTorch's numbers are made with


def _gamma_draw(concentration, normal, uniform):
    """One number (Marsaglia, Tsang 2000)."""
    if not concentration > 0:
        return 0.0 if concentration == 0 else math.nan
    scale = 1.0
    if concentration < 1:
        # A draw of concentration + 1 times a power of a uniform number.
        scale = (1 - uniform()) ** (1 / concentration)
        concentration += 1
    d = concentration - _THIRD
    c = 1 / math.sqrt(9 * d)
    while True:
        x = normal()
        y = 1 + c * x
        if y <= 0:
            continue
        v = y**3
        u = 1 - uniform()
        if u < 1 - 0.0331 * x**4 or math.log(u) < 0.5 * x**2 + d * (1 - v + math.log(v)):
            return scale * d * v


def _gamma_draws(concentration, generator=None):
    """Draws in double precision, one after another in PyTorch's order, so that a seed gives its numbers."""
    number = tenon.empty((), dtype=tenon.double)

    def normal():
        return number.normal_(generator=generator).item()

    def uniform():
        return number.uniform_(generator=generator).item()

    if not concentration.dtype.is_floating_point:
        raise NotImplementedError(f"[standard_gamma] is not implemented for {concentration.dtype}")
    draws = [_gamma_draw(a, normal, uniform) for a in concentration.to(tenon.double).flatten().tolist()]
    draws = tenon.tensor(draws, dtype=tenon.double, device=concentration.device)
    return draws.reshape(concentration.shape)


def _sums(first, ratio, slope, first_slope):
    """Sums of t_n and of t_n h_n, n = 0, 1, ...

    t_0 = first, t_n = t_(n-1) ratio(n), h_0 = first_slope, h_n = h_(n-1) + slope(n); the terms are positive.
    """
    term, h = first, first_slope
    total, total_slope = term, term * h
    for n in range(1, 100000):
        term = term * ratio(n)
        h = h + slope(n)
        total, total_slope = total + term, total_slope + term * h
        if not (term * h.abs().clamp(min=1) > 1e-16 * total).any():
            break
    return total, total_slope


def _gamma_gradient(concentration, x):
    """dx/da of a standard gamma draw x."""
    a, x = concentration.to(tenon.double), x.to(tenon.double)
    # Large numbers are cubes of nearly normal ones, x = d (1 + z / sqrt(9 d))^3, d = a - 1/3, with the same z.
    d = a - 1 / 3
    root = (x / d).pow(1 / 3)
    is_large = a > 1000
    large = root.square() * (root - 1.5 * (root - 1))
    # F = x^a exp(-x) / Gamma(a) sum_n x^n / (a (a + 1) ... (a + n))
    safe = tenon.where(is_large, tenon.ones_like(a), a)
    y = tenon.where(is_large, tenon.ones_like(x), x)
    total, total_slope = _sums(1 / safe, lambda n: y / (safe + n), lambda n: -1 / (safe + n), -1 / safe)
    exact = -y * (total * (y.log() - safe.digamma()) + total_slope)
    return tenon.where(is_large, large, exact)


def _beta_gradient(x, a, b):
    """dx/da / (1 - x) of a draw x of Beta(a, b)."""
    x, a, b = x.to(tenon.double), a.to(tenon.double), b.to(tenon.double)
    # F = x^a (1 - x)^b / B(a, b) sum_n (a + b) ... (a + b + n - 1) x^n / (a ... (a + n)) converges fast for small x.
    # Otherwise 1 - F is taken: the same with x and 1 - x, a and b exchanged.
    is_small = x <= (a + 1) / (a + b + 2)
    y = tenon.where(is_small, x, 1 - x)
    p = tenon.where(is_small, a, b)
    total, total_slope = _sums(
        1 / p,
        lambda n: (a + b + n - 1) * y / (p + n),
        lambda n: 1 / (a + b + n - 1) - tenon.where(is_small, 1 / (p + n), 0.0),
        tenon.where(is_small, -1 / p, 0.0),
    )
    slope = total * (x.log() - a.digamma() + (a + b).digamma()) + total_slope
    return x * tenon.where(is_small, -slope, slope)


class _StandardGamma(tenon.autograd.Function):
    @staticmethod
    def forward(ctx, concentration, generator):
        x = _gamma_draws(concentration, generator)
        x = x.to(concentration.dtype).clamp(min=tenon.finfo(concentration.dtype).tiny)
        ctx.save_for_backward(concentration, x)
        return x

    @staticmethod
    @tenon.autograd.function.once_differentiable
    def backward(ctx, grad):
        concentration, x = ctx.saved_tensors
        return grad * _gamma_gradient(concentration, x).to(grad.dtype), None


class _SampleDirichlet(tenon.autograd.Function):
    @staticmethod
    def forward(ctx, concentration):
        # Of small concentrations all draws may be too small for a number.
        x = _gamma_draws(concentration).clamp(min=tenon.finfo(tenon.double).tiny)
        x = (x / x.sum(-1, True)).to(concentration.dtype)
        limits = tenon.finfo(x.dtype)
        x = x.clamp(min=limits.tiny, max=1 - limits.eps)
        ctx.save_for_backward(x, concentration)
        return x

    @staticmethod
    @tenon.autograd.function.once_differentiable
    def backward(ctx, grad):
        x, concentration = ctx.saved_tensors
        others = concentration.sum(-1, True) - concentration
        # When one number grows the others shrink in proportion, as their sum is 1.
        return _beta_gradient(x, concentration, others).to(grad.dtype) * (grad - (x * grad).sum(-1, True))


def standard_gamma(concentration, generator=None):
    """Draws of the density x^(concentration - 1) exp(-x) / Gamma(concentration)."""
    return _StandardGamma.apply(concentration, generator)


def sample_dirichlet(concentration):
    """Draws of a Dirichlet distribution, along the last dimension."""
    return _SampleDirichlet.apply(concentration)
