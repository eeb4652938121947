"""Wishart: random positive definite matrices."""

import math
import warnings
from numbers import Number

import tenon
from tenon.distributions import constraints
from tenon.distributions._shared import TriangularFactor
from tenon.distributions.exp_family import ExponentialFamily
from tenon.distributions.gamma import Chi2
from tenon.distributions.multivariate_normal import half_log_det, precision_to_scale_tril

__all__ = ["Wishart"]


def _mvdigamma(x, p):
    """The derivative of log Gamma_p(x)."""
    return tenon.digamma(x.unsqueeze(-1) - tenon.arange(p, dtype=x.dtype, device=x.device) / 2).sum(-1)


class Wishart(TriangularFactor, ExponentialFamily):
    """Sums x_1 x_1^T + ... of df normal vectors of mean 0 and a covariance matrix.

    The covariance is given as itself, as its inverse or as its lower Cholesky factor. df is larger than the number of rows - 1
    and need not be an integer.
    """

    support = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, df, covariance_matrix=None, precision_matrix=None, scale_tril=None, validate_args=None):
        given = {
            "scale_tril": scale_tril,
            "covariance_matrix": covariance_matrix,
            "precision_matrix": precision_matrix,
        }
        given = {name: matrix for name, matrix in given.items() if matrix is not None}
        if len(given) != 1:
            raise AssertionError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        ((name, matrix),) = given.items()
        if matrix.dim() < 2:
            raise ValueError("scale_tril must be at least two-dimensional, with optional leading batch dimensions")
        if isinstance(df, Number):
            batch_shape = tenon.Size(matrix.shape[:-2])
            self.df = tenon.tensor(df, dtype=matrix.dtype, device=matrix.device)
        else:
            batch_shape = tenon.broadcast_shapes(matrix.shape[:-2], df.shape)
            self.df = df.expand(batch_shape)
        event_shape = matrix.shape[-2:]
        size = event_shape[-1]
        if self.df.le(size - 1).any():
            raise ValueError(f"Value of df={df} expected to be greater than ndim - 1 = {size - 1}.")
        setattr(self, name, matrix.expand(batch_shape + (-1, -1)))
        if self.df.lt(size).any():
            warnings.warn(
                "Low df values detected. Singular samples are highly likely to occur for ndim - 1 < df < ndim.",
                stacklevel=2,
            )
        super().__init__(batch_shape, event_shape, validate_args=validate_args)
        if name == "scale_tril":
            self._unbroadcasted_scale_tril = matrix
        elif name == "covariance_matrix":
            self._unbroadcasted_scale_tril = tenon.linalg.cholesky(matrix)
        else:
            self._unbroadcasted_scale_tril = precision_to_scale_tril(matrix)
        # Of the diagonal of Bartlett's decomposition: each row has a degree of freedom less.
        degrees = self.df.unsqueeze(-1) - tenon.arange(size, dtype=matrix.dtype, device=matrix.device)
        self._dist_chi2 = Chi2(df=degrees.expand(batch_shape + (-1,)))

    def expand(self, batch_shape, _instance=None):
        new = self._expand_parameters(
            Wishart, batch_shape, _instance, df=0, covariance_matrix=2, precision_matrix=2, scale_tril=2
        )
        batch_shape = tenon.Size(batch_shape)
        new._unbroadcasted_scale_tril = self._unbroadcasted_scale_tril.expand(batch_shape + self._event_shape)
        new._dist_chi2 = self._dist_chi2.expand(batch_shape + self._event_shape[:1])
        return new

    @property
    def arg_constraints(self):
        return {
            "covariance_matrix": constraints.positive_definite,
            "precision_matrix": constraints.positive_definite,
            "scale_tril": constraints.lower_cholesky,
            "df": constraints.greater_than(self._event_shape[-1] - 1),
        }

    @property
    def mean(self):
        return self.df.view(self._batch_shape + (1, 1)) * self.covariance_matrix

    @property
    def mode(self):
        """NaN of df <= rows + 1."""
        factor = self.df - self._event_shape[-1] - 1
        factor = factor.masked_fill(factor <= 0, float("nan"))
        return factor.view(self._batch_shape + (1, 1)) * self.covariance_matrix

    @property
    def variance(self):
        covariance = self.covariance_matrix
        diag = covariance.diagonal(dim1=-2, dim2=-1)
        products = diag.unsqueeze(-1) * diag.unsqueeze(-2)
        return self.df.view(self._batch_shape + (1, 1)) * (covariance.square() + products)

    def _bartlett_sampling(self, sample_shape=()):
        """(L A) (L A)^T, of lower triangular A: normal numbers below a diagonal of roots of Chi2 ones."""
        size = self._event_shape[-1]
        a = self._dist_chi2.rsample(sample_shape).sqrt().diag_embed(dim1=-2, dim2=-1)
        rows, columns = tenon.tril_indices(size, size, offset=-1, device=a.device).unbind()
        below = tenon.Size(sample_shape) + self._batch_shape + (size * (size - 1) // 2,)
        a[..., rows, columns] = tenon.randn(below, dtype=a.dtype, device=a.device)
        factor = self._unbroadcasted_scale_tril @ a
        return factor @ factor.mT

    def rsample(self, sample_shape=(), max_try_correction=None):
        """max_try_correction: how often samples that rounding made singular are drawn again, by default 10 times."""
        max_try_correction = 10 if max_try_correction is None else max_try_correction
        sample_shape = tenon.Size(sample_shape)
        count = sample_shape.numel()
        # The first draw only keeps step with PyTorch's random numbers, which draws all samples again.
        sample = self._bartlett_sampling((count,))
        again = tenon.arange(count, device=sample.device)
        for _ in range(max_try_correction):
            drawn = self._bartlett_sampling((len(again),))
            sample = drawn if len(again) == count else sample.index_copy(0, again, drawn)
            is_singular = (~self.support.check(drawn)).reshape(len(again), -1).any(-1)
            if not is_singular.any():
                break
            warnings.warn("Singular sample detected.", stacklevel=2)
            again = again[is_singular]
        return sample.reshape(sample_shape + sample.shape[1:])

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        p, factor = self._event_shape[-1], self._unbroadcasted_scale_tril
        trace = tenon.cholesky_solve(value, factor).diagonal(dim1=-2, dim2=-1).sum(-1)
        return (
            -self.df * (p * math.log(2) / 2 + half_log_det(factor))
            - tenon.mvlgamma(self.df / 2, p)
            + (self.df - p - 1) / 2 * tenon.linalg.slogdet(value).logabsdet
            - trace / 2
        )

    def entropy(self):
        p = self._event_shape[-1]
        return (
            (p + 1) * (p * math.log(2) / 2 + half_log_det(self._unbroadcasted_scale_tril))
            + tenon.mvlgamma(self.df / 2, p)
            - (self.df - p - 1) / 2 * _mvdigamma(self.df / 2, p)
            + self.df * p / 2
        )

    @property
    def _natural_params(self):
        return -self.precision_matrix / 2, (self.df - self._event_shape[-1] - 1) / 2

    def _log_normalizer(self, x, y):
        p = self._event_shape[-1]
        half_df = y + (p + 1) / 2
        return half_df * (p * math.log(2) - tenon.linalg.slogdet(-2 * x).logabsdet) + tenon.mvlgamma(half_df, p)
