"""KL divergences of two families: KL(p || q) = -H(p) - E_p[log q(x)].

E_p[log q(x)] is made of few means of p: of x, (x - c)^2, log x, log(1 - x), exp(-(x - c) / s) and |x - c|. Below are first
these means for the families p, then -E_p[log q(x)] for the families q. A pair is infinite if p has values that q lacks.
"""

import math

import tenon
from tenon.distributions.bernoulli import Bernoulli
from tenon.distributions.binomial import Binomial
from tenon.distributions.continuous_bernoulli import ContinuousBernoulli
from tenon.distributions.dirichlet import Beta
from tenon.distributions.exponential import Exponential
from tenon.distributions.gamma import Gamma
from tenon.distributions.gumbel import Gumbel
from tenon.distributions.kl import infinite_where, register_kl
from tenon.distributions.laplace import Laplace
from tenon.distributions.normal import Normal
from tenon.distributions.pareto import Pareto
from tenon.distributions.poisson import Poisson
from tenon.distributions.uniform import Uniform
from tenon.distributions.utils import euler_constant

# --- means of p ---


def _mean_log(p):
    """E log x"""
    if isinstance(p, Beta):
        return p.concentration1.digamma() - (p.concentration1 + p.concentration0).digamma()
    if isinstance(p, Exponential):
        return -euler_constant - p.rate.log()
    if isinstance(p, Gamma):
        return p.concentration.digamma() - p.rate.log()
    if isinstance(p, Pareto):
        return p.scale.log() + p.alpha.reciprocal()
    return _mean_log_between(p.low, p.high)


def _mean_log_between(low, high):
    """E log x of a uniform x."""
    return (high.xlogy(high) - low.xlogy(low)) / (high - low) - 1


def _mean_exp(p, loc, scale):
    """E exp(-(x - loc) / scale)"""
    if isinstance(p, Exponential):
        return (loc / scale).exp() * (p.rate / (p.rate + scale.reciprocal()))
    if isinstance(p, Gamma):
        return (loc / scale).exp() * (1 + (p.rate * scale).reciprocal()).pow(-p.concentration)
    if isinstance(p, Normal):
        return (0.5 * (p.scale / scale).square() - (p.loc - loc) / scale).exp()
    width = (p.high - p.low) / scale
    return (((loc - p.low) / scale).exp() - ((loc - p.high) / scale).exp()) / width


# --- -log q(x), in the mean over p ---


def _cross_continuous_bernoulli(p, q):
    return -p.mean * q.logits - tenon.log1p(-q.probs) - q._cont_bern_log_norm()


def _cross_exponential(p, q):
    return q.rate * p.mean - q.rate.log()


def _cross_gamma(p, q):
    log_norm = q.concentration.lgamma() - q.concentration * q.rate.log()
    return log_norm - (q.concentration - 1) * _mean_log(p) + q.rate * p.mean


def _cross_gumbel(p, q):
    return q.scale.log() + (p.mean - q.loc) / q.scale + _mean_exp(p, q.loc, q.scale)


def _cross_normal(p, q):
    variance = q.scale.square()
    return 0.5 * ((2 * math.pi * variance).log() + (p.variance + (p.mean - q.loc).square()) / variance)


def _cross_uniform(p, q):
    """Of p that have all values from 0 to 1."""
    return infinite_where((q.low > 0) | (q.high < 1), (q.high - q.low).log())


_CROSS_ENTROPIES = {
    ContinuousBernoulli: _cross_continuous_bernoulli,
    Exponential: _cross_exponential,
    Gamma: _cross_gamma,
    Gumbel: _cross_gumbel,
    Normal: _cross_normal,
    Uniform: _cross_uniform,
}


def _register(type_p, *types_q):
    for type_q in types_q:
        cross_entropy = _CROSS_ENTROPIES[type_q]
        register_kl(type_p, type_q)(lambda p, q, cross_entropy=cross_entropy: cross_entropy(p, q) - p.entropy())


_register(Beta, ContinuousBernoulli, Exponential, Gamma, Normal, Uniform)
_register(ContinuousBernoulli, Exponential, Normal, Uniform)
_register(Exponential, Gamma, Gumbel, Normal)
_register(Gamma, Exponential, Gumbel, Normal)
_register(Gumbel, Normal)
_register(Laplace, Normal)
_register(Normal, Gumbel)
_register(Pareto, Exponential, Gamma, Normal)
_register(Uniform, Gumbel, Normal)


# --- with what only one pair has ---


@register_kl(Normal, Laplace)
def _kl_normal_laplace(p, q):
    # E |x - c| of a normal x.
    distance = p.loc - q.loc
    ratio = distance / p.scale
    mean = math.sqrt(2 / math.pi) * p.scale * (-0.5 * ratio.square()).exp() + distance * (math.sqrt(0.5) * ratio).erf()
    return (2 * q.scale).log() + mean / q.scale - p.entropy()


def _register_uniform(type_q, is_outside, cross_entropy=None):
    """Of a Uniform p, infinite where q lacks some of its values."""
    cross_entropy = cross_entropy or _CROSS_ENTROPIES[type_q]
    register_kl(Uniform, type_q)(lambda p, q: infinite_where(is_outside(p, q), cross_entropy(p, q) - p.entropy()))


def _is_outside_unit_interval(p, q):
    return (p.low < 0) | (p.high > 1)


def _cross_beta(p, q):
    a, b = q.concentration1, q.concentration0
    log_norm = a.lgamma() + b.lgamma() - (a + b).lgamma()
    return log_norm - (a - 1) * _mean_log(p) - (b - 1) * _mean_log_between(1 - p.high, 1 - p.low)


def _cross_pareto(p, q):
    return (q.alpha + 1) * _mean_log(p) - q.alpha.log() - q.alpha * q.scale.log()


_register_uniform(Beta, _is_outside_unit_interval, _cross_beta)
_register_uniform(ContinuousBernoulli, _is_outside_unit_interval)
_register_uniform(Exponential, lambda p, q: p.low < 0)
_register_uniform(Gamma, lambda p, q: p.low < 0)
_register_uniform(Pareto, lambda p, q: p.low < q.scale, _cross_pareto)


@register_kl(Bernoulli, Poisson)
def _kl_bernoulli_poisson(p, q):
    return q.rate - p.probs * q.rate.log() - p.entropy()


# --- infinite ---


def _register_infinite(type_p, parameter, *types_q):
    for type_q in types_q:
        register_kl(type_p, type_q)(lambda p, q: tenon.full_like(getattr(p, parameter), float("inf")))


_register_infinite(Beta, "concentration1", Pareto)
_register_infinite(ContinuousBernoulli, "probs", Pareto)
_register_infinite(Exponential, "rate", Beta, ContinuousBernoulli, Pareto, Uniform)
_register_infinite(Gamma, "concentration", Beta, ContinuousBernoulli, Pareto, Uniform)
for _type in (Gumbel, Laplace, Normal):
    _register_infinite(_type, "loc", Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform)
_register_infinite(Pareto, "scale", Beta, ContinuousBernoulli, Uniform)
_register_infinite(Poisson, "rate", Bernoulli, Binomial)
