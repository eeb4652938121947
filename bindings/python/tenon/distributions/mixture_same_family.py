"""MixtureSameFamily: a mixture whose components are one batch."""

import tenon
from tenon.distributions import constraints
from tenon.distributions.categorical import Categorical
from tenon.distributions.constraints import MixtureSameFamilyConstraint
from tenon.distributions.distribution import Distribution
from tenon.distributions.utils import is_broadcastable

__all__ = ["MixtureSameFamily"]


class MixtureSameFamily(Distribution):
    """A mixture: the Categorical chooses among the last batch dimension of the component distribution."""

    arg_constraints = {}
    has_rsample = False

    def __init__(self, mixture_distribution, component_distribution, validate_args=None):
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(" The Mixture distribution needs to be an  instance of tenon.distributions.Categorical")
        if not isinstance(component_distribution, Distribution):
            raise ValueError("The Component distribution needs to be an instance of tenon.distributions.Distribution")
        mixture_batch = mixture_distribution.batch_shape
        batch = component_distribution.batch_shape[:-1]
        if not is_broadcastable(mixture_batch, batch):
            raise ValueError(
                f"`mixture_distribution.batch_shape` ({mixture_batch}) is not compatible with "
                f"`component_distribution.batch_shape`({batch})"
            )
        categories = mixture_distribution.logits.shape[-1]
        components = component_distribution.batch_shape[-1]
        if categories != components:
            raise ValueError(
                f"`mixture_distribution component` ({categories}) does not equal "
                f"`component_distribution.batch_shape[-1]` ({components})"
            )
        self._mixture_distribution = mixture_distribution
        self._component_distribution = component_distribution
        self._num_component = components
        event_shape = component_distribution.event_shape
        self._event_ndims = len(event_shape)
        super().__init__(batch_shape=batch, event_shape=event_shape, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._get_checked_instance(MixtureSameFamily, _instance)
        batch_shape = tenon.Size(batch_shape)
        new._mixture_distribution = self._mixture_distribution.expand(batch_shape)
        new._component_distribution = self._component_distribution.expand(batch_shape + (self._num_component,))
        new._num_component = self._num_component
        new._event_ndims = self._event_ndims
        return self._finish_expand(MixtureSameFamily, new, batch_shape, self._event_shape)

    @constraints.dependent_property
    def support(self):
        return MixtureSameFamilyConstraint(self._component_distribution.support)

    @property
    def mixture_distribution(self):
        return self._mixture_distribution

    @property
    def component_distribution(self):
        return self._component_distribution

    def _weights(self):
        """The components' probabilities, with ones for the event's dimensions."""
        probs = self.mixture_distribution.probs
        return probs.reshape(probs.shape + (1,) * self._event_ndims)

    def _pad(self, x):
        """The values with a dimension for the components."""
        return x.unsqueeze(-1 - self._event_ndims)

    @property
    def mean(self):
        return (self._weights() * self.component_distribution.mean).sum(-1 - self._event_ndims)

    @property
    def variance(self):
        # The mean of the variances and the variance of the means.
        dim = -1 - self._event_ndims
        within = (self._weights() * self.component_distribution.variance).sum(dim)
        between = (self._weights() * (self.component_distribution.mean - self._pad(self.mean)).square()).sum(dim)
        return within + between

    def cdf(self, x):
        return (self.component_distribution.cdf(self._pad(x)) * self.mixture_distribution.probs).sum(-1)

    def log_prob(self, x):
        if self._validate_args:
            self._validate_sample(x)
        log_prob = self.component_distribution.log_prob(self._pad(x))
        return tenon.logsumexp(log_prob + self.mixture_distribution.logits.log_softmax(-1), -1)

    def sample(self, sample_shape=()):
        with tenon.no_grad():
            mixture = self.mixture_distribution
            if mixture.batch_shape != self._batch_shape:
                mixture = mixture.expand(self._batch_shape)
            chosen = mixture.sample(sample_shape)
            values = self.component_distribution.sample(sample_shape)
            dim = values.dim() - 1 - self._event_ndims
            chosen = chosen.reshape(chosen.shape + (1,) * (1 + self._event_ndims))
            chosen = chosen.expand(values.shape[:dim] + (1,) + self._event_shape)
            return values.gather(dim, chosen).squeeze(dim)

    def __repr__(self):
        return f"MixtureSameFamily(\n  {self.mixture_distribution!r},\n  {self.component_distribution!r})"
