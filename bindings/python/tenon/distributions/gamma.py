"""Gamma, and what is made of it: Chi2, InverseGamma."""

import tenon
from tenon.distributions import constraints
from tenon.distributions._gamma_draws import standard_gamma
from tenon.distributions.exp_family import ExponentialFamily
from tenon.distributions.transformed_distribution import TransformedDistribution
from tenon.distributions.transforms import PowerTransform
from tenon.distributions.utils import broadcast_all, is_only_numbers

__all__ = ["Chi2", "Gamma", "InverseGamma"]


class Gamma(ExponentialFamily):
    """The density rate^concentration x^(concentration - 1) exp(-rate x) / Gamma(concentration), of x > 0."""

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, concentration, rate, validate_args=None):
        self.concentration, self.rate = broadcast_all(concentration, rate)
        batch_shape = tenon.Size() if is_only_numbers(concentration, rate) else self.concentration.size()
        super().__init__(batch_shape, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return self._expand_parameters(Gamma, batch_shape, _instance, concentration=0, rate=0)

    @property
    def mean(self):
        return self.concentration / self.rate

    @property
    def mode(self):
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self):
        return self.concentration / self.rate.square()

    def sample(self, sample_shape=(), *, generator=None):
        with tenon.no_grad():
            return self.rsample(sample_shape, generator=generator)

    def rsample(self, sample_shape=(), generator=None):
        shape = self._extended_shape(sample_shape)
        value = standard_gamma(self.concentration.expand(shape), generator=generator) / self.rate.expand(shape)
        value.detach().clamp_(min=tenon.finfo(value.dtype).tiny)  # a draw that underflowed has no logarithm
        return value

    def log_prob(self, value):
        value = tenon.as_tensor(value, dtype=self.rate.dtype, device=self.rate.device)
        if self._validate_args:
            self._validate_sample(value)
        return (
            tenon.xlogy(self.concentration, self.rate)
            + tenon.xlogy(self.concentration - 1, value)
            - self.rate * value
            - tenon.lgamma(self.concentration)
        )

    def cdf(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return tenon.special.gammainc(self.concentration, self.rate * value)

    def entropy(self):
        a = self.concentration
        return a - tenon.log(self.rate) + tenon.lgamma(a) + (1.0 - a) * tenon.digamma(a)

    @property
    def _natural_params(self):
        return (self.concentration - 1, -self.rate)

    def _log_normalizer(self, x, y):
        return tenon.lgamma(x + 1) - (x + 1) * tenon.log(-y)


class Chi2(Gamma):
    """The sum of the squares of df standard normal numbers."""

    arg_constraints = {"df": constraints.positive}

    def __init__(self, df, validate_args=None):
        super().__init__(0.5 * df, 0.5, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return super().expand(batch_shape, self._get_checked_instance(Chi2, _instance))

    @property
    def df(self):
        return self.concentration * 2


class InverseGamma(TransformedDistribution):
    """1 / x of a Gamma x."""

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, concentration, rate, validate_args=None):
        base = Gamma(concentration, rate, validate_args=validate_args)
        super().__init__(base, PowerTransform(-base.rate.new_ones(())), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return super().expand(batch_shape, _instance=self._get_checked_instance(InverseGamma, _instance))

    @property
    def concentration(self):
        return self.base_dist.concentration

    @property
    def rate(self):
        return self.base_dist.rate

    @property
    def mean(self):
        return tenon.where(self.concentration > 1, self.rate / (self.concentration - 1), float("inf"))

    @property
    def mode(self):
        return self.rate / (self.concentration + 1)

    @property
    def variance(self):
        a = self.concentration
        return tenon.where(a > 2, self.rate.square() / ((a - 1).square() * (a - 2)), float("inf"))

    def entropy(self):
        a = self.concentration
        return a + self.rate.log() + a.lgamma() - (1 + a) * a.digamma()
