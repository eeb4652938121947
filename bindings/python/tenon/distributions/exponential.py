"""Exponential: the time until an event."""

import tenon
from tenon.distributions import constraints
from tenon.distributions.exp_family import ExponentialFamily
from tenon.distributions.utils import broadcast_all, is_only_numbers

__all__ = ["Exponential"]


class Exponential(ExponentialFamily):
    """The density rate exp(-rate x), of x >= 0."""

    arg_constraints = {"rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, rate, validate_args=None):
        (self.rate,) = broadcast_all(rate)
        batch_shape = tenon.Size() if is_only_numbers(rate) else self.rate.size()
        super().__init__(batch_shape, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return self._expand_parameters(Exponential, batch_shape, _instance, rate=0)

    @property
    def mean(self):
        return self.rate.reciprocal()

    @property
    def mode(self):
        return tenon.zeros_like(self.rate)

    @property
    def stddev(self):
        return self.rate.reciprocal()

    @property
    def variance(self):
        return self.rate.pow(-2)

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        return tenon.empty(shape, dtype=self.rate.dtype, device=self.rate.device).exponential_() / self.rate

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return self.rate.log() - self.rate * value

    def cdf(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return 1 - tenon.exp(-self.rate * value)

    def icdf(self, value):
        return -tenon.log1p(-value) / self.rate

    def entropy(self):
        return 1.0 - tenon.log(self.rate)

    @property
    def _natural_params(self):
        return (-self.rate,)

    def _log_normalizer(self, x):
        return -tenon.log(-x)
