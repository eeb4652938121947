"""Poisson: how many events there are, of a rate."""

import tenon
from tenon.distributions import constraints
from tenon.distributions.exp_family import ExponentialFamily
from tenon.distributions.utils import broadcast_all, is_only_numbers

__all__ = ["Poisson"]


class Poisson(ExponentialFamily):
    """k = 0, 1, ... with the probability rate^k exp(-rate) / k!"""

    arg_constraints = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer

    def __init__(self, rate, validate_args=None):
        (self.rate,) = broadcast_all(rate)
        batch_shape = tenon.Size() if is_only_numbers(rate) else self.rate.size()
        super().__init__(batch_shape, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return self._expand_parameters(Poisson, batch_shape, _instance, rate=0)

    @property
    def mean(self):
        return self.rate

    @property
    def mode(self):
        return self.rate.floor()

    @property
    def variance(self):
        return self.rate

    def sample(self, sample_shape=()):
        with tenon.no_grad():
            return tenon.poisson(self.rate.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        rate, value = broadcast_all(self.rate, value)
        return value.xlogy(rate) - rate - (value + 1).lgamma()

    @property
    def _natural_params(self):
        return (tenon.log(self.rate),)

    def _log_normalizer(self, x):
        return tenon.exp(x)
