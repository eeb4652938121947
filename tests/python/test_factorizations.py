"""Factorizations of matrices: what the sample rows of tests/ops do not say."""

import pytest
import tenon as t


def low_rank(m, n, rank, dtype=t.float64):
    return t.randn(m, rank, dtype=dtype) @ t.randn(rank, n, dtype=dtype)


def size_of(x):
    return float(x.abs().max())


@pytest.mark.parametrize("dtype", [t.float64, t.complex128])
@pytest.mark.parametrize("sizes", [(12, 7), (7, 12)])
def test_random_projections_find_a_matrix_of_low_rank(dtype, sizes):
    t.manual_seed(0)
    A = low_rank(*sizes, 3, dtype)
    U, S, V = t.svd_lowrank(A, q=4)
    assert (U.shape, S.shape, V.shape) == ((sizes[0], 4), (4,), (sizes[1], 4))
    assert size_of(U * S @ V.mH - A) < 1e-12
    assert size_of(S[:3] - t.linalg.svdvals(A)[:3]) < 1e-12
    M = t.ones(1, sizes[1], dtype=dtype)
    U, S, V = t.svd_lowrank(A, q=5, M=M)
    assert size_of(U * S @ V.mH - (A - M)) < 1e-12


def test_principal_components_are_those_of_centred_columns():
    t.manual_seed(0)
    A = low_rank(20, 6, 2) + t.ones(20, 1, dtype=t.float64) * 3
    U, S, V = t.pca_lowrank(A, q=3)
    centred = A - A.mean(0, keepdim=True)
    assert size_of(U * S @ V.mT - centred) < 1e-12
    assert size_of(t.pca_lowrank(A, q=3, center=False)[1][:2] - t.linalg.svdvals(A)[:2]) < 1e-10
    assert [x.shape[-1] for x in t.pca_lowrank(A)] == [6, 6, 6]
    with pytest.raises(ValueError, match="not greater than min"):
        t.pca_lowrank(A, q=7)


def test_chains_of_matrices():
    A, B, C = t.randn(2, 3), t.randn(3, 4), t.randn(4, 5)
    assert t.allclose(t.chain_matmul(A, B, C), A @ B @ C)
    assert t.chain_matmul(A) is A
    out = t.empty(0)
    assert t.chain_matmul(A, B, out=out) is out and t.allclose(out, A @ B)
    with pytest.raises(RuntimeError, match="expected 2"):
        t.chain_matmul(A, t.randn(3))


def test_methods_are_the_functions():
    A = t.randn(4, 3)
    a, tau = A.geqrf()
    Q = a.orgqr(tau)
    assert t.equal(Q, t.linalg.householder_product(a, tau))
    assert t.allclose(a.ormqr(tau, Q.clone(), transpose=True)[:3], t.eye(3), atol=1e-5)
    S = A.mT @ A
    assert t.equal(S.matrix_exp(), t.linalg.matrix_exp(S))
    assert t.equal(S.matrix_power(3), t.linalg.matrix_power(S, 3))
    assert t.equal(A.pinverse(), t.pinverse(A))


def test_what_does_not_converge_is_a_linalg_error():
    bad = t.eye(3).expand(2, 3, 3).clone()
    bad[1, 0, 0] = float("nan")
    for function in (t.linalg.svd, t.linalg.svdvals, t.linalg.eigh, t.linalg.eigvalsh, t.linalg.pinv):
        with pytest.raises(t.linalg.LinAlgError, match=r"\(Batch element 1\): The algorithm failed to converge"):
            function(bad)


def test_eigenvalues_need_no_vectors_without_gradients():
    A = t.randn(3, 3, requires_grad=True)
    with t.no_grad():
        assert not t.linalg.eigvals(A).requires_grad
    t.linalg.eigvals(A).abs().sum().backward()
    assert A.grad.shape == (3, 3)


def test_names_of_results():
    A = t.randn(3, 3)
    assert t.linalg.qr(A).Q.shape == t.linalg.qr(A).R.shape
    assert t.linalg.eigh(A).eigenvalues.shape == (3,)
    assert t.linalg.lstsq(A, A).solution.shape == (3, 3)
    assert t.linalg.lstsq(A, A, driver="gelsd").singular_values.shape == (3,)
    assert t.geqrf(A).tau.shape == (3,)


def test_exponentials_of_every_size_in_one_batch():
    t.manual_seed(0)
    scales = t.tensor([1e-9, 3.0, 1e-20, 0.01, 40.0, 0.2, 0.0, 1.0, 300.0], dtype=t.float64)
    A = t.randn(9, 4, 4, dtype=t.float64) * scales[:, None, None]
    A = A - A.mT  # Its exponential is orthogonal.
    together = t.matrix_exp(A)
    for i in range(9):
        assert size_of(together[i] - t.matrix_exp(A[i])) < 1e-12
    assert size_of(together @ together.mT - t.eye(4, dtype=t.float64)) < 1e-10
    assert t.matrix_exp(t.full((2, 2), float("nan"))).isnan().all()


def test_autocast_computes_factorizations_in_float():
    A = t.eye(3).to(t.bfloat16)
    with t.autocast("cpu", t.bfloat16):
        assert t.linalg.qr(A).Q.dtype == t.linalg.eigvalsh(A).dtype == t.linalg.lstsq(A, A).solution.dtype == t.float32


@pytest.mark.parametrize("dtype", [t.float64, t.complex128])
@pytest.mark.parametrize("largest", [True, False])
def test_lobpcg_finds_the_outer_eigenvalues(dtype, largest):
    t.manual_seed(0)
    A, C = t.randn(2, 30, 30, dtype=dtype), t.randn(2, 30, 30, dtype=dtype)
    A, B = A + A.mH, C @ C.mH + 30 * t.eye(30, dtype=dtype)
    E, X = t.lobpcg(A, k=3, largest=largest, niter=-1)
    expected = t.linalg.eigvalsh(A)
    assert size_of(E - (expected.flip(-1) if largest else expected)[:, :3]) < 1e-6
    assert size_of(A @ X - X * E.unsqueeze(-2)) < 1e-4
    E, X = t.lobpcg(A, B=B, X=t.randn(2, 30, 4, dtype=dtype), k=2, largest=largest, niter=-1)
    assert X.shape == (2, 30, 2)
    assert size_of(A @ X - B @ X * E.unsqueeze(-2)) < 1e-3
    with pytest.raises(ValueError, match="3 x the number of requested eigenpairs"):
        t.lobpcg(A, k=11)


def test_eigenvalues_of_lobpcg_have_gradients():
    t.manual_seed(0)
    A = t.randn(12, 12, dtype=t.float64)
    A = (A + A.mT).requires_grad_()
    t.lobpcg(A, k=2, niter=-1, tol=1e-12)[0].sum().backward()
    found, A.grad = A.grad, None
    t.linalg.eigvalsh(A)[-2:].sum().backward()
    assert size_of(found - A.grad) < 1e-8
