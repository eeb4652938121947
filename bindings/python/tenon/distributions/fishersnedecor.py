"""FisherSnedecor: the quotient of two means of squares, the F distribution."""

import tenon
from tenon.distributions import constraints
from tenon.distributions.distribution import Distribution
from tenon.distributions.gamma import Gamma
from tenon.distributions.utils import broadcast_all, is_only_numbers

__all__ = ["FisherSnedecor"]


class FisherSnedecor(Distribution):
    """(x1 / df1) / (x2 / df2), of a Chi2 x1 of df1 degrees of freedom and a Chi2 x2 of df2."""

    arg_constraints = {"df1": constraints.positive, "df2": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, df1, df2, validate_args=None):
        self.df1, self.df2 = broadcast_all(df1, df2)
        self._gamma1 = Gamma(self.df1 * 0.5, self.df1)
        self._gamma2 = Gamma(self.df2 * 0.5, self.df2)
        batch_shape = tenon.Size() if is_only_numbers(df1, df2) else self.df1.size()
        super().__init__(batch_shape, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._expand_parameters(FisherSnedecor, batch_shape, _instance, df1=0, df2=0)
        new._gamma1 = self._gamma1.expand(batch_shape)
        new._gamma2 = self._gamma2.expand(batch_shape)
        return new

    @property
    def mean(self):
        """NaN of df2 <= 2, where it does not exist."""
        return self.df2 / (self.df2 - 2).masked_fill(self.df2 <= 2, float("nan"))

    @property
    def mode(self):
        mode = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        return mode.masked_fill(self.df1 <= 2, float("nan"))

    @property
    def variance(self):
        df2 = self.df2.masked_fill(self.df2 <= 4, float("nan"))
        return 2 * df2.square() * (self.df1 + df2 - 2) / (self.df1 * (df2 - 2).square() * (df2 - 4))

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        x1 = self._gamma1.rsample(sample_shape).view(shape)
        x2 = self._gamma2.rsample(sample_shape).view(shape)
        # Draws that underflowed give neither 0 / 0 nor a value without logarithm.
        tiny = tenon.finfo(x2.dtype).tiny
        return (x1 / x2.clamp(min=tiny)).clamp(min=tiny)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        half1, half2 = self.df1 * 0.5, self.df2 * 0.5
        ratio = self.df1 / self.df2
        log_norm = half1.lgamma() + half2.lgamma() - (half1 + half2).lgamma()
        return (
            half1 * ratio.log()
            + (half1 - 1) * tenon.log(value)
            - (half1 + half2) * tenon.log1p(ratio * value)
            - log_norm
        )
