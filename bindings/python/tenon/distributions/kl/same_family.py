"""KL divergences of two distributions of one family."""

import tenon
from tenon.distributions.bernoulli import Bernoulli
from tenon.distributions.binomial import Binomial
from tenon.distributions.categorical import Categorical
from tenon.distributions.cauchy import Cauchy
from tenon.distributions.continuous_bernoulli import ContinuousBernoulli
from tenon.distributions.dirichlet import Beta, Dirichlet
from tenon.distributions.exp_family import ExponentialFamily
from tenon.distributions.exponential import Exponential
from tenon.distributions.gamma import Gamma
from tenon.distributions.geometric import Geometric
from tenon.distributions.gumbel import Gumbel
from tenon.distributions.independent import Independent
from tenon.distributions.kl import infinite_where, kl_divergence, register_kl
from tenon.distributions.laplace import Laplace
from tenon.distributions.normal import HalfNormal, Normal
from tenon.distributions.one_hot_categorical import OneHotCategorical
from tenon.distributions.pareto import Pareto
from tenon.distributions.poisson import Poisson
from tenon.distributions.transformed_distribution import TransformedDistribution
from tenon.distributions.uniform import Uniform
from tenon.distributions.utils import euler_constant, sum_rightmost

# --- made of other distributions ---


@register_kl(ExponentialFamily, ExponentialFamily)
def _kl_expfamily(p, q):
    """The Bregman divergence of the log normalizer F: F(eta_q) - F(eta_p) - <eta_q - eta_p, F'(eta_p)>"""
    if type(p) is not type(q):
        raise NotImplementedError(
            "The cross KL-divergence between different exponential families cannot be computed "
            "using Bregman divergences"
        )
    p_params, p_normalizer, gradients = p._normalizer_and_gradients()
    result = q._log_normalizer(*q._natural_params) - p_normalizer
    for p_param, q_param, gradient in zip(p_params, q._natural_params, gradients):
        term = (q_param - p_param) * gradient
        result = result - term.reshape(result.shape + (-1,)).sum(-1)
    return result


@register_kl(Independent, Independent)
def _kl_independent(p, q):
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    return sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


@register_kl(TransformedDistribution, TransformedDistribution)
def _kl_transformed(p, q):
    """That of the bases: it does not change under a function that has an inverse."""
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(HalfNormal, HalfNormal)
def _kl_half_normal(p, q):
    return _kl_normal(p.base_dist, q.base_dist)


# --- of discrete values ---


def _expected_log_ratio(probs, log_ratio, q_probs):
    """probs log_ratio: 0 where p never takes the value, infinite where only q never does."""
    return (probs * log_ratio).masked_fill(q_probs == 0, float("inf")).masked_fill(probs == 0, 0)


@register_kl(Bernoulli, Bernoulli)
def _kl_bernoulli(p, q):
    softplus = tenon.nn.functional.softplus
    one = _expected_log_ratio(p.probs, softplus(-q.logits) - softplus(-p.logits), q.probs)
    zero = _expected_log_ratio(1 - p.probs, softplus(q.logits) - softplus(p.logits), 1 - q.probs)
    return one + zero


@register_kl(Binomial, Binomial)
def _kl_binomial(p, q):
    if (p.total_count < q.total_count).any():
        raise NotImplementedError("KL between Binomials where q.total_count > p.total_count is not implemented")
    kl = p.total_count * (p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p())
    return infinite_where(p.total_count > q.total_count, kl)


@register_kl(Categorical, Categorical)
def _kl_categorical(p, q):
    return _expected_log_ratio(p.probs, p.logits - q.logits, q.probs).sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _kl_one_hot_categorical(p, q):
    return _kl_categorical(p._categorical, q._categorical)


@register_kl(Geometric, Geometric)
def _kl_geometric(p, q):
    return -p.entropy() - tenon.log1p(-q.probs) / p.probs - q.logits


@register_kl(Poisson, Poisson)
def _kl_poisson(p, q):
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


# --- of continuous values ---


@register_kl(Beta, Beta)
def _kl_beta(p, q):
    return _kl_dirichlet(p._dirichlet, q._dirichlet)


@register_kl(Dirichlet, Dirichlet)
def _kl_dirichlet(p, q):
    a, b = p.concentration, q.concentration
    total = a.sum(-1)
    log_norms = total.lgamma() - b.sum(-1).lgamma() + (b.lgamma() - a.lgamma()).sum(-1)
    return log_norms + ((a - b) * (a.digamma() - total.digamma().unsqueeze(-1))).sum(-1)


@register_kl(Cauchy, Cauchy)
def _kl_cauchy(p, q):
    distance = (p.scale + q.scale).square() + (p.loc - q.loc).square()
    return distance.log() - (4 * p.scale * q.scale).log()


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _kl_continuous_bernoulli(p, q):
    def log_norm(d):
        return d._cont_bern_log_norm() + tenon.log1p(-d.probs)

    return p.mean * (p.logits - q.logits) + log_norm(p) - log_norm(q)


@register_kl(Exponential, Exponential)
def _kl_exponential(p, q):
    ratio = q.rate / p.rate
    return ratio - ratio.log() - 1


@register_kl(Gamma, Gamma)
def _kl_gamma(p, q):
    a, b = p.concentration, q.concentration
    return (
        b * (p.rate / q.rate).log() + b.lgamma() - a.lgamma() + (a - b) * a.digamma() + (q.rate - p.rate) * (a / p.rate)
    )


@register_kl(Gumbel, Gumbel)
def _kl_gumbel(p, q):
    ratio = p.scale / q.scale
    distance = (p.loc - q.loc) / q.scale
    return (
        -ratio.log()
        + distance
        + ratio * euler_constant
        + tenon.exp((1 + ratio).lgamma() - distance)
        - (1 + euler_constant)
    )


@register_kl(Laplace, Laplace)
def _kl_laplace(p, q):
    ratio = p.scale / q.scale
    distance = (p.loc - q.loc).abs()
    return -ratio.log() + distance / q.scale + ratio * tenon.exp(-distance / p.scale) - 1


@register_kl(Normal, Normal)
def _kl_normal(p, q):
    variance_ratio = (p.scale / q.scale).square()
    distance = ((p.loc - q.loc) / q.scale).square()
    return 0.5 * (variance_ratio + distance - 1 - variance_ratio.log())


@register_kl(Pareto, Pareto)
def _kl_pareto(p, q):
    ratio = q.alpha / p.alpha
    kl = q.alpha * (p.scale / q.scale).log() - ratio.log() + ratio - 1
    return infinite_where(p.scale < q.scale, kl)


@register_kl(Uniform, Uniform)
def _kl_uniform(p, q):
    kl = ((q.high - q.low) / (p.high - p.low)).log()
    return infinite_where((q.low > p.low) | (q.high < p.high), kl)
