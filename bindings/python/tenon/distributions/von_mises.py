"""VonMises: angles around a direction."""

import math

import tenon
from tenon.distributions import constraints
from tenon.distributions.distribution import Distribution
from tenon.distributions.utils import broadcast_all, lazy_property

__all__ = ["VonMises"]


class VonMises(Distribution):
    """Angles in [-pi, pi) with a density in proportion to exp(concentration cos(x - loc))."""

    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real
    has_rsample = False

    def __init__(self, loc, concentration, validate_args=None):
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, tenon.Size(), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return self._expand_parameters(VonMises, batch_shape, _instance, loc=0, concentration=0)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        k = self.concentration
        # log I0(k) = k + log(exp(-k) I0(k)), which does not overflow.
        return k * (tenon.cos(value - self.loc) - 1) - math.log(2 * math.pi) - tenon.special.i0e(k).log()

    # Samples are drawn in double precision: of small concentrations numbers nearly cancel.

    @lazy_property
    def _loc(self):
        return self.loc.to(tenon.double)

    @lazy_property
    def _concentration(self):
        return self.concentration.to(tenon.double)

    @lazy_property
    def _proposal_r(self):
        """The parameter of the wrapped Cauchy distribution that values are proposed from."""
        k = self._concentration
        tau = 1 + (1 + 4 * k.square()).sqrt()
        rho = (tau - (2 * tau).sqrt()) / (2 * k)
        return tenon.where(k < 1e-5, 1 / k + k, (1 + rho.square()) / (2 * rho))

    def sample(self, sample_shape=()):
        """Rejection of proposals (Best, Fisher 1979)."""
        with tenon.no_grad():
            shape = self._extended_shape(sample_shape)
            x = tenon.empty(shape, dtype=tenon.double, device=self.loc.device)
            r = self._proposal_r.expand(shape)
            concentration = self._concentration.expand(shape)
            is_done = tenon.zeros(shape, dtype=tenon.bool, device=self.loc.device)
            while not is_done.all():
                u1, u2, u3 = tenon.rand((3, *shape), dtype=tenon.double, device=self.loc.device).unbind()
                z = tenon.cos(math.pi * u1)
                cosine = (1 + r * z) / (r + z)
                c = concentration * (r - cosine)
                is_accepted = (c * (2 - c) - u2 > 0) | ((c / u2).log() + 1 - c >= 0)
                x = tenon.where(is_accepted, (u3 - 0.5).sign() * cosine.acos(), x)
                is_done = is_done | is_accepted
            return ((x + math.pi + self._loc) % (2 * math.pi) - math.pi).to(self.loc.dtype)

    @property
    def mean(self):
        """The direction, a circular mean."""
        return self.loc

    @property
    def mode(self):
        return self.loc

    @lazy_property
    def variance(self):
        """1 - I1(k) / I0(k), a circular variance."""
        return 1 - tenon.special.i1e(self.concentration) / tenon.special.i0e(self.concentration)
