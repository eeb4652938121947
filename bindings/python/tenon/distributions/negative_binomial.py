"""NegativeBinomial: how many trials succeed before a number of them fails."""

import tenon
from tenon.distributions import constraints
from tenon.distributions._parameters import BinaryProbability
from tenon.distributions.distribution import Distribution
from tenon.distributions.gamma import Gamma
from tenon.distributions.utils import lazy_property

__all__ = ["NegativeBinomial"]


class NegativeBinomial(BinaryProbability, Distribution):
    """How many trials succeed, each with the probability probs = sigmoid(logits), before total_count of them fail."""

    arg_constraints = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer

    def __init__(self, total_count, probs=None, logits=None, validate_args=None):
        _, (self.total_count,) = self._take_probability(probs, logits, total_count)
        self.total_count = self.total_count.type_as(self._param)
        super().__init__(self._param.size(), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return self._expand_probability(NegativeBinomial, batch_shape, _instance, total_count=0)

    @property
    def mean(self):
        return self.total_count * tenon.exp(self.logits)

    @property
    def mode(self):
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0)

    @property
    def variance(self):
        return self.mean / tenon.sigmoid(-self.logits)

    @lazy_property
    def _gamma(self):
        """Of the rates: the distribution is a mixture of Poisson distributions."""
        return Gamma(concentration=self.total_count, rate=tenon.exp(-self.logits), validate_args=False)

    def sample(self, sample_shape=()):
        with tenon.no_grad():
            return tenon.poisson(self._gamma.sample(sample_shape))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        n = self.total_count
        log_choices = tenon.lgamma(n + value) - tenon.lgamma(1.0 + value) - tenon.lgamma(n)
        # Where nothing fails and nothing succeeds the probability is 1, and lgamma(0) - lgamma(0) no number.
        log_choices = log_choices.masked_fill(n + value == 0.0, 0.0)
        logsigmoid = tenon.nn.functional.logsigmoid
        return n * logsigmoid(-self.logits) + value * logsigmoid(self.logits) + log_choices
