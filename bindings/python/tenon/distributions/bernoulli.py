"""Bernoulli: 1 with probability p, else 0."""

import tenon
from tenon.distributions import constraints
from tenon.distributions._parameters import BinaryProbability
from tenon.distributions.exp_family import ExponentialFamily
from tenon.distributions.utils import broadcast_all

__all__ = ["Bernoulli"]


def bernoulli_log_prob(logits, value):
    """value log(p) + (1 - value) log(1 - p)"""
    logits, value = broadcast_all(logits, value)
    return -tenon.nn.functional.binary_cross_entropy_with_logits(logits, value, reduction="none")


def bernoulli_entropy(logits, probs):
    return tenon.nn.functional.binary_cross_entropy_with_logits(logits, probs, reduction="none")


class Bernoulli(BinaryProbability, ExponentialFamily):
    """1 with the probability probs = sigmoid(logits), else 0."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.boolean
    has_enumerate_support = True
    _mean_carrier_measure = 0

    def __init__(self, probs=None, logits=None, validate_args=None):
        batch_shape, _ = self._take_probability(probs, logits)
        super().__init__(batch_shape, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return self._expand_probability(Bernoulli, batch_shape, _instance)

    @property
    def mean(self):
        return self.probs

    @property
    def mode(self):
        """NaN if both values are as likely."""
        mode = (self.probs >= 0.5).to(self.probs)
        return mode.masked_fill(self.probs == 0.5, float("nan"))

    @property
    def variance(self):
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape=()):
        with tenon.no_grad():
            return tenon.bernoulli(self.probs.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return bernoulli_log_prob(self.logits, value)

    def entropy(self):
        return bernoulli_entropy(self.logits, self.probs)

    def enumerate_support(self, expand=True):
        values = tenon.arange(2, dtype=self._param.dtype, device=self._param.device)
        values = values.view((2,) + (1,) * len(self._batch_shape))
        return values.expand((2,) + self._batch_shape) if expand else values

    @property
    def _natural_params(self):
        return (self.logits,)

    def _log_normalizer(self, x):
        return x.exp().log1p()
