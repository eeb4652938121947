"""Linear algebra by LAPACK: factors and solutions against products, classes of errors, the library that is loaded."""

import os
import subprocess
import sys
import threading

import pytest
import tenon
from tenon import linalg

DTYPES = [tenon.float32, tenon.float64, tenon.complex64, tenon.complex128]


def matrices(*sizes, dtype):
    return tenon.randn(*sizes, dtype=dtype)


def close(a, b, dtype):
    scale = max(1.0, b.abs().max().item()) if b.numel() else 1.0
    limit = (2e-4 if dtype in (tenon.float32, tenon.complex64) else 1e-11) * scale
    return a.shape == b.shape and (a.numel() == 0 or (a - b).abs().max().item() <= limit)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("batch", [(), (3,), (2, 0), (2, 3)])
@pytest.mark.parametrize("n", [0, 1, 2, 3, 7, 16, 33, 65])
def test_factors_and_solutions_multiply_to_the_matrix(dtype, batch, n):
    tenon.manual_seed(n)
    A = matrices(*batch, n, n, dtype=dtype) + n * tenon.eye(n, dtype=dtype)
    B = matrices(*batch, n, 4, dtype=dtype)
    for layout in (A, A.mT.contiguous().mT):
        P, L, U = linalg.lu(layout)
        assert close(P @ L @ U, A, dtype)
        LU, pivots = linalg.lu_factor(layout)
        for adjoint in (False, True):
            X = linalg.lu_solve(LU, pivots, B, adjoint=adjoint)
            assert close((A.mH if adjoint else A) @ X, B, dtype)
            X = linalg.lu_solve(LU, pivots, B.mT, left=False, adjoint=adjoint)
            assert close(X @ (A.mH if adjoint else A), B.mT, dtype)
        assert close(A @ linalg.solve(layout, B), B, dtype)
        assert close(linalg.solve(layout, B.mT, left=False) @ A, B.mT, dtype)
        assert close(A @ linalg.inv(layout), tenon.eye(n, dtype=dtype).expand(*batch, n, n), dtype)
        sign, logabsdet = linalg.slogdet(layout)
        assert close(sign * logabsdet.exp() / linalg.det(layout), tenon.ones(batch, dtype=dtype), dtype) or n > 30
        for upper in (False, True):
            T = A.triu() if upper else A.tril()
            assert close(T @ linalg.solve_triangular(layout, B, upper=upper), B, dtype)
            assert close(linalg.solve_triangular(layout, B.mT, upper=upper, left=False) @ T, B.mT, dtype)
    S = A @ A.mH + tenon.eye(n, dtype=dtype)
    for upper in (False, True):
        L = linalg.cholesky(S, upper=upper)
        assert close(L.mH @ L if upper else L @ L.mH, S, dtype)
        assert close(S @ tenon.cholesky_solve(B, L, upper), B, dtype)
        assert close(S @ tenon.cholesky_inverse(L, upper), tenon.eye(n, dtype=dtype).expand(*batch, n, n), dtype)
    for hermitian in (False, True):
        S = A + (A.mH if hermitian else A.mT)
        LD, pivots = linalg.ldl_factor(S, hermitian=hermitian)
        assert close(S @ linalg.ldl_solve(LD, pivots, B, hermitian=hermitian), B, dtype)


@pytest.mark.parametrize("shape", [(3, 5), (5, 3), (2, 4, 2), (2, 2, 4), (0, 3), (3, 0)])
def test_matrices_that_are_not_square_have_factors(shape):
    A = matrices(*shape, dtype=tenon.float64)
    P, L, U = tenon.lu_unpack(*linalg.lu_factor(A)) if 0 in shape else linalg.lu(A)
    assert close(P @ L @ U, A, tenon.float64)


def test_batches_broadcast():
    A, B = matrices(2, 1, 3, 3, dtype=tenon.float64) + 3 * tenon.eye(3), matrices(4, 3, 2, dtype=tenon.float64)
    assert close(A @ linalg.solve(A, B), B.expand(2, 4, 3, 2), tenon.float64)
    assert close(A.triu() @ linalg.solve_triangular(A, B, upper=True), B.expand(2, 4, 3, 2), tenon.float64)
    LU, pivots = linalg.lu_factor(A)
    assert close(A @ linalg.lu_solve(LU, pivots, B), B.expand(2, 4, 3, 2), tenon.float64)
    b = matrices(2, 3, dtype=tenon.float64)
    assert close((A[:, 0] @ linalg.solve(A[:, 0], b).unsqueeze(-1)).squeeze(-1), b, tenon.float64)


def test_singular_matrices_are_errors_of_their_own_class():
    assert issubclass(linalg.LinAlgError, RuntimeError)
    zero = tenon.zeros(2, 2, 2)
    for call in (linalg.inv, lambda A: linalg.solve(A, A), lambda A: linalg.cholesky(A), tenon.inverse):
        with pytest.raises(linalg.LinAlgError, match=r"\(Batch element 0\): "):
            call(zero)
        with pytest.raises(linalg.LinAlgError) as raised:
            call(zero[0])
        assert "Batch" not in str(raised.value)
    assert linalg.inv_ex(zero).info.tolist() == [1, 1]
    assert linalg.cholesky_ex(zero).info.tolist() == [1, 1]
    assert linalg.det(zero).tolist() == [0, 0] and linalg.slogdet(zero).logabsdet.tolist() == [-float("inf")] * 2
    assert [x.tolist() for x in tenon.lu(zero, get_infos=True)[1:]] == [[[1, 2], [1, 2]], [1, 1]]


def test_the_gradient_of_a_singular_matrix_is_its_cofactors():
    A = tenon.tensor([[1.0, 2], [2, 4]], dtype=tenon.float64, requires_grad=True)
    (grad,) = tenon.autograd.grad(linalg.det(A), A)
    assert close(grad, tenon.tensor([[4.0, -2], [-2, 1]], dtype=tenon.float64), tenon.float64)


def test_threads_call_at_once():
    A = matrices(300, 300, dtype=tenon.float64) + 300 * tenon.eye(300)
    expected, wrong = linalg.inv(A), []

    def work():
        for _ in range(10):
            if not close(linalg.inv(A), expected, tenon.float64):
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def run(code, **environment):
    return subprocess.run(
        [sys.executable, "-B", "-c", code], env={**os.environ, **environment}, capture_output=True, text=True
    )


def test_the_library_is_loaded_at_first_use():
    code = "import tenon; print(repr(tenon._C._lapack_path())); tenon.inverse(tenon.eye(2)); print(tenon._C._lapack_path())"
    before, after = run(code).stdout.splitlines()
    assert before == "''" and after


def test_a_file_that_is_no_library_is_named():
    result = run("import tenon; tenon.inverse(tenon.eye(2))", TENON_LAPACK="/nonexistent/liblapack.so")
    assert "[linalg.inv] TENON_LAPACK names no LAPACK library" in result.stderr
    assert "/nonexistent/liblapack.so" in result.stderr
