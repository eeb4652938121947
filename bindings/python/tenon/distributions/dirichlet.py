"""Dirichlet, and Beta, which is a Dirichlet distribution of two numbers."""

import tenon
from tenon.distributions import constraints
from tenon.distributions._gamma_draws import sample_dirichlet
from tenon.distributions.exp_family import ExponentialFamily
from tenon.distributions.utils import broadcast_all, is_only_numbers

__all__ = ["Beta", "Dirichlet"]


class Dirichlet(ExponentialFamily):
    """Vectors of positive numbers that add up to 1, of a density in proportion to prod x_k^(concentration_k - 1)."""

    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, concentration, validate_args=None):
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:], validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return self._expand_parameters(Dirichlet, batch_shape, _instance, concentration=1)

    def rsample(self, sample_shape=()):
        return sample_dirichlet(self.concentration.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        a = self.concentration
        return tenon.xlogy(a - 1.0, value).sum(-1) + tenon.lgamma(a.sum(-1)) - tenon.lgamma(a).sum(-1)

    @property
    def mean(self):
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self):
        above = (self.concentration - 1).clamp(min=0.0)
        mode = above / above.sum(-1, True)
        # The density is infinite in all corners, of which one is taken.
        is_corner = (self.concentration < 1).all(-1, True)
        corner = tenon.nn.functional.one_hot(mode.argmax(-1), mode.shape[-1]).to(mode)
        return tenon.where(is_corner, corner, mode)

    @property
    def variance(self):
        total = self.concentration.sum(-1, True)
        return self.concentration * (total - self.concentration) / (total.square() * (total + 1))

    def entropy(self):
        a = self.concentration
        k, total = a.size(-1), a.sum(-1)
        return (
            tenon.lgamma(a).sum(-1)
            - tenon.lgamma(total)
            - (k - total) * tenon.digamma(total)
            - ((a - 1.0) * tenon.digamma(a)).sum(-1)
        )

    @property
    def _natural_params(self):
        return (self.concentration,)

    def _log_normalizer(self, x):
        return x.lgamma().sum(-1) - tenon.lgamma(x.sum(-1))


class Beta(ExponentialFamily):
    """Numbers of (0, 1), of a density in proportion to x^(concentration1 - 1) (1 - x)^(concentration0 - 1)."""

    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support = constraints.unit_interval
    has_rsample = True

    def __init__(self, concentration1, concentration0, validate_args=None):
        if is_only_numbers(concentration1, concentration0):
            concentration = tenon.tensor([float(concentration1), float(concentration0)])
        else:
            concentration = tenon.stack(broadcast_all(concentration1, concentration0), -1)
        self._dirichlet = Dirichlet(concentration, validate_args=validate_args)
        super().__init__(self._dirichlet.batch_shape, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._get_checked_instance(Beta, _instance)
        batch_shape = tenon.Size(batch_shape)
        new._dirichlet = self._dirichlet.expand(batch_shape)
        return self._finish_expand(Beta, new, batch_shape, self._event_shape)

    @property
    def concentration1(self):
        return self._dirichlet.concentration[..., 0]

    @property
    def concentration0(self):
        return self._dirichlet.concentration[..., 1]

    @property
    def mean(self):
        return self.concentration1 / (self.concentration1 + self.concentration0)

    @property
    def mode(self):
        return self._dirichlet.mode[..., 0]

    @property
    def variance(self):
        total = self.concentration1 + self.concentration0
        return self.concentration1 * self.concentration0 / (total.square() * (total + 1))

    def rsample(self, sample_shape=()):
        return self._dirichlet.rsample(sample_shape).select(-1, 0)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return self._dirichlet.log_prob(tenon.stack([value, 1.0 - value], -1))

    def entropy(self):
        return self._dirichlet.entropy()

    @property
    def _natural_params(self):
        return (self.concentration1, self.concentration0)

    def _log_normalizer(self, x, y):
        return tenon.lgamma(x) + tenon.lgamma(y) - tenon.lgamma(x + y)
