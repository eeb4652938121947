"""Normal, and what is made of it: HalfNormal, LogNormal, LogisticNormal."""

import math

import tenon
from tenon.distributions import constraints
from tenon.distributions._shared import Half, LocationScale
from tenon.distributions.exp_family import ExponentialFamily
from tenon.distributions.transformed_distribution import TransformedDistribution
from tenon.distributions.transforms import ExpTransform, StickBreakingTransform

__all__ = ["HalfNormal", "LogNormal", "LogisticNormal", "Normal"]


def standard_normal(shape, dtype, device):
    return tenon.empty(shape, dtype=dtype, device=device).normal_()


class Normal(LocationScale, ExponentialFamily):
    """Of the mean loc and the standard deviation scale."""

    _mean_carrier_measure = 0

    def __init__(self, loc, scale, validate_args=None):
        super().__init__(self._take_location_and_scale(loc, scale), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return self._expand_parameters(Normal, batch_shape, _instance, loc=0, scale=0)

    @property
    def mean(self):
        return self.loc

    @property
    def mode(self):
        return self.loc

    @property
    def stddev(self):
        return self.scale

    @property
    def variance(self):
        return self.stddev.square()

    def sample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        with tenon.no_grad():
            return tenon.normal(self.loc.expand(shape), self.scale.expand(shape))

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        return self.loc + standard_normal(shape, self.loc.dtype, self.loc.device) * self.scale

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        z = (value - self.loc) / self.scale
        return -0.5 * z.square() - self.scale.log() - 0.5 * math.log(2 * math.pi)

    def cdf(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return 0.5 * (1 + tenon.erf((value - self.loc) / (self.scale * math.sqrt(2))))

    def icdf(self, value):
        return self.loc + self.scale * tenon.erfinv(2 * value - 1) * math.sqrt(2)

    def entropy(self):
        return 0.5 + 0.5 * math.log(2 * math.pi) + tenon.log(self.scale)

    @property
    def _natural_params(self):
        precision = 1 / self.scale.square()
        return (self.loc * precision, -0.5 * precision)

    def _log_normalizer(self, x, y):
        return -0.25 * x.square() / y + 0.5 * tenon.log(-math.pi / y)


class HalfNormal(Half):
    """|x| of a normal x of mean 0 and the standard deviation scale."""

    def __init__(self, scale, validate_args=None):
        super().__init__(Normal(0, scale, validate_args=False), validate_args=validate_args)

    @property
    def mean(self):
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self):
        return self.scale.square() * (1 - 2 / math.pi)


class LogNormal(TransformedDistribution):
    """exp(x) of a normal x."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, loc, scale, validate_args=None):
        base = Normal(loc, scale, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return super().expand(batch_shape, _instance=self._get_checked_instance(LogNormal, _instance))

    @property
    def loc(self):
        return self.base_dist.loc

    @property
    def scale(self):
        return self.base_dist.scale

    @property
    def mean(self):
        return (self.loc + self.scale.square() / 2).exp()

    @property
    def mode(self):
        return (self.loc - self.scale.square()).exp()

    @property
    def variance(self):
        square = self.scale.square()
        return square.expm1() * (2 * self.loc + square).exp()

    def entropy(self):
        return self.base_dist.entropy() + self.loc


class LogisticNormal(TransformedDistribution):
    """Vectors of K numbers that are positive and add up to 1, by stick breaking of K - 1 normal ones."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, loc, scale, validate_args=None):
        base = Normal(loc, scale, validate_args=validate_args)
        if not base.batch_shape:
            base = base.expand([1])
        super().__init__(base, StickBreakingTransform(), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return super().expand(batch_shape, _instance=self._get_checked_instance(LogisticNormal, _instance))

    @property
    def loc(self):
        return self.base_dist.base_dist.loc

    @property
    def scale(self):
        return self.base_dist.base_dist.scale
