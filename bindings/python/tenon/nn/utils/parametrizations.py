"""Parametrizations that are often used: weights of norm one, of a fixed spectral norm, with orthogonal rows or columns."""

import tenon
from tenon.nn import functional as F
from tenon.nn.modules.conv import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from tenon.nn.modules.module import Module
from tenon.nn.utils import parametrize

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]


def norm_except_dim(v, p=2, dim=0):
    """The p-norm over all dimensions but `dim`, which are kept; with -1, or None, over all."""
    if dim in (None, -1):
        return tenon.norm(v, p)
    return tenon.norm(v, p, [d for d in range(v.dim()) if d != dim % v.dim()], keepdim=True)


class _WeightNorm(Module):
    def __init__(self, dim=0):
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g, weight_v):
        return weight_v * (weight_g / norm_except_dim(weight_v, 2, self.dim))

    def right_inverse(self, weight):
        return norm_except_dim(weight, 2, self.dim), weight


def weight_norm(module, name="weight", dim=0):
    """Has the weight be g v / |v|, by Salimans and Kingma 2016: `original0` is g, of `dim`, and `original1` is v."""
    parametrize.register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def load_old(state_dict, prefix, *_):
        for old, new in (("g", "original0"), ("v", "original1")):
            key = f"{prefix}{name}_{old}"
            if key in state_dict:
                state_dict[f"{prefix}parametrizations.{name}.{new}"] = state_dict.pop(key)

    module._register_load_state_dict_pre_hook(load_old)
    return module


class _SpectralNorm(Module):
    """The matrix over its largest singular value, which the power method follows, a step in each call in training."""

    def __init__(self, weight, n_power_iterations=1, dim=0, eps=1e-12):
        super().__init__()
        if not -weight.dim() <= dim < weight.dim():
            raise IndexError(
                "Dimension out of range (expected to be in range of "
                f"[-{weight.dim()}, {weight.dim() - 1}] but got {dim})"
            )
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.dim, self.eps = dim if dim >= 0 else dim + weight.dim(), eps
        if weight.dim() > 1:
            self.n_power_iterations = n_power_iterations
            matrix = self._as_matrix(weight.detach())
            rows, columns = matrix.shape
            u, v = matrix.new_empty(rows).normal_(0, 1), matrix.new_empty(columns).normal_(0, 1)
            self.register_buffer("_u", F.normalize(u, dim=0, eps=eps))
            self.register_buffer("_v", F.normalize(v, dim=0, eps=eps))
            self._iterate(matrix, 15)

    def _as_matrix(self, weight):
        if self.dim:
            weight = weight.permute(self.dim, *(d for d in range(weight.dim()) if d != self.dim))
        return weight.flatten(1)

    @tenon.no_grad()
    def _iterate(self, matrix, times):
        for _ in range(times):
            self._u.copy_(F.normalize(tenon.mv(matrix, self._v), dim=0, eps=self.eps))
            self._v.copy_(F.normalize(tenon.mv(matrix.mH, self._u), dim=0, eps=self.eps))

    def forward(self, weight):
        if weight.dim() == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = self._as_matrix(weight)
        if self.training:
            self._iterate(matrix.detach(), self.n_power_iterations)
        # Copies: the next step changes the buffers, which a pass may still need.
        u, v = self._u.clone(), self._v.clone()
        return weight / tenon.vdot(u, tenon.mv(matrix, v))

    def right_inverse(self, value):
        return value


def _transposed(module):
    return isinstance(module, (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d))


