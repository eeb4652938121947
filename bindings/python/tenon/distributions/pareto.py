"""Pareto and GeneralizedPareto: what lies above a threshold."""

import tenon
from tenon.distributions import constraints
from tenon.distributions.distribution import Distribution
from tenon.distributions.exponential import Exponential
from tenon.distributions.transformed_distribution import TransformedDistribution
from tenon.distributions.transforms import AffineTransform, ExpTransform
from tenon.distributions.utils import broadcast_all, is_only_numbers

__all__ = ["GeneralizedPareto", "Pareto"]


class Pareto(TransformedDistribution):
    """P(x > t) = (scale / t)^alpha, of t >= scale."""

    arg_constraints = {"alpha": constraints.positive, "scale": constraints.positive}

    def __init__(self, scale, alpha, validate_args=None):
        self.scale, self.alpha = broadcast_all(scale, alpha)
        base = Exponential(self.alpha, validate_args=validate_args)
        transforms = [ExpTransform(), AffineTransform(loc=0, scale=self.scale)]
        super().__init__(base, transforms, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._get_checked_instance(Pareto, _instance)
        new.scale = self.scale.expand(batch_shape)
        new.alpha = self.alpha.expand(batch_shape)
        return super().expand(batch_shape, _instance=new)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self):
        return constraints.greater_than_eq(self.scale)

    @property
    def mean(self):
        """Infinite of alpha <= 1."""
        a = self.alpha.clamp(min=1)
        return a * self.scale / (a - 1)

    @property
    def mode(self):
        return self.scale

    @property
    def variance(self):
        """Infinite of alpha <= 2."""
        a = self.alpha.clamp(min=2)
        return self.scale.square() * a / ((a - 1).square() * (a - 2))

    def entropy(self):
        return (self.scale / self.alpha).log() + (1 + self.alpha.reciprocal())


class GeneralizedPareto(Distribution):
    """P(x > t) = (1 + concentration z)^(-1 / concentration), z = (t - loc) / scale; exp(-z) of a concentration of 0."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive, "concentration": constraints.real}
    has_rsample = True

    def __init__(self, loc, scale, concentration, validate_args=None):
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        batch_shape = tenon.Size() if is_only_numbers(loc, scale, concentration) else self.loc.size()
        super().__init__(batch_shape, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return self._expand_parameters(GeneralizedPareto, batch_shape, _instance, loc=0, scale=0, concentration=0)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self):
        upper = tenon.where(self.concentration < 0, self.loc - self.scale / self.concentration, float("inf"))
        return constraints.interval(self.loc, upper)

    def _is_exponential(self):
        return tenon.isclose(self.concentration, tenon.zeros_like(self.concentration))

    def _cut_concentration(self):
        """The concentration, with a harmless one where that is 0."""
        return tenon.where(self._is_exponential(), tenon.ones_like(self.concentration), self.concentration)

    def _z(self, x):
        return (x - self.loc) / self.scale

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        return self.icdf(tenon.rand(shape, dtype=self.loc.dtype, device=self.loc.device))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        z = self._z(value)
        k = self._cut_concentration()
        log_prob = -(1 + 1 / k) * tenon.log1p(k * z)
        return tenon.where(self._is_exponential(), -z, log_prob) - self.scale.log()

    def log_survival_function(self, value):
        """log P(x > value)"""
        if self._validate_args:
            self._validate_sample(value)
        # Below the support all values survive, above it none.
        z = self._z(value).clamp(min=0)
        k = self._cut_concentration()
        return tenon.where(self._is_exponential(), -z, -tenon.log1p((k * z).clamp(min=-1)) / k)

    def log_cdf(self, value):
        return tenon.log1p(-tenon.exp(self.log_survival_function(value)))

    def cdf(self, value):
        return -tenon.expm1(self.log_survival_function(value))

    def icdf(self, value):
        log_survival = tenon.log1p(-value)
        k = self._cut_concentration()
        z = tenon.where(self._is_exponential(), -log_survival, tenon.expm1(-k * log_survival) / k)
        return self.loc + self.scale * z

    @property
    def mean(self):
        """NaN of a concentration >= 1."""
        k = self.concentration.masked_fill(self.concentration >= 1, float("nan"))
        return self.loc + self.scale / (1 - k)

    @property
    def variance(self):
        """NaN of a concentration >= 0.5."""
        k = self.concentration.masked_fill(self.concentration >= 0.5, float("nan"))
        return self.scale.square() / ((1 - k).square() * (1 - 2 * k))

    @property
    def mode(self):
        return self.loc

    def entropy(self):
        return (tenon.log(self.scale) + self.concentration + 1).expand(self._batch_shape)
