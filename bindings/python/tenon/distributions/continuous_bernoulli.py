"""ContinuousBernoulli: the density C(p) p^x (1 - p)^(1 - x) on [0, 1] (Loaiza-Ganem, Cunningham 2019)."""

import math

import tenon
from tenon.distributions import constraints
from tenon.distributions._parameters import BinaryProbability
from tenon.distributions.bernoulli import bernoulli_log_prob
from tenon.distributions.exp_family import ExponentialFamily
from tenon.distributions.utils import clamp_probs, lazy_property, logits_to_probs

__all__ = ["ContinuousBernoulli"]


class ContinuousBernoulli(BinaryProbability, ExponentialFamily):
    """Values in [0, 1] of the density C p^x (1 - p)^(1 - x), p = probs = sigmoid(logits).

    lims: between them, around p = 0.5 where the formulas divide 0 by 0, Taylor series are used.
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    _mean_carrier_measure = 0
    has_rsample = True

    def __init__(self, probs=None, logits=None, lims=(0.499, 0.501), validate_args=None):
        batch_shape, _ = self._take_probability(probs, logits)
        if probs is not None:
            # Before they are clamped, after which all are valid.
            if validate_args is not None and not self.arg_constraints["probs"].check(self.probs).all():
                raise ValueError("The parameter probs has invalid values")
            self.probs = self._param = clamp_probs(self.probs)
        self._lims = lims
        super().__init__(batch_shape, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._expand_probability(ContinuousBernoulli, batch_shape, _instance)
        new._lims = self._lims
        return new

    @lazy_property
    def probs(self):
        return clamp_probs(logits_to_probs(self.logits, is_binary=True))

    def _outside_unstable_region(self):
        return (self.probs <= self._lims[0]) | (self.probs > self._lims[1])

    def _cut_probs(self):
        """The probabilities, with a harmless one where the series are used."""
        return tenon.where(self._outside_unstable_region(), self.probs, self._lims[0] * tenon.ones_like(self.probs))

    def _cont_bern_log_norm(self):
        """log C = log(2 atanh(1 - 2 p) / (1 - 2 p))"""
        p = self._cut_probs()
        log_norm = ((-p).log1p() - p.log()).abs().log() - (1 - 2 * p).abs().log()
        x = (self.probs - 0.5).square()
        return tenon.where(self._outside_unstable_region(), log_norm, math.log(2.0) + (4 / 3 + 104 / 45 * x) * x)

    @property
    def mean(self):
        p = self._cut_probs()
        mean = p / (2 * p - 1) + 1 / ((-p).log1p() - p.log())
        x = self.probs - 0.5
        return tenon.where(self._outside_unstable_region(), mean, 0.5 + (1 / 3 + 16 / 45 * x.square()) * x)

    @property
    def variance(self):
        p = self._cut_probs()
        variance = p * (p - 1) / (1 - 2 * p).square() + 1 / ((-p).log1p() - p.log()).square()
        x = (self.probs - 0.5).square()
        return tenon.where(self._outside_unstable_region(), variance, 1 / 12 - (1 / 15 - 128 / 945 * x) * x)

    @property
    def stddev(self):
        return self.variance.sqrt()

    def _uniform(self, sample_shape):
        shape = self._extended_shape(sample_shape)
        return tenon.rand(shape, dtype=self.probs.dtype, device=self.probs.device)

    def sample(self, sample_shape=()):
        with tenon.no_grad():
            return self.icdf(self._uniform(sample_shape))

    def rsample(self, sample_shape=()):
        return self.icdf(self._uniform(sample_shape))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return bernoulli_log_prob(self.logits, value) + self._cont_bern_log_norm()

    def cdf(self, value):
        if self._validate_args:
            self._validate_sample(value)
        p = self._cut_probs()
        cdf = (p.pow(value) * (1 - p).pow(1 - value) + p - 1) / (2 * p - 1)
        cdf = tenon.where(self._outside_unstable_region(), cdf, value)
        return tenon.where(value <= 0, tenon.zeros_like(cdf), tenon.where(value >= 1, tenon.ones_like(cdf), cdf))

    def icdf(self, value):
        p = self._cut_probs()
        icdf = ((-p + value * (2 * p - 1)).log1p() - (-p).log1p()) / (p.log() - (-p).log1p())
        return tenon.where(self._outside_unstable_region(), icdf, value)

    def entropy(self):
        log_not_p = (-self.probs).log1p()
        return self.mean * (log_not_p - self.probs.log()) - self._cont_bern_log_norm() - log_not_p

    @property
    def _natural_params(self):
        return (self.logits,)

    def _log_normalizer(self, x):
        """log((exp(x) - 1) / x), a Taylor series around 0."""
        is_outside = (x <= self._lims[0] - 0.5) | (x > self._lims[1] - 0.5)
        cut = tenon.where(is_outside, x, (self._lims[0] - 0.5) * tenon.ones_like(x))
        log_norm = (cut.exp() - 1).abs().log() - cut.abs().log()
        return tenon.where(is_outside, log_norm, 0.5 * x + x.square() / 24 - x.pow(4) / 2880)
