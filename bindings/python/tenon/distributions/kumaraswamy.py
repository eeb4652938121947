"""Kumaraswamy: like Beta, of a distribution function that is a formula."""

import tenon
from tenon.distributions import constraints
from tenon.distributions.transformed_distribution import TransformedDistribution
from tenon.distributions.transforms import AffineTransform, PowerTransform
from tenon.distributions.uniform import Uniform
from tenon.distributions.utils import broadcast_all, euler_constant

__all__ = ["Kumaraswamy"]


class Kumaraswamy(TransformedDistribution):
    """Numbers of (0, 1): P(x <= t) = 1 - (1 - t^a)^b, a = concentration1, b = concentration0."""

    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support = constraints.unit_interval
    has_rsample = True

    def __init__(self, concentration1, concentration0, validate_args=None):
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        base = Uniform(
            tenon.full_like(self.concentration0, 0),
            tenon.full_like(self.concentration0, 1),
            validate_args=validate_args,
        )
        transforms = [
            PowerTransform(exponent=self.concentration0.reciprocal()),
            AffineTransform(loc=1.0, scale=-1.0),
            PowerTransform(exponent=self.concentration1.reciprocal()),
        ]
        super().__init__(base, transforms, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._get_checked_instance(Kumaraswamy, _instance)
        new.concentration1 = self.concentration1.expand(batch_shape)
        new.concentration0 = self.concentration0.expand(batch_shape)
        return super().expand(batch_shape, _instance=new)

    def _moment(self, n):
        """E x^n = b B(1 + n / a, b)"""
        a, b = self.concentration1, self.concentration0
        power = 1 + n / a
        return b * tenon.exp(power.lgamma() + b.lgamma() - (power + b).lgamma())

    @property
    def mean(self):
        return self._moment(1)

    @property
    def mode(self):
        """NaN unless both concentrations are at least 1 and one is above."""
        a, b = self.concentration1, self.concentration0
        mode = ((a - 1) / (a * b - 1)).pow(1 / a)
        return mode.masked_fill((a < 1) | (b < 1), float("nan"))

    @property
    def variance(self):
        return self._moment(2) - self.mean.square()

    def entropy(self):
        a, b = self.concentration1, self.concentration0
        harmonic = tenon.digamma(b + 1) + euler_constant
        return 1 - b.reciprocal() + (1 - a.reciprocal()) * harmonic - a.log() - b.log()
