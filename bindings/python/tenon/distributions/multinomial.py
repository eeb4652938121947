"""Multinomial: how often each of K categories comes up in n trials."""

import tenon
from tenon.distributions import constraints
from tenon.distributions.binomial import Binomial
from tenon.distributions.categorical import Categorical
from tenon.distributions.distribution import Distribution
from tenon.distributions.utils import broadcast_all

__all__ = ["Multinomial"]


class Multinomial(Distribution):
    """Counts of K categories in total_count trials, with the probabilities of Categorical(probs, logits)."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}

    def __init__(self, total_count=1, probs=None, logits=None, validate_args=None):
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        self._categorical = Categorical(probs=probs, logits=logits)
        self._binomial = Binomial(total_count=total_count, probs=self.probs)
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:], validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._get_checked_instance(Multinomial, _instance)
        batch_shape = tenon.Size(batch_shape)
        new.total_count = self.total_count
        new._categorical = self._categorical.expand(batch_shape)
        new._binomial = self._binomial.expand(batch_shape + self._event_shape)
        return self._finish_expand(Multinomial, new, batch_shape, self._event_shape)

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self):
        return constraints.multinomial(self.total_count)

    @property
    def probs(self):
        return self._categorical.probs

    @property
    def logits(self):
        return self._categorical.logits

    @property
    def param_shape(self):
        return self._categorical.param_shape

    @property
    def mean(self):
        return self.probs * self.total_count

    @property
    def variance(self):
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape=()):
        trials = self._categorical.sample((self.total_count, *sample_shape)).movedim(0, -1)
        counts = tenon.zeros(self._extended_shape(sample_shape), dtype=trials.dtype, device=trials.device)
        counts.scatter_add_(-1, trials, tenon.ones_like(trials))
        return counts.type_as(self.probs)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        # 0 log(0) is 0: no trial gives a category of probability 0.
        logits = logits.masked_fill((value == 0) & (logits == -float("inf")), 0)
        return tenon.lgamma(value.sum(-1) + 1) - tenon.lgamma(value + 1).sum(-1) + (logits * value).sum(-1)

    def entropy(self):
        # n H(Categorical) - log(n!) + E log(k!), summed over the categories, whose counts are binomial.
        n = tenon.tensor(self.total_count, dtype=self.probs.dtype, device=self.probs.device)
        counts = self._binomial.enumerate_support(expand=False)[1:]
        log_factorials = (tenon.exp(self._binomial.log_prob(counts)) * tenon.lgamma(counts + 1)).sum([0, -1])
        return n * self._categorical.entropy() - tenon.lgamma(n + 1) + log_factorials
