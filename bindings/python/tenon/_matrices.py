"""Functions of matrices that are made of several operators."""

import tenon
from tenon import _C, linalg
from tenon.overrides import overridable


def chain_matmul(*matrices, out=None):
    """The product of matrices, multiplied in the order that takes the fewest operations: see linalg.multi_dot."""
    if len(matrices) == 1 and isinstance(matrices[0], (list, tuple)):
        matrices = matrices[0]
    for matrix in matrices:
        if matrix.dim() != 2:
            raise RuntimeError(f"chain_matmul(): Tensor dimension is {matrix.dim()}, expected 2 instead.")
    if len(matrices) == 1:
        return matrices[0] if out is None else out.resize_(matrices[0].shape).copy_(matrices[0])
    return _C.chain_matmul(list(matrices)) if out is None else _C.chain_matmul(list(matrices), out=out)


def _orthonormal_range(A, q, niter, M):
    """Q with q orthonormal columns so that A - M is about Q Q^H (A - M): random combinations of the columns, and `niter` steps
    of subspace iteration (Halko, Martinsson and Tropp 2009, algorithm 4.4)."""

    def multiplied(matrix):
        return A @ matrix if M is None else A @ matrix - M @ matrix

    def adjoint_multiplied(matrix):
        return A.mH @ matrix if M is None else A.mH @ matrix - M.mH @ matrix

    Q = linalg.qr(multiplied(tenon.randn(A.shape[-1], q, dtype=A.dtype, device=A.device)))[0]
    for _ in range(niter):
        Q = linalg.qr(adjoint_multiplied(Q))[0]
        Q = linalg.qr(multiplied(Q))[0]
    return Q


@overridable
def svd_lowrank(A, q=6, niter=2, M=None):
    """U, S and V with U diag(S) V^H about A - M, of the q largest singular values, by random projections.

    A: [..., m, n]. M: what is taken from it, by default nothing; it is broadcast.
    niter: steps of subspace iteration.
    """
    q, niter = 6 if q is None else q, 2 if niter is None else niter
    m, n = A.shape[-2:]
    if M is not None:
        M = M.broadcast_to(A.shape)
    if m < n:
        A, M = A.mH, None if M is None else M.mH
    Q = _orthonormal_range(A, q, niter, M)
    B = Q.mH @ A if M is None else Q.mH @ A - Q.mH @ M
    U, S, Vh = linalg.svd(B, full_matrices=False)
    U, V = Q @ U, Vh.mH
    return (V, S, U) if m < n else (U, S, V)


@overridable
def pca_lowrank(A, q=None, center=True, niter=2):
    """Principal components: svd_lowrank of A [..., m, n], from whose columns their means are taken unless `center` is False.

    q: how many, by default min(6, m, n).
    """
    m, n = A.shape[-2:]
    if q is None:
        q = min(6, m, n)
    elif not 0 <= q <= min(m, n):
        raise ValueError(f"q(={q}) must be non-negative integer and not greater than min(m, n)={min(m, n)}")
    if not niter >= 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    return svd_lowrank(A - A.mean(-2, keepdim=True) if center else A, q, niter=niter)


def _orthonormal(S, B):
    """Columns that span what those of S span, with S^H B S = I; directions that rounding makes up are left out."""
    gram = S.mH @ (S if B is None else B @ S)
    scale = gram.diagonal(0, -2, -1).real.clamp_min(0).sqrt()
    scale = tenon.where(scale > 0, 1 / scale, 0)
    values, vectors = linalg.eigh(gram * scale.unsqueeze(-1) * scale)
    kept = values > tenon.finfo(values.dtype).eps * S.shape[-1] * values[-1]
    return S * scale @ vectors[:, kept] / values[kept].sqrt()


def _lobpcg(A, B, X, k, iK, niter, tol, largest):
    """The eigenpairs of one matrix, [k] and [m, k]: Rayleigh and Ritz in the span of X, the residuals, and the last step
    (Knyazev 2001)."""
    n, step = X.shape[-1], 0
    S, before = X, None
    while True:
        S = _orthonormal(S, B)
        values, vectors = linalg.eigh(S.mH @ (A @ S))
        if largest:
            values, vectors = values.flip(-1), vectors.flip(-1)
        E, X = values[:n], S @ vectors[:, :n]
        AX, BX = A @ X, X if B is None else B @ X
        R = AX - BX * E
        size = linalg.vector_norm(AX, dim=0) + E.abs() * linalg.vector_norm(BX, dim=0)
        if step == niter or bool((linalg.vector_norm(R, dim=0) <= tol * size)[:k].all()):
            return X[:, :k]
        W = R if iK is None else iK @ R
        P = [] if before is None else [X - before @ (before.mH @ BX)]
        S, before, step = tenon.cat([X, W, *P], -1), X, step + 1


@overridable
def lobpcg(
    A,
    k=None,
    B=None,
    X=None,
    n=None,
    iK=None,
    niter=None,
    tol=None,
    largest=None,
    method=None,
    tracker=None,
    ortho_iparams=None,
    ortho_fparams=None,
    ortho_bparams=None,
):
    """The k largest eigenvalues E and their vectors X of A X = B X diag(E), for Hermitian A [..., m, m] and positive definite B.

    k: how many, by default as many as X has columns, else 1.
    X: where to begin, [..., m, n]; random numbers by default. n: how many vectors are iterated with, k by default.
    iK: about the inverse of A, to make the iteration shorter.
    niter: the largest number of steps, 1000 by default; -1: until the residuals are small, of the size `tol`.
    largest: the smallest ones if it is False.

    Both methods, "basic" and "ortho", are one here; `tracker` and the parameters of "ortho" do nothing. E has gradients, X has none.
    """
    m = A.shape[-1]
    k = k or (1 if X is None else X.shape[-1])
    n = k if n is None and X is None else X.shape[-1] if n is None else n
    if m < 3 * n:
        raise ValueError(
            f"LPBPCG algorithm is not applicable when the number of A rows (={m}) is smaller than 3 x the number of requested "
            f"eigenpairs (={n})"
        )
    if method not in (None, "basic", "ortho"):
        raise ValueError(f"lobpcg: method must be 'basic' or 'ortho', got {method!r}")
    tol = tenon.finfo(A.dtype).eps ** 0.5 if tol is None else tol
    with tenon.no_grad():
        if X is None:
            X = tenon.randn(*A.shape[:-1], n, dtype=A.dtype, device=A.device)
        batch = A.shape[:-2]
        flat = lambda t: None if t is None else t.broadcast_to(*batch, *t.shape[-2:]).reshape(-1, *t.shape[-2:])  # noqa: E731
        matrices, others, inverses = flat(A), flat(B), flat(iK)
        found = [
            _lobpcg(
                matrices[i],
                None if B is None else others[i],
                start,
                k,
                None if iK is None else inverses[i],
                1000 if niter is None else niter,
                tol,
                largest is None or largest,
            )
            for i, start in enumerate(flat(X))
        ]
        X = tenon.stack(found).reshape(*batch, m, k)
    # X^H A X is as exact as the square of the vectors' error, and its gradient is that of the eigenvalues.
    E = (X.conj() * (A @ X)).sum(-2).real / (X.conj() * (X if B is None else B @ X)).sum(-2).real
    return E, X
