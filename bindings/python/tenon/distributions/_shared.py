"""What distributions share: two parameters of place and width, halves of symmetric ones, matrices given by a triangular factor."""

import math

import tenon
from tenon.distributions import constraints
from tenon.distributions.transformed_distribution import TransformedDistribution
from tenon.distributions.transforms import AbsTransform
from tenon.distributions.utils import broadcast_all, is_only_numbers, lazy_property


class LocationScale:
    """Of distributions of real numbers with the parameters loc and scale."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def _take_location_and_scale(self, loc, scale):
        """Keeps both, broadcast; returns the batch shape."""
        self.loc, self.scale = broadcast_all(loc, scale)
        return tenon.Size() if is_only_numbers(loc, scale) else self.loc.size()


class Half(TransformedDistribution):
    """|x| of a symmetric x: base_dist, with the parameter scale."""

    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, base, validate_args=None):
        super().__init__(base, AbsTransform(), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return super().expand(batch_shape, _instance=self._get_checked_instance(type(self), _instance))

    @property
    def scale(self):
        return self.base_dist.scale

    @property
    def mode(self):
        return tenon.zeros_like(self.scale)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        value = tenon.as_tensor(value, dtype=self.scale.dtype, device=self.scale.device)
        log_prob = self.base_dist.log_prob(value) + math.log(2)
        return tenon.where(value >= 0, log_prob, -float("inf"))

    def cdf(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, prob):
        return self.base_dist.icdf((prob + 1) / 2)

    def entropy(self):
        return self.base_dist.entropy() - math.log(2)


class TriangularFactor:
    """Of distributions with a positive definite matrix, of which _unbroadcasted_scale_tril is the factor."""

    def _expanded_matrix(self, matrix):
        return matrix.expand(self._batch_shape + matrix.shape[-2:])

    @lazy_property
    def scale_tril(self):
        return self._expanded_matrix(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self):
        factor = self._unbroadcasted_scale_tril
        return self._expanded_matrix(factor @ factor.mT)

    @lazy_property
    def precision_matrix(self):
        return self._expanded_matrix(tenon.cholesky_inverse(self._unbroadcasted_scale_tril))
