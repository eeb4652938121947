"""Cauchy and HalfCauchy."""

import math

import tenon
from tenon.distributions import constraints
from tenon.distributions.distribution import Distribution
from tenon.distributions.transformed_distribution import TransformedDistribution
from tenon.distributions.transforms import AbsTransform
from tenon.distributions.utils import broadcast_all, is_only_numbers

__all__ = ["Cauchy", "HalfCauchy"]


class Cauchy(Distribution):
    """Of the median loc and the half width at half maximum scale; the quotient of two normal numbers."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, loc, scale, validate_args=None):
        self.loc, self.scale = broadcast_all(loc, scale)
        batch_shape = tenon.Size() if is_only_numbers(loc, scale) else self.loc.size()
        super().__init__(batch_shape, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return self._expand_parameters(Cauchy, batch_shape, _instance, loc=0, scale=0)

    @property
    def mean(self):
        """NaN: the integral does not exist."""
        return tenon.full_like(self.loc, float("nan")).expand(self._extended_shape())

    @property
    def mode(self):
        return self.loc

    @property
    def variance(self):
        return tenon.full_like(self.loc, float("inf")).expand(self._extended_shape())

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        return self.loc + tenon.empty(shape, dtype=self.loc.dtype, device=self.loc.device).cauchy_() * self.scale

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return -math.log(math.pi) - self.scale.log() - ((value - self.loc) / self.scale).square().log1p()

    def cdf(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return tenon.atan((value - self.loc) / self.scale) / math.pi + 0.5

    def icdf(self, value):
        return tenon.tan(math.pi * (value - 0.5)) * self.scale + self.loc

    def entropy(self):
        return math.log(4 * math.pi) + self.scale.log()


class HalfCauchy(TransformedDistribution):
    """|x| of a Cauchy x of median 0."""

    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, scale, validate_args=None):
        super().__init__(Cauchy(0, scale, validate_args=False), AbsTransform(), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return super().expand(batch_shape, _instance=self._get_checked_instance(HalfCauchy, _instance))

    @property
    def scale(self):
        return self.base_dist.scale

    @property
    def mean(self):
        return tenon.full(self._extended_shape(), float("inf"), dtype=self.scale.dtype, device=self.scale.device)

    @property
    def mode(self):
        return tenon.zeros_like(self.scale)

    @property
    def variance(self):
        return self.base_dist.variance

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        value = tenon.as_tensor(value, dtype=self.base_dist.scale.dtype, device=self.base_dist.scale.device)
        log_prob = self.base_dist.log_prob(value) + math.log(2)
        return tenon.where(value >= 0, log_prob, -float("inf"))

    def cdf(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, prob):
        return self.base_dist.icdf((prob + 1) / 2)

    def entropy(self):
        return self.base_dist.entropy() - math.log(2)
