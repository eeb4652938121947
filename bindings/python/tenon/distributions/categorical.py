"""Categorical: one of K numbers."""

import tenon
from tenon.distributions import constraints
from tenon.distributions.distribution import Distribution
from tenon.distributions.utils import lazy_property, logits_to_probs, probs_to_logits

__all__ = ["Categorical"]


class Categorical(Distribution):
    """0, ..., K - 1, with the probabilities in the last dimension of probs, divided by their sum, or of logits."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True

    def __init__(self, probs=None, logits=None, validate_args=None):
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        if probs is not None:
            if probs.dim() < 1:
                raise ValueError("`probs` parameter must be at least one-dimensional.")
            self.probs = self._param = probs / probs.sum(-1, keepdim=True)
        else:
            if logits.dim() < 1:
                raise ValueError("`logits` parameter must be at least one-dimensional.")
            self.logits = self._param = logits - logits.logsumexp(-1, keepdim=True)
        self._num_events = self._param.size()[-1]
        super().__init__(self._param.size()[:-1], validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._expand_parameters(Categorical, batch_shape, _instance, probs=1, logits=1)
        new._param = new.__dict__["probs" if "probs" in new.__dict__ else "logits"]
        new._num_events = self._num_events
        return new

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self):
        return constraints.integer_interval(0, self._num_events - 1)

    @lazy_property
    def logits(self):
        return probs_to_logits(self.probs)

    @lazy_property
    def probs(self):
        return logits_to_probs(self.logits)

    @property
    def param_shape(self):
        return self._param.size()

    def _not_a_number(self):
        return tenon.full(self._extended_shape(), float("nan"), dtype=self.probs.dtype, device=self.probs.device)

    @property
    def mean(self):
        """NaN: categories are no quantities."""
        return self._not_a_number()

    @property
    def mode(self):
        return self.probs.argmax(-1)

    @property
    def variance(self):
        return self._not_a_number()

    def sample(self, sample_shape=()):
        sample_shape = tenon.Size(sample_shape)
        with tenon.no_grad():
            rows = self.probs.reshape(-1, self._num_events)
            return tenon.multinomial(rows, sample_shape.numel(), True).T.reshape(self._extended_shape(sample_shape))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        value = value.long().unsqueeze(-1)
        shape = tenon.broadcast_shapes(value.shape, self.logits.shape[:-1] + (1,))
        logits = self.logits.expand(shape[:-1] + self.logits.shape[-1:])
        return logits.gather(-1, value.expand(shape)).squeeze(-1)

    def entropy(self):
        logits = self.logits.clamp(min=tenon.finfo(self.logits.dtype).min)  # of probability 0
        return -(logits * self.probs).sum(-1)

    def enumerate_support(self, expand=True):
        values = tenon.arange(self._num_events, dtype=tenon.int64, device=self._param.device)
        values = values.view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1,) + self._batch_shape) if expand else values
