"""Calls that random ones found to differ from PyTorch's: numbers, NaN, empty tensors and outs of other dtypes. `lib` is either library."""

import math

import pytest
import tenon

nan, inf = math.nan, math.inf


def same(values, wanted):
    return all(v == w or (v != v and w != w) for v, w in zip(values, wanted, strict=True))


def gradient(function, x):
    x.requires_grad_()
    function(x).sum().backward()
    return x.grad.tolist()


def test_numbers_among_sorted_integers(lib):
    x = lib.tensor([1, 2, 3])
    assert lib.searchsorted(x, 1.5).item() == 1 and lib.bucketize(2.5, x).item() == 2
    assert lib.searchsorted(x, 1e308).item() == 3 and lib.searchsorted(lib.tensor([1.0, 2.0]), 1e308).item() == 2
    assert lib.searchsorted(lib.tensor([True, True]), 3).item() == 2
    assert lib.searchsorted(x, 2).item() == 1 and lib.searchsorted(x, 2, right=True).item() == 2


def test_batch_norm_of_infinities(lib):
    x = lib.tensor([[1.0, 2.0], [inf, 3.0], [3.0, nan]])
    result, _, invstd = lib.native_batch_norm(x, None, None, None, None, True, 0.1, 1e-5)
    assert result.isnan().all() and invstd.isnan().all()
    # A variance that rounds below zero counts as zero.
    assert lib.native_batch_norm(lib.full((3, 1), 0.1), None, None, None, None, True, 0.1, 1.0)[2].item() == 1


def test_places_of_long_triangles(lib):
    assert lib.triu_indices(2**40, 3, -1).tolist() == [[0, 0, 0, 1, 1, 1, 2, 2, 3], [0, 1, 2, 0, 1, 2, 1, 2, 2]]
    assert lib.tril_indices(2**20, 2, 1 - 2**20).tolist() == [[2**20 - 1], [0]]
    for rows, columns, offset in [(3, 4, 1), (4, 3, -2), (5, 2, 0), (2, 5, 9), (2, 5, -9), (0, 3, 0), (3, 0, 0)]:
        ones = lib.ones(rows, columns, dtype=lib.int64)
        assert lib.triu_indices(rows, columns, offset).tolist() == lib.triu(ones, offset).nonzero().T.tolist()
        assert lib.tril_indices(rows, columns, offset).tolist() == lib.tril(ones, offset).nonzero().T.tolist()


@pytest.mark.filterwarnings("ignore:Casting complex values to real")
def test_fill_with_a_tensor_casts(lib):
    assert lib.zeros(2).fill_(lib.tensor(1 + 2j)).tolist() == [1, 1]
    assert lib.fill(lib.zeros(2), lib.tensor(1e308, dtype=lib.float64)).tolist() == [inf, inf]
    with pytest.raises(RuntimeError):
        lib.zeros(2).fill_(1 + 2j)


def test_gradients_at_nan(lib):
    values = [nan, -1.0, 0.0, 2.0]
    of = lambda function, x=values: gradient(function, lib.tensor(x, dtype=lib.float64))  # noqa: E731
    functional = lib.nn.functional
    assert same(of(functional.elu), [1, math.exp(-1), 1, 1])
    assert same(of(functional.celu), [1, math.exp(-1), 1, 1])
    assert of(functional.selu)[0] == pytest.approx(1.0507009873554805)
    assert of(lambda x: lib.renorm(x.reshape(2, 2), 1, -1, inf), [1.0, 2, 3, 4]) == [1, 1, 1, 1]
    assert same(of(lib.special.entr), [nan, nan, inf, -math.log(2) - 1])
    assert same(of(lambda x: lib.logaddexp2(x, x.detach()), [inf, 1.0]), [nan, 0.5])


def test_no_excess_of_nan(lib):
    loss = lib.nn.functional.multi_margin_loss
    assert loss(lib.tensor([nan, 1.0, 2.0]), lib.tensor(2), p=2).item() == 0
    assert loss(lib.tensor([[1.0, 3.0, 2.0]]), lib.tensor([2])).item() == pytest.approx(2 / 3)


def test_empty_and_other_shapes(lib):
    assert lib.roll(lib.ones(4, 0), [4], [5]).shape == (4, 0)
    pool2d, pool3d = lib.nn.functional.adaptive_avg_pool2d, lib.nn.functional.adaptive_avg_pool3d
    assert pool2d(lib.ones(2, 1, 2, 3, 3), 1).shape == (2, 1, 2, 1, 1) and pool2d(lib.ones(2, 3), 1).shape == (1, 1)
    assert pool3d(lib.ones(2, 3, 4), 1).tolist() == [[[1]]] and pool3d(lib.ones(1, 2, 3, 4), 1).shape == (1, 1, 1, 1)


def test_nearest_of_twice_the_size(lib):
    # 3 * 2.2 is 6 elements, twice as many: each is taken twice.
    rows = lib.tensor([0.0, 1, 2])
    planes = lib.nn.functional.interpolate(rows.reshape(1, 1, 3, 1), scale_factor=(2.2, 1.0))
    assert planes.flatten().tolist() == [0, 0, 1, 1, 2, 2]
    # Not of lines and volumes.
    x = rows.reshape(1, 1, 3)
    assert lib.nn.functional.interpolate(x, scale_factor=2.2).flatten().tolist() == [0, 0, 0, 1, 1, 2]
    assert lib.nn.functional.interpolate(x, scale_factor=2.4).flatten().tolist() == [0, 0, 0, 1, 1, 2, 2]
    exact = lib.nn.functional.interpolate(x, scale_factor=2.2, mode="nearest-exact")
    assert exact.flatten().tolist() == [0, 0, 1, 1, 2, 2]


