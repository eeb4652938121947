"""RelaxedBernoulli: a Bernoulli distribution whose samples have gradients (Maddison, Mnih, Teh 2017)."""

import tenon
from tenon.distributions import constraints
from tenon.distributions._parameters import BinaryProbability
from tenon.distributions.distribution import Distribution
from tenon.distributions.transformed_distribution import TransformedDistribution
from tenon.distributions.transforms import SigmoidTransform
from tenon.distributions.utils import broadcast_all, clamp_probs, probs_to_logits

__all__ = ["LogitRelaxedBernoulli", "RelaxedBernoulli"]


class LogitRelaxedBernoulli(BinaryProbability, Distribution):
    """The logits of RelaxedBernoulli: (logits + a logistic number) / temperature."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.real

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        self.temperature = temperature
        batch_shape, _ = self._take_probability(probs, logits)
        super().__init__(batch_shape, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._expand_probability(LogitRelaxedBernoulli, batch_shape, _instance)
        new.temperature = self.temperature
        return new

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        probs = clamp_probs(self.probs.expand(shape))
        uniforms = clamp_probs(tenon.rand(shape, dtype=probs.dtype, device=probs.device))
        return (probs_to_logits(uniforms, is_binary=True) + probs_to_logits(probs, is_binary=True)) / self.temperature

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        difference = logits - value * self.temperature
        return self.temperature.log() + difference - 2 * tenon.nn.functional.softplus(difference)


class RelaxedBernoulli(TransformedDistribution):
    """Numbers of (0, 1), the nearer to 0 and 1 the lower the temperature."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        super().__init__(
            LogitRelaxedBernoulli(temperature, probs, logits), SigmoidTransform(), validate_args=validate_args
        )

    def expand(self, batch_shape, _instance=None):
        return super().expand(batch_shape, _instance=self._get_checked_instance(RelaxedBernoulli, _instance))

    @property
    def temperature(self):
        return self.base_dist.temperature

    @property
    def logits(self):
        return self.base_dist.logits

    @property
    def probs(self):
        return self.base_dist.probs
