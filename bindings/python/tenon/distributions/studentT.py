"""StudentT: a normal number by the root of a mean of squares."""

import math

import tenon
from tenon.distributions import constraints
from tenon.distributions.distribution import Distribution
from tenon.distributions.gamma import Chi2
from tenon.distributions.normal import standard_normal
from tenon.distributions.utils import broadcast_all

__all__ = ["StudentT"]


class StudentT(Distribution):
    """loc + scale x / sqrt(z / df), of a standard normal x and a Chi2 z of df degrees of freedom."""

    arg_constraints = {"df": constraints.positive, "loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, df, loc=0.0, scale=1.0, validate_args=None):
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        self._chi2 = Chi2(self.df)
        super().__init__(self.df.size(), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._expand_parameters(StudentT, batch_shape, _instance, df=0, loc=0, scale=0)
        new._chi2 = self._chi2.expand(batch_shape)
        return new

    @property
    def mean(self):
        """NaN of df <= 1, where the integral does not exist."""
        return self.loc.masked_fill(self.df <= 1, float("nan"))

    @property
    def mode(self):
        return self.loc

    @property
    def variance(self):
        variance = self.scale.square() * self.df / (self.df - 2)
        variance = variance.masked_fill(self.df <= 2, float("inf"))
        return variance.masked_fill(self.df <= 1, float("nan"))

    def rsample(self, sample_shape=()):
        x = standard_normal(self._extended_shape(sample_shape), self.df.dtype, self.df.device)
        z = self._chi2.rsample(sample_shape)
        return self.loc + self.scale * (x * tenon.rsqrt(z / self.df))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        df = self.df
        y = (value - self.loc) / self.scale
        log_norm = (
            self.scale.log()
            + 0.5 * df.log()
            + 0.5 * math.log(math.pi)
            + tenon.lgamma(0.5 * df)
            - tenon.lgamma(0.5 * (df + 1.0))
        )
        return -0.5 * (df + 1.0) * tenon.log1p(y.square() / df) - log_norm

    def entropy(self):
        half, half_above = 0.5 * self.df, 0.5 * (self.df + 1)
        log_beta = tenon.lgamma(half) + math.lgamma(0.5) - tenon.lgamma(half_above)
        return (
            self.scale.log()
            + half_above * (tenon.digamma(half_above) - tenon.digamma(half))
            + 0.5 * self.df.log()
            + log_beta
        )
