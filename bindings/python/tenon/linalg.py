"""Operators of linear algebra."""

from tenon import _C


def vector_norm(x, ord=2, dim=None, keepdim=False, *, dtype=None, out=None):
    """(sum |x|^ord)^(1/ord) over `dim`, all dimensions by default; the largest and smallest |x| for inf and -inf."""
    given = {} if out is None else {"out": out}
    return _C._linalg.linalg_vector_norm(x, ord, dim, keepdim, dtype=dtype, **given)


def diagonal(A, *, offset=0, dim1=-2, dim2=-1):
    """The diagonals of the matrices in the last two dimensions."""
    return A.diagonal(offset, dim1, dim2)


cross = _C._linalg.linalg_cross
matrix_norm = _C._linalg.linalg_matrix_norm
multi_dot = _C._linalg.linalg_multi_dot
norm = _C._linalg.linalg_norm
svd = _C._linalg.linalg_svd
svdvals = _C._linalg.linalg_svdvals
vander = _C._linalg.linalg_vander
vecdot = _C._linalg.linalg_vecdot