def test_many_differences(lib):
    assert lib.diff(lib.ones(2, 2), 2**40).shape == (2, 0) and lib.diff(lib.tensor([1.0, 4.0, 9.0]), 2).tolist() == [2]


def test_bools_in_lists_of_integers(lib):
    assert lib.reshape(lib.ones(4), [4, True]).shape == (4, 1) and lib.sum(lib.ones(2, 2), [0, True]).item() == 4
    # Not in the place of dimensions: a flag.
    assert lib.ones(2, 4).var(1, False, True).shape == (2, 1)
    with pytest.raises(TypeError):
        lib.reshape(lib.ones(4), [True, 4])


OUTS = """
dot(i, i, out=d); vdot(i, i, out=d); mv(m, v, out=d); matmul(m, m, out=d); linalg.inv(m, out=d); linalg.cholesky(m, out=d)
linalg.solve(m, v, out=d); linalg.norm(v, out=d); linalg.det(m, out=d); linalg.multi_dot([m, m], out=d); inner(i, i, out=d)
addmv(v, m, v, out=d); addbmm(m, b, b, out=d); quantile(v, 0.5, out=d); nan_to_num(v, out=d); searchsorted(v, v, out=d)
float_power(v, 2, out=c); logcumsumexp(v, 0, out=d); take_along_dim(v, i, 0, out=d); diag(v, out=d); matrix_power(m, 2, out=d)
"""


@pytest.mark.parametrize("call", [c.strip() for line in OUTS.strip().splitlines() for c in line.split(";")])
def test_outs_of_the_results_dtype(lib, call):
    names = {
        "v": lib.ones(2),
        "i": lib.ones(2, dtype=lib.int64),
        "m": lib.eye(2),
        "b": lib.ones(1, 2, 2),
        "d": lib.empty(0, dtype=lib.float64),
        "c": lib.empty(0, dtype=lib.complex128),
    }
    with pytest.raises(RuntimeError):
        eval(f"lib.{call}", {"lib": lib, **names})


def test_classes_of_errors(lib):
    for bad in (
        lambda: lib.positive(lib.ones(2, dtype=lib.bool)),
        lambda: lib.complex(lib.ones(2, dtype=lib.int32), lib.ones(2, dtype=lib.int32)),
        lambda: lib.heaviside(lib.ones(2, dtype=lib.complex64), lib.ones(2)),
    ):
        with pytest.raises(NotImplementedError):
            bad()
    bce = lib.nn.functional.binary_cross_entropy
    for bad in (
        lambda: bce(lib.tensor([0.5]), lib.tensor([2.0])),
        lambda: bce(lib.tensor([nan]), lib.tensor([1.0])),
        lambda: lib.mvlgamma(lib.ones(2, dtype=lib.bool), 1),
        lambda: lib.ops.aten.einsum("ij,jk", [lib.ones(2, 2), lib.ones(2, 2)], path=[-3]),
        lambda: lib.linalg.lu_solve(lib.eye(3), lib.tensor([1, 2, 7], dtype=lib.int32), lib.ones(3, 2)),
        lambda: lib.linalg.lu_solve(lib.eye(3), lib.tensor([0, 2, 3], dtype=lib.int32), lib.ones(3, 2)),
        lambda: lib.linalg.vecdot(lib.ones(3), lib.ones(3, dtype=lib.uint8)),
        lambda: lib.addmv(lib.ones(2, dtype=lib.int32), lib.ones(2, 3), lib.ones(3)),
        lambda: lib.addbmm(lib.ones(2, dtype=lib.int32), lib.ones(2, 2, 3), lib.ones(2, 3, 2)),
        lambda: lib.ops.aten.im2col(lib.ones(1, 4, 5), [2, 2], [2, 1], [1, 0], [1, 2, 1]),
    ):
        with pytest.raises(RuntimeError):
            bad()


def test_lists_in_place_are_returned(lib):
    x, y = lib.ones(2), lib.ones(1)
    assert [t.tolist() for t in lib._foreach_add_([x, y], 1)] == [[2, 2], [2]]
    assert lib._foreach_zero_([x])[0] is x and lib._foreach_copy_([y], [lib.zeros(1)])[0] is y and y.item() == 0


def test_method_as_function(lib):
    x = lib.ones(2, 3)
    assert lib.as_strided_(x, [3], [1]) is x and x.shape == (3,)


def test_places_of_distinct_slices(lib):
    values, inverse, counts = lib.ops.aten.unique_dim(lib.tensor([[1, 2], [1, 2]]), 0, True, False, True)
    assert values.tolist() == [[1, 2]] and inverse.tolist() == [0, 0] and counts.tolist() == [2]


def test_pivots_beside_the_matrix():
    LD = tenon.tensor([[2.0, 0.0], [0.5, 3.0]], dtype=tenon.float64)
    solved = tenon.linalg.ldl_solve(LD, tenon.tensor([1, 2], dtype=tenon.int32), tenon.ones(2, 1, dtype=tenon.float64))
    assert solved.isfinite().all()
    for pivots in ([1, 3], [0, 2], [-3, 1], [2**31 - 1, 1], [-(2**31), 1]):
        with pytest.raises(RuntimeError, match="pivots"):
            tenon.linalg.ldl_solve(LD, tenon.tensor(pivots, dtype=tenon.int32), tenon.ones(2, 1, dtype=tenon.float64))
