"""Operators of linear algebra."""

import glob
import importlib.util
import os

from tenon import _C

LinAlgError = _C._LinAlgError


def _packaged_lapack():
    """The LAPACK library of the package scipy-openblas32, or an empty text; the library asks before it looks elsewhere."""
    spec = importlib.util.find_spec("scipy_openblas32")
    for folder in (spec and spec.submodule_search_locations) or ():
        for path in sorted(glob.glob(os.path.join(folder, "lib", "libscipy_openblas*.so"))):
            return path
    return ""


def vector_norm(x, ord=2, dim=None, keepdim=False, *, dtype=None, out=None):
    """(sum |x|^ord)^(1/ord) over `dim`, all dimensions by default; the largest and smallest |x| for inf and -inf."""
    given = {} if out is None else {"out": out}
    return _C._linalg.linalg_vector_norm(x, ord, dim, keepdim, dtype=dtype, **given)


def diagonal(A, *, offset=0, dim1=-2, dim2=-1):
    """The diagonals of the matrices in the last two dimensions."""
    return A.diagonal(offset, dim1, dim2)


cholesky = _C._linalg.linalg_cholesky
cholesky_ex = _C._linalg.linalg_cholesky_ex
cross = _C._linalg.linalg_cross
det = _C._linalg.linalg_det
inv = _C._linalg.linalg_inv
inv_ex = _C._linalg.linalg_inv_ex
ldl_factor = _C._linalg.linalg_ldl_factor
ldl_factor_ex = _C._linalg.linalg_ldl_factor_ex
ldl_solve = _C._linalg.linalg_ldl_solve
lu = _C._linalg.linalg_lu
lu_factor = _C._linalg.linalg_lu_factor
lu_factor_ex = _C._linalg.linalg_lu_factor_ex
lu_solve = _C._linalg.linalg_lu_solve
cond = _C._linalg.linalg_cond
cross = _C._linalg.linalg_cross
eig = _C._linalg.linalg_eig
eigh = _C._linalg.linalg_eigh
eigvals = _C._linalg.linalg_eigvals
eigvalsh = _C._linalg.linalg_eigvalsh
householder_product = _C._linalg.linalg_householder_product
lstsq = _C._linalg.linalg_lstsq
matmul = _C._linalg.linalg_matmul
matrix_exp = _C._linalg.linalg_matrix_exp
matrix_norm = _C._linalg.linalg_matrix_norm
matrix_power = _C._linalg.linalg_matrix_power
matrix_rank = _C._linalg.linalg_matrix_rank
matrix_sqrth = _C._linalg.linalg_matrix_sqrth
multi_dot = _C._linalg.linalg_multi_dot
norm = _C._linalg.linalg_norm
slogdet = _C._linalg.linalg_slogdet
solve = _C._linalg.linalg_solve
solve_ex = _C._linalg.linalg_solve_ex
solve_triangular = _C._linalg.linalg_solve_triangular
pinv = _C._linalg.linalg_pinv
polar = _C._linalg.linalg_polar
qr = _C._linalg.linalg_qr
svd = _C._linalg.linalg_svd
svdvals = _C._linalg.linalg_svdvals
tensorinv = _C._linalg.linalg_tensorinv
tensorsolve = _C._linalg.linalg_tensorsolve
vander = _C._linalg.linalg_vander
vecdot = _C._linalg.linalg_vecdot
