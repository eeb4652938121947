"""Gumbel: the largest of many numbers."""

import math

import tenon
from tenon.distributions import constraints
from tenon.distributions.transformed_distribution import TransformedDistribution
from tenon.distributions.transforms import AffineTransform, ExpTransform
from tenon.distributions.uniform import Uniform
from tenon.distributions.utils import broadcast_all, euler_constant, is_only_numbers

__all__ = ["Gumbel"]


class Gumbel(TransformedDistribution):
    """loc - scale log(-log(u)) of a uniform u: P(x <= t) = exp(-exp(-(t - loc) / scale))."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real

    def __init__(self, loc, scale, validate_args=None):
        self.loc, self.scale = broadcast_all(loc, scale)
        limits = tenon.finfo(self.loc.dtype)
        low, high = limits.tiny, 1 - limits.eps
        if is_only_numbers(loc, scale):
            base = Uniform(low, high, validate_args=validate_args)
        else:
            base = Uniform(tenon.full_like(self.loc, low), tenon.full_like(self.loc, high), validate_args=validate_args)
        super().__init__(base, self._make_transforms(), validate_args=validate_args)

    def _make_transforms(self):
        minus_log = [ExpTransform().inv, AffineTransform(loc=0, scale=-tenon.ones_like(self.scale))]
        return [*minus_log, ExpTransform().inv, AffineTransform(loc=self.loc, scale=-self.scale)]

    def expand(self, batch_shape, _instance=None):
        new = self._get_checked_instance(Gumbel, _instance)
        new.loc = self.loc.expand(batch_shape)
        new.scale = self.scale.expand(batch_shape)
        return super().expand(batch_shape, _instance=new)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        y = (self.loc - value) / self.scale
        return y - y.exp() - self.scale.log()

    @property
    def mean(self):
        return self.loc + self.scale * euler_constant

    @property
    def mode(self):
        return self.loc

    @property
    def stddev(self):
        return math.pi / math.sqrt(6) * self.scale

    @property
    def variance(self):
        return self.stddev.square()

    def entropy(self):
        return self.scale.log() + (1 + euler_constant)
