"""Geometric: how many trials fail before the first success."""

import tenon
from tenon.distributions import constraints
from tenon.distributions._parameters import BinaryProbability
from tenon.distributions.bernoulli import bernoulli_entropy
from tenon.distributions.distribution import Distribution
from tenon.distributions.utils import broadcast_all

__all__ = ["Geometric"]


class Geometric(BinaryProbability, Distribution):
    """k = 0, 1, ... with the probability (1 - p)^k p, p = probs = sigmoid(logits)."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.nonnegative_integer

    def __init__(self, probs=None, logits=None, validate_args=None):
        batch_shape, _ = self._take_probability(probs, logits)
        super().__init__(batch_shape, validate_args=validate_args)
        if self._validate_args and probs is not None:
            value = self.probs
            if not (value > 0).all():
                raise ValueError(
                    f"Expected parameter probs ({type(value).__name__} of shape {tuple(value.shape)}) "
                    f"of distribution {self!r} to be positive but found invalid values:\n{value[~(value > 0)]}"
                )

    def expand(self, batch_shape, _instance=None):
        return self._expand_probability(Geometric, batch_shape, _instance)

    @property
    def mean(self):
        return 1.0 / self.probs - 1.0

    @property
    def mode(self):
        return tenon.zeros_like(self.probs)

    @property
    def variance(self):
        return (1.0 / self.probs - 1.0) / self.probs

    def sample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        with tenon.no_grad():
            u = tenon.empty(shape, dtype=self.probs.dtype, device=self.probs.device)
            u.uniform_(tenon.finfo(self.probs.dtype).tiny, 1)
            return (u.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        value, probs = broadcast_all(value, self.probs)
        # 0 log(0) is 0: no trial fails where p is 1.
        probs = probs.masked_fill((probs == 1) & (value == 0), 0)
        return value * (-probs).log1p() + self.probs.log()

    def entropy(self):
        return bernoulli_entropy(self.logits, self.probs) / self.probs
