"""TransformedDistribution: a function of a random value."""

import tenon
from tenon.distributions import constraints
from tenon.distributions.distribution import Distribution
from tenon.distributions.independent import Independent
from tenon.distributions.transforms import ComposeTransform, Transform
from tenon.distributions.utils import sum_rightmost

__all__ = ["TransformedDistribution"]


class TransformedDistribution(Distribution):
    """The distribution of y = f(x), where x is of the base distribution and f applies the transforms one after another.

    log p(y) = log p(x) - log |det dy/dx|
    """

    arg_constraints = {}

    def __init__(self, base_distribution, transforms, validate_args=None):
        if isinstance(transforms, Transform):
            self.transforms = [transforms]
        elif isinstance(transforms, list):
            if not all(isinstance(t, Transform) for t in transforms):
                raise ValueError("transforms must be a Transform or a list of Transforms")
            self.transforms = transforms
        else:
            raise ValueError(f"transforms must be a Transform or list, but was {transforms}")

        # The base is expanded to the shape that the transforms' parameters broadcast it to. Dimensions that the transforms
        # take together become its event's.
        shape = base_distribution.batch_shape + base_distribution.event_shape
        transform = ComposeTransform(self.transforms)
        if len(shape) < transform.domain.event_dim:
            raise ValueError(
                f"base_distribution needs to have shape with size at least {transform.domain.event_dim}, "
                f"but got {shape}."
            )
        forward_shape = transform.forward_shape(shape)
        expanded_shape = transform.inverse_shape(forward_shape)
        if shape != expanded_shape:
            base_batch_shape = expanded_shape[: len(expanded_shape) - len(base_distribution.event_shape)]
            base_distribution = base_distribution.expand(base_batch_shape)
        ndims = transform.domain.event_dim - len(base_distribution.event_shape)
        if ndims > 0:
            base_distribution = Independent(base_distribution, ndims)
        self.base_dist = base_distribution

        event_dim = transform.codomain.event_dim + max(
            len(base_distribution.event_shape) - transform.domain.event_dim, 0
        )
        if len(forward_shape) < event_dim:
            raise AssertionError(f"forward_shape length {len(forward_shape)} must be >= event_dim {event_dim}")
        split = len(forward_shape) - event_dim
        super().__init__(forward_shape[:split], forward_shape[split:], validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._get_checked_instance(TransformedDistribution, _instance)
        batch_shape = tenon.Size(batch_shape)
        shape = ComposeTransform(self.transforms).inverse_shape(batch_shape + self._event_shape)
        new.base_dist = self.base_dist.expand(shape[: len(shape) - len(self.base_dist.event_shape)])
        new.transforms = self.transforms
        return self._finish_expand(TransformedDistribution, new, batch_shape, self._event_shape)

    @constraints.dependent_property(is_discrete=False)
    def support(self):
        if not self.transforms:
            return self.base_dist.support
        support = self.transforms[-1].codomain
        ndims = len(self._event_shape) - support.event_dim
        return constraints.independent(support, ndims) if ndims > 0 else support

    @property
    def has_rsample(self):
        return self.base_dist.has_rsample

    def _transformed(self, x):
        for transform in self.transforms:
            x = transform(x)
        return x

    def sample(self, sample_shape=()):
        with tenon.no_grad():
            return self._transformed(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape=()):
        return self._transformed(self.base_dist.rsample(sample_shape))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        event_dim = len(self._event_shape)
        x, log_det = value, 0.0
        for transform in reversed(self.transforms):
            y, x = x, transform.inv(x)
            event_dim += transform.domain.event_dim - transform.codomain.event_dim
            term = transform.log_abs_det_jacobian(x, y)
            log_det = log_det + sum_rightmost(term, event_dim - transform.domain.event_dim)
        return sum_rightmost(self.base_dist.log_prob(x), event_dim - len(self.base_dist.event_shape)) - log_det

    def _flip_if_decreasing(self, probability):
        """1 - p if the transforms together decrease, otherwise p: a decreasing function exchanges smaller and larger."""
        sign = 1
        for transform in self.transforms:
            sign = sign * transform.sign
        if isinstance(sign, int) and sign == 1:
            return probability
        return sign * (probability - 0.5) + 0.5

    def cdf(self, value):
        for transform in reversed(self.transforms):
            value = transform.inv(value)
        if self._validate_args:
            self.base_dist._validate_sample(value)
        return self._flip_if_decreasing(self.base_dist.cdf(value))

    def icdf(self, value):
        return self._transformed(self.base_dist.icdf(self._flip_if_decreasing(value)))