def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    """Has the weight, seen as a matrix with `dim` as its rows, be of spectral norm 1, by Miyato et al. 2018.

    dim: by default 0, and 1 of transposed convolutions.
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, tenon.Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    dim = (1 if _transposed(module) else 0) if dim is None else dim
    parametrize.register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, dim, eps))
    return module


class _Orthogonal(Module):
    def __init__(self, weight, orthogonal_map, use_trivialization):
        super().__init__()
        if weight.is_complex() and orthogonal_map == "householder":
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape, self.orthogonal_map = weight.shape, orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, x):
        n, k = x.size(-2), x.size(-1)
        transposed = n < k
        if transposed:
            x, n, k = x.mT, k, n
        if self.orthogonal_map == "householder":
            a = x.tril(diagonal=-1)
            q = tenon.linalg.householder_product(a, 2 / (1 + (a * a).sum(dim=-2)))
            q = q * x.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)
        else:
            q = self._of_skew(x, n, k)
        if hasattr(self, "base"):
            q = self.base @ q
        return q.mT if transposed else q

    def _of_skew(self, x, n, k):
        a = x.tril()
        if n != k:
            a = tenon.cat([a, a.new_zeros(*a.shape[:-2], n, n - k)], dim=-1)
        a = a - a.mH
        if self.orthogonal_map == "matrix_exp":
            q = tenon.linalg.matrix_exp(a)
        else:
            identity = tenon.eye(n, dtype=a.dtype, device=a.device)
            q = tenon.linalg.solve(tenon.add(identity, a, alpha=-0.5), tenon.add(identity, a, alpha=0.5))
        return q[..., :k]

    @tenon.no_grad()
    def right_inverse(self, q):
        if q.shape != self.shape:
            raise ValueError(
                f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of shape {q.shape}."
            )
        given, transposed = q, q.size(-2) < q.size(-1)
        if transposed:
            q = q.mT
        n, k = q.size(-2), q.size(-1)
        if not hasattr(self, "base"):
            if self.orthogonal_map != "householder":
                raise NotImplementedError(
                    "It is not possible to assign to the matrix exponential or the Cayley parametrizations when "
                    "use_trivialization=False."
                )
            a, tau = tenon.geqrf(q)
            a.diagonal(dim1=-2, dim2=-1).sign_()
            a.diagonal(dim1=-2, dim2=-1)[tau == 0] *= -1
            return a.mT if transposed else a
        if n == k:
            self.base = q.clone() if _is_orthogonal(q) else _nearby_orthogonal(q)
        else:
            rest = tenon.randn(*q.shape[:-2], n, n - k, dtype=q.dtype, device=q.device)
            self.base = _nearby_orthogonal(tenon.cat([q, rest], dim=-1))
        # Of -1 on the diagonal and 0 elsewhere every map makes the identity.
        weight = tenon.zeros_like(given)
        weight.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
        return weight


def _is_orthogonal(q):
    n, k = q.size(-2), q.size(-1)
    identity = tenon.eye(k, dtype=q.dtype, device=q.device)
    eps = 10.0 * n * tenon.finfo(q.dtype).eps
    return tenon.allclose(q.mH @ q, identity, atol=eps)


def _nearby_orthogonal(x):
    """The Q of a QR decomposition, whose R has a positive diagonal."""
    q, r = tenon.linalg.qr(x)
    return q * r.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)


def orthogonal(module, name="weight", orthogonal_map=None, *, use_trivialization=True):
    """Has the weight, a matrix or a batch of them, have orthonormal rows or columns, whichever are fewer.

    orthogonal_map: "matrix_exp", by default of square matrices, "cayley", or "householder", by default of others.
    use_trivialization: relative to the matrix that was set last, so that any orthogonal matrix can be set.
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, tenon.Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if weight.dim() < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.dim()} dimensions.")
    if orthogonal_map is None:
        square = weight.size(-2) == weight.size(-1) or weight.is_complex()
        orthogonal_map = "matrix_exp" if square else "householder"
    if orthogonal_map not in ("matrix_exp", "cayley", "householder"):
        raise ValueError(
            f'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: {orthogonal_map}'
        )
    module_of_weight = _Orthogonal(weight, orthogonal_map, use_trivialization)
    parametrize.register_parametrization(module, name, module_of_weight, unsafe=True)
    return module
