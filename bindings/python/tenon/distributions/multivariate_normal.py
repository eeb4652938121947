"""MultivariateNormal: normal vectors."""

import math

import tenon
from tenon.distributions import constraints
from tenon.distributions._shared import TriangularFactor
from tenon.distributions.distribution import Distribution
from tenon.distributions.normal import standard_normal

__all__ = ["MultivariateNormal"]


def times_vector(matrix, vector):
    """Matrices by vectors, both in batches: [..., n, m], [..., m] -> [..., n]"""
    return (matrix @ vector.unsqueeze(-1)).squeeze(-1)


def half_log_det(factor):
    """log det(L) of triangular L."""
    return factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)


def mahalanobis(factor, x):
    """x^T (L L^T)^-1 x of lower triangular L: [..., n, n], [..., n] -> [...]"""
    # Leading dimensions that only x has are columns of one system, so that each L is taken once.
    leading = x.shape[: max(x.dim() - (factor.dim() - 1), 0)]
    columns = x.reshape((math.prod(leading),) + x.shape[len(leading) :]).movedim(0, -1)
    squares = tenon.linalg.solve_triangular(factor, columns, upper=False).square().sum(-2).movedim(-1, 0)
    return squares.reshape(leading + squares.shape[1:])


def precision_to_scale_tril(precision):
    """The Cholesky factor of the inverse."""
    # The factor of P with its rows and columns in reverse order gives P = U U^T, U upper triangular. The result is U^-T.
    factor = tenon.linalg.cholesky(tenon.flip(precision, (-2, -1)))
    inverse = tenon.flip(factor, (-2, -1)).mT
    identity = tenon.eye(precision.shape[-1], dtype=precision.dtype, device=precision.device)
    return tenon.linalg.solve_triangular(inverse, identity, upper=False)


class MultivariateNormal(TriangularFactor, Distribution):
    """With the mean loc and one of: the covariance matrix, its inverse, its lower Cholesky factor (the fastest)."""

    arg_constraints = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(self, loc, covariance_matrix=None, precision_matrix=None, scale_tril=None, validate_args=None):
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        given = {
            "scale_tril": scale_tril,
            "covariance_matrix": covariance_matrix,
            "precision_matrix": precision_matrix,
        }
        given = {name: matrix for name, matrix in given.items() if matrix is not None}
        if len(given) != 1:
            raise ValueError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        ((name, matrix),) = given.items()
        if matrix.dim() < 2:
            shown = "scale_tril matrix" if name == "scale_tril" else name
            raise ValueError(f"{shown} must be at least two-dimensional, with optional leading batch dimensions")
        batch_shape = tenon.broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        setattr(self, name, matrix.expand(batch_shape + (-1, -1)))
        self.loc = loc.expand(batch_shape + (-1,))
        super().__init__(batch_shape, self.loc.shape[-1:], validate_args=validate_args)
        if name == "scale_tril":
            self._unbroadcasted_scale_tril = matrix
        elif name == "covariance_matrix":
            self._unbroadcasted_scale_tril = tenon.linalg.cholesky(matrix)
        else:
            self._unbroadcasted_scale_tril = precision_to_scale_tril(matrix)

    def expand(self, batch_shape, _instance=None):
        new = self._expand_parameters(
            MultivariateNormal, batch_shape, _instance, loc=1, covariance_matrix=2, precision_matrix=2, scale_tril=2
        )
        new._unbroadcasted_scale_tril = self._unbroadcasted_scale_tril
        return new

    @property
    def mean(self):
        return self.loc

    @property
    def mode(self):
        return self.loc

    @property
    def variance(self):
        return self._unbroadcasted_scale_tril.square().sum(-1).expand(self._batch_shape + self._event_shape)

    def rsample(self, sample_shape=()):
        eps = standard_normal(self._extended_shape(sample_shape), self.loc.dtype, self.loc.device)
        return self.loc + times_vector(self._unbroadcasted_scale_tril, eps)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        factor = self._unbroadcasted_scale_tril
        square = mahalanobis(factor, value - self.loc)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + square) - half_log_det(factor)

    def entropy(self):
        entropy = 0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi))
        return (entropy + half_log_det(self._unbroadcasted_scale_tril)).expand(self._batch_shape)
