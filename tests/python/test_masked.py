"""Operators under a mask, against the same operators of the elements that the mask keeps."""

import math

import pytest
import tenon
from tenon import masked

KEPT = [[True, False, True, True], [False, False, False, False], [False, True, False, True]]


def rows(dtype=tenon.float64):
    return tenon.arange(12).reshape(3, 4).to(dtype) * 0.75 - 2


def kept_of(x):
    return [[value for value, keep in zip(row, flags) if keep] for row, flags in zip(x.tolist(), KEPT)]


@pytest.mark.parametrize(
    "name, of_values",
    {
        "sum": sum,
        "prod": math.prod,
        "amax": lambda v: max(v, default=-math.inf),
        "amin": lambda v: min(v, default=math.inf),
        "mean": lambda v: sum(v) / len(v) if v else math.nan,
        "median": lambda v: sorted(v)[(len(v) - 1) // 2] if v else math.nan,
        "norm": lambda v: math.hypot(*v),
        "var": lambda v: tenon.tensor(v).double().var().item() if v else math.nan,
        "std": lambda v: tenon.tensor(v).double().std().item() if v else math.nan,
        "logsumexp": lambda v: math.log(sum(map(math.exp, v))) if v else -math.inf,
    }.items(),
)
def test_reductions_see_what_is_kept(name, of_values):
    x = rows()
    found = getattr(masked, name)(x, dim=1, mask=tenon.tensor(KEPT))
    assert found.tolist() == pytest.approx([of_values(v) for v in kept_of(x)], nan_ok=True)


def test_places_softmax_and_scans():
    x, mask = rows(), tenon.tensor(KEPT)
    assert masked.argmax(x, 1, mask=mask).tolist() == [3, 0, 3]
    assert masked.argmin(x, 1, mask=mask).tolist() == [0, 0, 1]
    soft = masked.softmax(x, 1, mask=mask)
    for row, values, flags in zip(soft.tolist(), x.tolist(), KEPT):
        total = sum(math.exp(v) for v, keep in zip(values, flags) if keep)
        expected = [math.exp(v) / total if keep else 0.0 for v, keep in zip(values, flags)] if total else [math.nan] * 4
        assert row == pytest.approx(expected, nan_ok=True)
    assert masked.cumsum(x, 1, mask=mask)[0].tolist() == [-2.0, -2.0, -2.5, -2.25]
    assert masked.cumprod(x, 1, mask=mask)[2].tolist() == [1.0, 4.75, 4.75, 4.75 * 6.25]
    assert masked.log_softmax(x, 1, mask=mask)[0].exp().tolist() == pytest.approx(soft[0].tolist())
    assert masked.softmin(-x, 1, mask=mask)[0].tolist() == pytest.approx(soft[0].tolist())


def test_gradients_reach_what_is_kept_alone():
    x = rows().requires_grad_()
    masked.sum(x * x, mask=tenon.tensor(KEPT)).backward()
    expected = tenon.where(tenon.tensor(KEPT), 2 * x.detach(), tenon.zeros((), dtype=x.dtype))
    assert tenon.equal(x.grad, expected)


def test_dtypes_and_dimensions():
    x = tenon.tensor([[1, 2], [3, 4]], dtype=tenon.int32)
    mask = tenon.tensor([True, False])
    assert masked.sum(x, mask=mask).item() == 4 and masked.sum(x).dtype == tenon.int64
    assert masked.amax(x, 1, mask=~mask & mask).tolist() == [-(2**31)] * 2
    assert masked.sum(x, (0, 1), keepdim=True).shape == (1, 1)
    assert masked.median(x, 1, mask=mask).tolist() == [1, 3]
    assert masked.mean(x, 0, dtype=tenon.float64, mask=mask).tolist() == pytest.approx([2.0, math.nan], nan_ok=True)


def test_bad_calls():
    x = rows()
    with pytest.raises(ValueError, match="must be either a floating point or complex dtype"):
        masked.mean(tenon.tensor([1, 2]))
    with pytest.raises(IndexError, match="broadcastable mask"):
        masked.sum(x, mask=tenon.ones(1, 3, 4))
    with pytest.raises(RuntimeError, match="dim=0 appears multiple times"):
        masked.sum(x, (0, -2))
    with pytest.raises(IndexError, match="got 2"):
        masked.sum(x, 2)
    with pytest.raises(NotImplementedError, match="identity of amax"):
        masked.amax(x > 0, mask=tenon.tensor(KEPT))
    with pytest.raises(ValueError, match="no fully masked out rows"):
        masked.median(tenon.tensor([1, 2]), 0, mask=tenon.tensor([False, False]))
    with pytest.raises(AssertionError, match="Only one of"):
        masked.var(x, 1, True, correction=1)


def test_what_reductions_leave_of_masks(lib):
    masked = lib.masked
    x, mask = lib.arange(6.0).view(2, 3), lib.tensor([[True, False, False], [False, False, False]])
    assert masked._canonical_dim((-1, 0), 2) == (0, 1) and masked._canonical_dim(None, 3) == (0, 1, 2)
    assert masked._canonical_dim(-1, 2) == (1,)
    assert masked._input_mask(x, mask=mask[:, :1]).tolist() == [[True] * 3, [False] * 3]
    assert masked._output_mask(masked.sum, x, 1, mask=mask).tolist() == [True, False]
    assert masked._output_mask(masked.norm, x, 2.0, 0, mask=mask, keepdim=True).tolist() == [[True, False, False]]
    assert masked._output_mask(masked.softmax, x, 0, mask=mask).tolist() == mask.tolist()
    for name, value in {
        "sum": 0,
        "prod": 1,
        "amax": -float("inf"),
        "amin": float("inf"),
        "logsumexp": -float("inf"),
    }.items():
        assert float(masked._reduction_identity(name, x)) == value
    assert masked._reduction_identity("mean", x) is None
    assert float(masked._reduction_identity("norm", x, -float("inf"))) == float("inf")


@pytest.mark.parametrize("name", ["sum", "prod", "amax", "amin", "mean"])
@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize("layout", [tenon.sparse_coo, tenon.sparse_csr])
def test_sparse_inputs_count_missing_elements_as_zeros(name, dim, layout):
    x = tenon.tensor([[1.0, 0, 2], [0, 0, 3], [4, 5, 0]])
    mask = tenon.tensor([[True, True, False], [True, False, False], [False, False, False]])
    reduction = getattr(tenon.masked, name)
    result = reduction(x.to_sparse(layout=layout), dim, keepdim=True, mask=mask.to_sparse(layout=layout))
    assert result.layout == layout
    expected = reduction(x, dim, keepdim=True, mask=mask)
    counts = mask.any(dim, keepdim=True)
    assert result.to_dense().tolist() == tenon.where(counts, expected, tenon.zeros_like(expected)).tolist()
    assert reduction(x, dim, mask=mask.to_sparse()).equal(reduction(x, dim, mask=mask)) or name == "mean"
    if name != "sum":
        with pytest.raises(ValueError, match=f"masked {name} expects explicit mask for sparse_"):
            reduction(x.to_sparse(layout=layout), dim)
