"""Laplace: the exponential distribution to both sides."""

import math

import tenon
from tenon.distributions._shared import LocationScale
from tenon.distributions.distribution import Distribution

__all__ = ["Laplace"]


class Laplace(LocationScale, Distribution):
    """The density exp(-|x - loc| / scale) / (2 scale)."""

    def __init__(self, loc, scale, validate_args=None):
        super().__init__(self._take_location_and_scale(loc, scale), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return self._expand_parameters(Laplace, batch_shape, _instance, loc=0, scale=0)

    @property
    def mean(self):
        return self.loc

    @property
    def mode(self):
        return self.loc

    @property
    def variance(self):
        return 2 * self.scale.square()

    @property
    def stddev(self):
        return math.sqrt(2) * self.scale

    def rsample(self, sample_shape=()):
        # u in (-1, 1): -1, whose logarithm is infinite, is left out.
        u = tenon.empty(self._extended_shape(sample_shape), dtype=self.loc.dtype, device=self.loc.device)
        u.uniform_(tenon.finfo(self.loc.dtype).eps - 1, 1)
        return self.loc - self.scale * u.sign() * tenon.log1p(-u.abs())

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return -tenon.log(2 * self.scale) - tenon.abs(value - self.loc) / self.scale

    def cdf(self, value):
        if self._validate_args:
            self._validate_sample(value)
        offset = value - self.loc
        return 0.5 - 0.5 * offset.sign() * tenon.expm1(-offset.abs() / self.scale)

    def icdf(self, value):
        term = value - 0.5
        return self.loc - self.scale * term.sign() * tenon.log1p(-2 * term.abs())

    def entropy(self):
        return 1 + tenon.log(2 * self.scale)
