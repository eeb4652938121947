"""Weibull: the time until a failure whose rate is a power of time."""

import tenon
from tenon.distributions import constraints
from tenon.distributions.exponential import Exponential
from tenon.distributions.transformed_distribution import TransformedDistribution
from tenon.distributions.transforms import AffineTransform, PowerTransform
from tenon.distributions.utils import broadcast_all, euler_constant

__all__ = ["Weibull"]


class Weibull(TransformedDistribution):
    """scale x^(1 / concentration) of an exponential x of rate 1."""

    arg_constraints = {"scale": constraints.positive, "concentration": constraints.positive}
    support = constraints.positive

    def __init__(self, scale, concentration, validate_args=None):
        self.scale, self.concentration = broadcast_all(scale, concentration)
        self.concentration_reciprocal = self.concentration.reciprocal()
        base = Exponential(tenon.ones_like(self.scale), validate_args=validate_args)
        super().__init__(base, self._make_transforms(), validate_args=validate_args)

    def _make_transforms(self):
        return [PowerTransform(exponent=self.concentration_reciprocal), AffineTransform(loc=0, scale=self.scale)]

    def expand(self, batch_shape, _instance=None):
        new = self._get_checked_instance(Weibull, _instance)
        new.scale = self.scale.expand(batch_shape)
        new.concentration = self.concentration.expand(batch_shape)
        new.concentration_reciprocal = new.concentration.reciprocal()
        return super().expand(batch_shape, _instance=new)

    @property
    def mean(self):
        return self.scale * tenon.exp(tenon.lgamma(1 + self.concentration_reciprocal))

    @property
    def mode(self):
        above = self.concentration - 1
        return self.scale * (above / self.concentration).pow(self.concentration_reciprocal)

    @property
    def variance(self):
        inverse = self.concentration_reciprocal
        second = tenon.exp(tenon.lgamma(1 + 2 * inverse))
        return self.scale.square() * (second - tenon.exp(2 * tenon.lgamma(1 + inverse)))

    def entropy(self):
        inverse = self.concentration_reciprocal
        return euler_constant * (1 - inverse) + tenon.log(self.scale * inverse) + 1
