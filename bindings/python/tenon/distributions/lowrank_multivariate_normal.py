"""LowRankMultivariateNormal: normal vectors whose covariance is a diagonal and a matrix of low rank."""

import math

import tenon
from tenon.distributions import constraints
from tenon.distributions.distribution import Distribution
from tenon.distributions.multivariate_normal import half_log_det, times_vector
from tenon.distributions.normal import standard_normal
from tenon.distributions.utils import lazy_property

__all__ = ["LowRankMultivariateNormal"]


def capacitance_tril(factor, diag):
    """The Cholesky factor of I + W^T D^-1 W, [..., m, m]: inverse and determinant of W W^T + D follow from it."""
    scaled = factor.mT / diag.unsqueeze(-2)
    identity = tenon.eye(factor.size(-1), dtype=factor.dtype, device=factor.device)
    return tenon.linalg.cholesky(identity + scaled @ factor)


def lowrank_log_det(diag, capacitance):
    """log det(W W^T + D), by the matrix determinant lemma."""
    return 2 * half_log_det(capacitance) + diag.log().sum(-1)


def lowrank_mahalanobis(factor, diag, x, capacitance):
    """x^T (W W^T + D)^-1 x, by Woodbury's identity."""
    projected = times_vector(factor.mT / diag.unsqueeze(-2), x)
    solved = tenon.linalg.solve_triangular(capacitance, projected.unsqueeze(-1), upper=False)
    return (x.square() / diag).sum(-1) - solved.squeeze(-1).square().sum(-1)


class LowRankMultivariateNormal(Distribution):
    """With the mean loc and the covariance cov_factor cov_factor^T + diag(cov_diag), cov_factor of the shape [..., n, m].

    Samples and densities need no n x n matrix.
    """

    arg_constraints = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(self, loc, cov_factor, cov_diag, validate_args=None):
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        event_shape = loc.shape[-1:]
        if cov_factor.dim() < 2:
            raise ValueError("cov_factor must be at least two-dimensional, with optional leading batch dimensions")
        if cov_factor.shape[-2:-1] != event_shape:
            raise ValueError(f"cov_factor must be a batch of matrices with shape {event_shape[0]} x m")
        if cov_diag.shape[-1:] != event_shape:
            raise ValueError(f"cov_diag must be a batch of vectors with shape {event_shape}")
        try:
            batch_shape = tenon.broadcast_shapes(loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1])
        except RuntimeError as error:
            raise ValueError(
                f"Incompatible batch shapes: loc {loc.shape}, cov_factor {cov_factor.shape}, cov_diag {cov_diag.shape}"
            ) from error
        self.loc = loc.expand(batch_shape + (-1,))
        self.cov_factor = cov_factor.expand(batch_shape + (-1, -1))
        self.cov_diag = cov_diag.expand(batch_shape + (-1,))
        super().__init__(batch_shape, event_shape, validate_args=validate_args)
        self._unbroadcasted_cov_factor = cov_factor
        self._unbroadcasted_cov_diag = cov_diag
        self._capacitance_tril = capacitance_tril(cov_factor, cov_diag)

    def expand(self, batch_shape, _instance=None):
        new = self._expand_parameters(
            LowRankMultivariateNormal, batch_shape, _instance, loc=1, cov_factor=2, cov_diag=1
        )
        new._unbroadcasted_cov_factor = self._unbroadcasted_cov_factor
        new._unbroadcasted_cov_diag = self._unbroadcasted_cov_diag
        new._capacitance_tril = self._capacitance_tril
        return new

    def _expanded_matrix(self, matrix):
        return matrix.expand(self._batch_shape + self._event_shape + self._event_shape)

    @property
    def mean(self):
        return self.loc

    @property
    def mode(self):
        return self.loc

    @lazy_property
    def variance(self):
        variance = self._unbroadcasted_cov_factor.square().sum(-1) + self._unbroadcasted_cov_diag
        return variance.expand(self._batch_shape + self._event_shape)

    @lazy_property
    def scale_tril(self):
        # D^1/2 (I + D^-1/2 W W^T D^-1/2) D^1/2, whose factor in the middle is well conditioned.
        root = self._unbroadcasted_cov_diag.sqrt().unsqueeze(-1)
        scaled = self._unbroadcasted_cov_factor / root
        identity = tenon.eye(self._event_shape[0], dtype=scaled.dtype, device=scaled.device)
        return self._expanded_matrix(root * tenon.linalg.cholesky(identity + scaled @ scaled.mT))

    @lazy_property
    def covariance_matrix(self):
        factor = self._unbroadcasted_cov_factor
        return self._expanded_matrix(factor @ factor.mT + self._unbroadcasted_cov_diag.diag_embed())

    @lazy_property
    def precision_matrix(self):
        diag = self._unbroadcasted_cov_diag
        scaled = self._unbroadcasted_cov_factor.mT / diag.unsqueeze(-2)
        solved = tenon.linalg.solve_triangular(self._capacitance_tril, scaled, upper=False)
        return self._expanded_matrix(diag.reciprocal().diag_embed() - solved.mT @ solved)

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        rank = self.cov_factor.shape[-1:]
        eps_factor = standard_normal(shape[:-1] + rank, self.loc.dtype, self.loc.device)
        eps_diag = standard_normal(shape, self.loc.dtype, self.loc.device)
        return (
            self.loc
            + times_vector(self._unbroadcasted_cov_factor, eps_factor)
            + self._unbroadcasted_cov_diag.sqrt() * eps_diag
        )

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        factor, diag = self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag
        square = lowrank_mahalanobis(factor, diag, value - self.loc, self._capacitance_tril)
        log_det = lowrank_log_det(diag, self._capacitance_tril)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + log_det + square)

    def entropy(self):
        log_det = lowrank_log_det(self._unbroadcasted_cov_diag, self._capacitance_tril)
        entropy = 0.5 * (self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + log_det)
        return entropy.expand(self._batch_shape)
