"""Binomial: how many of n trials succeed."""

import tenon
from tenon.distributions import constraints
from tenon.distributions._parameters import BinaryProbability
from tenon.distributions.distribution import Distribution

__all__ = ["Binomial"]


def softplus_of(x):
    """log(1 + exp(x)), of which only exponentials of negative numbers are taken."""
    # The halves of |x| give x = 0 the derivative 1/2.
    return (x + x.abs()) / 2 + (-x.abs()).exp().log1p()


class Binomial(BinaryProbability, Distribution):
    """How many of total_count trials succeed, each with the probability probs = sigmoid(logits)."""

    arg_constraints = {
        "total_count": constraints.nonnegative_integer,
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    has_enumerate_support = True

    def __init__(self, total_count=1, probs=None, logits=None, validate_args=None):
        _, (self.total_count,) = self._take_probability(probs, logits, total_count)
        self.total_count = self.total_count.type_as(self._param)
        super().__init__(self._param.size(), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return self._expand_probability(Binomial, batch_shape, _instance, total_count=0)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self):
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self):
        return self.total_count * self.probs

    @property
    def mode(self):
        return ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count)

    @property
    def variance(self):
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        with tenon.no_grad():
            return tenon.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        n, logits = self.total_count, self.logits
        # log(n! / (k! (n - k)!)) + k log(p) + (n - k) log(1 - p), where log(1 - p) = -softplus(logits)
        log_choices = tenon.lgamma(n + 1) - tenon.lgamma(value + 1) - tenon.lgamma(n - value + 1)
        return log_choices + value * logits - n * softplus_of(logits)

    def entropy(self):
        total_count = int(self.total_count.max())
        if not self.total_count.min() == total_count:
            raise NotImplementedError("Inhomogeneous total count not supported by `entropy`.")
        log_prob = self.log_prob(self.enumerate_support(False))
        return -(tenon.exp(log_prob) * log_prob).sum(0)

    def enumerate_support(self, expand=True):
        total_count = int(self.total_count.max())
        if not self.total_count.min() == total_count:
            raise NotImplementedError("Inhomogeneous total count not supported by `enumerate_support`.")
        values = tenon.arange(1 + total_count, dtype=self._param.dtype, device=self._param.device)
        values = values.view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1,) + self._batch_shape) if expand else values
