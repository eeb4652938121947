"""Cauchy and HalfCauchy."""

import math

import tenon
from tenon.distributions._shared import Half, LocationScale
from tenon.distributions.distribution import Distribution

__all__ = ["Cauchy", "HalfCauchy"]


class Cauchy(LocationScale, Distribution):
    """Of the median loc and the half width at half maximum scale; the quotient of two normal numbers."""

    def __init__(self, loc, scale, validate_args=None):
        super().__init__(self._take_location_and_scale(loc, scale), validate_args=validate_args)

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


class HalfCauchy(Half):
    """|x| of a Cauchy x of median 0."""

    def __init__(self, scale, validate_args=None):
        super().__init__(Cauchy(0, scale, validate_args=False), validate_args=validate_args)

    @property
    def mean(self):
        return tenon.full(self._extended_shape(), float("inf"), dtype=self.scale.dtype, device=self.scale.device)

    @property
    def variance(self):
        return self.base_dist.variance
