"""Transforms of vectors and matrices."""

import math

import tenon
from tenon.distributions import constraints
from tenon.distributions.transforms.base import Transform
from tenon.distributions.transforms.elementwise import _Parameterless, clip_to_open_unit_interval, softplus
from tenon.distributions.utils import tril_matrix_to_vec, vec_to_tril_matrix


def _shifted(x, first):
    """The last dimension one place further: [a, b, c] -> [first, a, b]."""
    return tenon.cat([tenon.full_like(x[..., :1], first), x[..., :-1]], -1)


class CorrCholeskyTransform(Transform):
    """D (D - 1) / 2 numbers as the Cholesky factor of a correlation matrix of D rows.

    tanh(x) are canonical partial correlations z, in a lower triangle. Row by row they break a stick of length 1:
    y_ij = z_ij sqrt(prod_{k < j} (1 - z_ik^2)), and the diagonal takes what is left (Lewandowski, Kurowicka, Joe 2009).
    """

    domain = constraints.real_vector
    codomain = constraints.corr_cholesky
    bijective = True

    def _call(self, x):
        x = tenon.tanh(x)
        eps = tenon.finfo(x.dtype).eps
        z = vec_to_tril_matrix(x.clamp(min=-1 + eps, max=1 - eps), diag=-1)
        left = (1 - z * z).sqrt().cumprod(-1)
        z = z + tenon.eye(z.shape[-1], dtype=z.dtype, device=z.device)
        return z * _shifted(left, 1)

    def _inverse(self, y):
        left = _shifted(1 - tenon.cumsum(y * y, -1), 1)
        z = tril_matrix_to_vec(y, diag=-1) / tril_matrix_to_vec(left, diag=-1).sqrt()
        return (z.log1p() - (-z).log1p()) / 2  # atanh

    def log_abs_det_jacobian(self, x, y, intermediates=None):
        # dy_ij / dz_ij is the square root of what is left of the stick; dz / dx = 1 - tanh(x)^2.
        left = 1 - (y * y).cumsum(-1)
        stick = 0.5 * tril_matrix_to_vec(left, diag=-2).log().sum(-1)
        tanh = -2 * (x + softplus(-2 * x) - math.log(2.0)).sum(-1)
        return stick + tanh

    def forward_shape(self, shape):
        if len(shape) < 1:
            raise ValueError("Too few dimensions on input")
        count = shape[-1]
        size = (1 + math.isqrt(1 + 8 * count)) // 2
        if size * (size - 1) // 2 != count:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return shape[:-1] + (size, size)

    def inverse_shape(self, shape):
        if len(shape) < 2:
            raise ValueError("Too few dimensions on input")
        if shape[-2] != shape[-1]:
            raise ValueError("Input is not square")
        size = shape[-1]
        return shape[:-2] + (size * (size - 1) // 2,)


class _OfVectors(_Parameterless):
    domain = constraints.real_vector
    codomain = constraints.simplex

    def _resized(self, shape, by):
        if len(shape) < 1:
            raise ValueError("Too few dimensions on input")
        return shape[:-1] + (shape[-1] + by,) if by else shape


class SoftmaxTransform(_OfVectors):
    """y = softmax(x), of which x = log(y) is an inverse: not bijective."""

    def _call(self, x):
        return x.softmax(-1)

    def _inverse(self, y):
        return y.log()

    def forward_shape(self, shape):
        return self._resized(shape, 0)

    def inverse_shape(self, shape):
        return self._resized(shape, 0)


class StickBreakingTransform(_OfVectors):
    """K - 1 numbers as K positive ones whose sum is 1.

    y_k = z_k prod_{j < k} (1 - z_j), z_k = sigmoid(x_k - log(K - k)), k = 1, 2, ... By the offset x = 0 gives equal parts.
    """

    bijective = True

    @staticmethod
    def _offset(x):
        """log of K - 1, ..., 1, of x with K - 1 elements."""
        return tenon.arange(x.shape[-1], 0, -1, dtype=x.dtype, device=x.device).log()

    def _call(self, x):
        z = clip_to_open_unit_interval((x - self._offset(x)).sigmoid())
        one = tenon.ones_like(z[..., :1]) if x.shape[-1] else x.new_ones(x.shape[:-1] + (1,))
        left = (1 - z).cumprod(-1)
        return tenon.cat([z, one], -1) * tenon.cat([one, left], -1)

    def _inverse(self, y):
        parts = y[..., :-1]
        left = (1 - parts.cumsum(-1)).clamp(min=tenon.finfo(y.dtype).tiny)
        return parts.log() - left.log() + self._offset(parts)

    def log_abs_det_jacobian(self, x, y):
        # dy_k / dx_k = y_k (1 - z_k); the matrix is triangular.
        x = x - self._offset(x)
        return (y[..., :-1].log() - softplus(x)).sum(-1)

    def forward_shape(self, shape):
        return self._resized(shape, 1)

    def inverse_shape(self, shape):
        return self._resized(shape, -1)


class LowerCholeskyTransform(_Parameterless):
    """Matrices as lower triangular ones whose diagonal is positive: that of x in the exponent."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def _call(self, x):
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y):
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


class PositiveDefiniteTransform(_Parameterless):
    """Matrices as positive definite ones: L L^T, where L is LowerCholeskyTransform's."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite

    def _call(self, x):
        factor = LowerCholeskyTransform()(x)
        return factor @ factor.mT

    def _inverse(self, y):
        return LowerCholeskyTransform().inv(tenon.linalg.cholesky(y))
