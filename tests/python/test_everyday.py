"""Functions whose Python form is another than the operator's, each against what can be counted by hand."""

import math

import pytest
import tenon
from tenon.nn import functional as F


def test_several_tensors_come_one_by_one_or_as_a_list():
    x, y = tenon.tensor([1, 2]), tenon.tensor([3, 4, 5])
    for grid in (tenon.meshgrid(x, y), tenon.meshgrid([x, y], indexing="ij")):
        assert [g.tolist() for g in grid] == [[[1, 1, 1], [2, 2, 2]], [[3, 4, 5], [3, 4, 5]]]
    assert tenon.meshgrid(x, y, indexing="xy")[0].tolist() == [[1, 2], [1, 2], [1, 2]]
    assert tenon.cartesian_prod(x, y).tolist() == [[1, 3], [1, 4], [1, 5], [2, 3], [2, 4], [2, 5]]
    assert tenon.block_diag(x, y).tolist() == [[1, 2, 0, 0, 0], [0, 0, 3, 4, 5]]
    assert [t.tolist() for t in tenon.broadcast_tensors(x, tenon.tensor([[5], [6]]))] == [
        [[1, 2], [1, 2]],
        [[5, 5], [6, 6]],
    ]
    assert [t.shape for t in tenon.atleast_2d(x, tenon.tensor(1))] == [(1, 2), (1, 1)] and tenon.atleast_3d(
        x
    ).shape == (1, 2, 1)


def test_shapes_broadcast_as_tensors_do():
    assert tenon.broadcast_shapes((2, 1), (3,), 1) == (2, 3)
    assert tenon.broadcast_shapes((0,), (1,)) == (0,) and tenon.broadcast_shapes() == ()
    with pytest.raises(RuntimeError, match="broadcast"):
        tenon.broadcast_shapes((2,), (3,))


def test_sums_over_named_dimensions():
    a, b = tenon.arange(6.0).reshape(2, 3), tenon.arange(12.0).reshape(3, 4)
    product = (a @ b).tolist()
    assert tenon.einsum("ij,jk->ik", a, b).tolist() == product
    assert tenon.einsum("ij,jk", [a, b]).tolist() == product
    assert tenon.einsum(a, [0, 1], b, [1, 2], [0, 2]).tolist() == product
    assert tenon.tensordot(a, b, 1).tolist() == product
    assert tenon.tensordot(a, b.T.contiguous(), ([1], [1])).tolist() == product
    with pytest.raises(RuntimeError, match=r"\[0, 52\)"):
        tenon.einsum(a, [0, 52])
    with pytest.raises(RuntimeError, match="dims >= 0"):
        tenon.tensordot(a, b, -1)


def test_unique_gives_what_is_asked_for():
    x = tenon.tensor([3, 1, 3, 2])
    assert tenon.unique(x).tolist() == [1, 2, 3]
    values, inverse, counts = tenon.unique(x, return_inverse=True, return_counts=True)
    assert (values.tolist(), inverse.tolist(), counts.tolist()) == ([1, 2, 3], [2, 0, 2, 1], [1, 1, 2])
    rows, counts = tenon.unique(tenon.tensor([[1, 2], [0, 5], [1, 2]]), dim=0, return_counts=True)
    assert (rows.tolist(), counts.tolist()) == ([[0, 5], [1, 2]], [1, 2])
    assert tenon.unique_consecutive(tenon.tensor([1, 1, 2, 1])).tolist() == [1, 2, 1]


def test_signs_and_threads():
    assert tenon.is_signed(tenon.tensor([1])) and not tenon.is_signed(tenon.tensor([True]))
    before = tenon.get_num_threads()
    try:
        tenon.set_num_threads(1)
        assert tenon.get_num_threads() == 1
        with pytest.raises(RuntimeError, match="positive"):
            tenon.set_num_threads(0)
    finally:
        tenon.set_num_threads(before)


def test_attention_by_hand():
    query = tenon.tensor([[[1.0, 0.0]]])
    key = tenon.tensor([[[2.0, 0.0], [0.0, 0.0]]])
    value = tenon.tensor([[[1.0], [3.0]]])
    first = 1 / (1 + math.exp(-2 / math.sqrt(2)))
    out = F.scaled_dot_product_attention(query, key, value)
    assert out.item() == pytest.approx(first * 1 + (1 - first) * 3)
    one = F.scaled_dot_product_attention(query, key, value, attn_mask=tenon.tensor([[False, True]]))
    none = F.scaled_dot_product_attention(query, key, value, attn_mask=tenon.tensor([[False, False]]))
    assert one.item() == 3.0 and none.item() == 0.0
    heads = F.scaled_dot_product_attention(
        query.expand(1, 4, 1, 2), key.expand(1, 2, 2, 2), value.expand(1, 2, 2, 1), enable_gqa=True
    )
    assert heads.flatten().tolist() == pytest.approx([out.item()] * 4)


def test_losses_reduce_as_named():
    p, t = tenon.tensor([0.5, 0.25]), tenon.tensor([1.0, 0.0])
    by_hand = [-math.log(0.5), -math.log(0.75)]
    assert F.binary_cross_entropy(p, t, reduction="none").tolist() == pytest.approx(by_hand)
    assert F.binary_cross_entropy(p, t, reduction="sum").item() == pytest.approx(sum(by_hand))
    x = tenon.tensor([[0.5, 0.5]]).log()
    target = tenon.tensor([[0.25, 0.75]])
    divergence = 0.25 * math.log(0.5) + 0.75 * math.log(1.5)
    assert F.kl_div(x, target, reduction="batchmean").item() == pytest.approx(divergence)
    assert F.kl_div(x, target, reduction="mean").item() == pytest.approx(divergence / 2)
    var = tenon.tensor([2.0, 4.0])
    gaussian = [0.5 * (math.log(v) + d * d / v) for v, d in ((2.0, -0.5), (4.0, 0.25))]
    assert F.gaussian_nll_loss(p, t, var, reduction="none").tolist() == pytest.approx(gaussian)
    with pytest.raises(ValueError, match="negative"):
        F.gaussian_nll_loss(p, t, -var)
    with pytest.raises(ValueError, match="not a valid value"):
        F.soft_margin_loss(p, t, reduction="median")


def test_norms_of_vectors_groups_and_instances():
    assert F.normalize(tenon.tensor([[3.0, 4.0], [0.0, 0.0]])).tolist() == [pytest.approx([0.6, 0.8]), [0.0, 0.0]]
    x = tenon.tensor([[[1.0, 3.0], [2.0, 6.0]]])
    assert F.instance_norm(x, eps=0.0).flatten().tolist() == pytest.approx([-1, 1, -1, 1])
    assert F.group_norm(x, 2, eps=0.0).flatten().tolist() == pytest.approx([-1, 1, -1, 1])
    assert F.rms_norm(x, (2,), eps=0.0)[0, 0].tolist() == pytest.approx([1 / math.sqrt(5), 3 / math.sqrt(5)])
    mean, var = tenon.zeros(2), tenon.ones(2)
    F.instance_norm(x, mean, var, momentum=0.5)
    assert mean.tolist() == [1.0, 2.0] and var.tolist() == [1.5, 4.5]


def test_images_in_another_size():
    x = tenon.arange(4.0).reshape(1, 1, 2, 2)
    assert F.interpolate(x, scale_factor=2)[0, 0].tolist() == [[0, 0, 1, 1], [0, 0, 1, 1], [2, 2, 3, 3], [2, 2, 3, 3]]
    assert F.interpolate(x, (1, 3), mode="bilinear", align_corners=True)[0, 0].tolist() == [[0, 0.5, 1]]
    assert F.interpolate(x, 1, mode="bilinear").item() == 1.5
    assert F.max_pool1d(tenon.tensor([[1.0, 5.0, 2.0]]), 2, 1, return_indices=True)[1].tolist() == [[1, 1]]
    with pytest.raises(NotImplementedError, match="Got 4D input, but trilinear mode needs 5D"):
        F.interpolate(x, 4, mode="trilinear")
    with pytest.raises(NotImplementedError, match="the modes are nearest, "):
        F.interpolate(x, 4, mode="cubic")
    with pytest.raises(ValueError, match="either size or scale_factor should be defined"):
        F.interpolate(x)
    with pytest.raises(ValueError, match="restricted to bilinear and bicubic"):
        F.interpolate(x, 4, antialias=True)
    with pytest.raises(ValueError, match="align_corners option can only be set"):
        F.interpolate(x, 4, align_corners=False)


def test_means_over_whole_elements_and_filters_of_smaller_images():
    x = tenon.arange(8.0).reshape(1, 1, 8)
    assert F.interpolate(x, 3, mode="area").tolist() == [[[1, 3.5, 6]]]
    step = tenon.zeros(1, 1, 1, 8)
    step[..., 4:] = 1
    # Each element of the smaller image is a mean of more than two: triangles of width 4 around 1.5 and 5.5.
    small = F.interpolate(step, (1, 2), mode="bilinear", antialias=True)
    assert small.shape == (1, 1, 1, 2)
    assert small.flatten().tolist() == pytest.approx([0.0625 + 0.0625 + 0.0, 1 - 0.125], abs=0.05)


def test_names_that_promote_and_that_change_nothing():
    assert tenon.result_type(tenon.ones(2, dtype=tenon.int32), 1.5) == tenon.float32
    assert tenon.result_type(tenon.ones(2, dtype=tenon.float16), tenon.ones((), dtype=tenon.float64)) == tenon.float16
    assert tenon.result_type(1, True) == tenon.int64 and tenon.result_type(tenon.ones(1), 2j) == tenon.complex64
    with pytest.raises(TypeError, match="tensors and numbers, got str"):
        tenon.result_type("a", 1)
    tenon.use_deterministic_algorithms(True, warn_only=True)
    assert tenon.are_deterministic_algorithms_enabled() and tenon.is_deterministic_algorithms_warn_only_enabled()
    tenon.use_deterministic_algorithms(False)
    assert not tenon.are_deterministic_algorithms_enabled()
    x = tenon.tensor([3, 1, 3])
    assert x.unique().tolist() == [1, 3] and [t.tolist() for t in x.unique_consecutive(return_counts=True)] == [
        [3, 1, 3],
        [1, 1, 1],
    ]


def test_unique_along_a_dimension():
    x = tenon.tensor([[3, 1, 3], [2, 5, 2]])
    values, inverse = tenon.unique(x, return_inverse=True, dim=1)
    assert values.tolist() == [[1, 3], [5, 2]] and inverse.tolist() == [1, 0, 1]
    assert values.stride() == (1, 2)  # slices side by side, as PyTorch lays them
    assert tenon.unique(tenon.zeros(2, 0), dim=1).shape == (2, 0)
    with pytest.raises(RuntimeError, match="zero sized dimensions"):
        tenon.unique(tenon.zeros(0, 0), dim=1)


def test_unique_of_unsigned_numbers():
    for dtype in (tenon.uint16, tenon.uint32, tenon.uint64):
        x = (
            tenon.tensor([-1, 3, -1, 1]).to(tenon.int16).view(tenon.uint16)
            if dtype is tenon.uint16
            else tenon.tensor([-1, 3, -1, 1]).to(tenon.int32 if dtype is tenon.uint32 else tenon.int64).view(dtype)
        )
        values, counts = tenon.unique(x, return_counts=True)
        signed = {tenon.uint16: tenon.int16, tenon.uint32: tenon.int32, tenon.uint64: tenon.int64}[dtype]
        assert values.dtype is dtype
        assert values.view(signed).tolist() == [1, 3, -1]  # the largest, and so the last
        assert counts.tolist() == [1, 1, 2]


def test_one_number_is_a_number_before_it_is_a_list():
    x = tenon.arange(6)
    assert [t.tolist() for t in x.hsplit(2)] == [[0, 1, 2], [3, 4, 5]]
    assert [t.tolist() for t in x.hsplit([2])] == [[0, 1], [2, 3, 4, 5]]
    assert x.view(-1).shape == (6,) and x.view(2, 3).shape == (2, 3)


def test_whole_numbers_lose_fractions_first():
    assert tenon.logspace(0, 1.2, 2, dtype=tenon.int32).tolist() == [1, 10]
    m, v = tenon.tensor([[1, 2], [3, 4]]), tenon.tensor([1, 1])
    assert tenon.addmv(tenon.tensor([5, 5]), m, v, beta=0.6, alpha=2.9).tolist() == [6, 14]
    assert tenon.diff(tenon.tensor([1, 4]), n=0, prepend=tenon.tensor([0])).tolist() == [1, 4]


def test_windows_of_images_and_back():
    image = tenon.arange(12.0).reshape(1, 1, 3, 4)
    columns = F.unfold(image, 2)
    assert columns.shape == (1, 4, 6) and columns[0, :, 1].tolist() == [1, 2, 5, 6]
    assert F.fold(columns, (3, 4), 2).tolist() == [[[[0, 2, 4, 3], [8, 20, 24, 14], [8, 18, 20, 11]]]]
    assert F.lp_pool2d(image, 2, 2)[0, 0, 0].tolist() == pytest.approx(
        [math.sqrt(0 + 1 + 16 + 25), math.sqrt(4 + 9 + 36 + 49)]
    )
    assert F.lp_pool1d(image[0], 1, 2)[0, 0].tolist() == pytest.approx([1, 5])
    channels = tenon.tensor([1.0, 2.0, 3.0]).reshape(1, 3, 1)
    normed = F.local_response_norm(channels, 2, alpha=1.0, beta=1.0, k=1.0)
    assert normed.flatten().tolist() == pytest.approx([1 / 1.5, 2 / 3.5, 3 / 7.5])
    with pytest.raises(ValueError, match="3D"):
        F.local_response_norm(tenon.ones(2, 2), 2)


def test_losses_of_many_classes():
    scores = tenon.tensor([[0.1, 0.2, 0.4, 0.8]])
    assert F.multi_margin_loss(scores, tenon.tensor([3])).item() == pytest.approx((0.3 + 0.4 + 0.6) / 4)
    labels = tenon.tensor([[0.0, 1.0, 1.0, 0.0]])
    expected = F.binary_cross_entropy_with_logits(scores, labels).item()
    assert F.multilabel_soft_margin_loss(scores, labels).item() == pytest.approx(expected)


def test_gumbel_samples():
    tenon.manual_seed(0)
    logits = tenon.tensor([0.0, math.log(3.0)]).expand(4000, 2).clone().requires_grad_()
    hard = F.gumbel_softmax(logits, hard=True)
    assert hard.sum(1).tolist() == [1.0] * 4000
    assert hard.mean(0).tolist() == pytest.approx([0.25, 0.75], abs=0.03)
    assert tenon.autograd.grad(hard[:, 0].sum(), logits)[0].abs().sum() > 0


def test_results_are_not_written_over_what_they_are_made_of():
    x = tenon.tensor([3.0, 1.0, 2.0, 5.0])
    whole = tenon.empty(0, dtype=tenon.int64)
    with pytest.raises(RuntimeError, match="single memory location"):
        tenon.kthvalue(x, 2, out=(x, whole))
    with pytest.raises(RuntimeError, match="single memory location"):
        tenon.take(x, tenon.tensor([1, 0, 2, 3]), out=x)
    with pytest.raises(ValueError, match="must not overlap"):
        tenon.aminmax(x, dim=0, out=(shared := tenon.empty(()), shared))
    with pytest.raises(RuntimeError, match="dtype float, but got double"):
        tenon.aminmax(x, dim=0, out=(tenon.empty(()), tenon.empty((), dtype=tenon.float64)))
    low, high = tenon.empty(()), tenon.empty(5)
    assert tenon.aminmax(x, dim=0, out=(low, high))[0] is low and (low.item(), high.tolist()) == (1, 5)
    value, place = tenon.kthvalue(x, 3, out=(tenon.empty(0), whole))
    assert (value.item(), place.item()) == (3, 0) and place is whole


def test_powers_in_place_are_of_doubles():
    x = tenon.tensor([2.0, 3.0], dtype=tenon.float64)
    assert x.float_power_(2) is x and x.tolist() == [4, 9]
    with pytest.raises(RuntimeError, match="float_power_ has dtype"):
        tenon.ones(2).float_power_(2)


def test_gradients_of_what_does_not_count_are_zeros():
    x, a, b = tenon.full((2, 2), tenon.nan, requires_grad=True), tenon.ones(3, 2, 1), tenon.ones(3, 1, 2)
    (grad,) = tenon.autograd.grad(tenon.addbmm(x, a, b, beta=0).sum(), x)
    assert grad.tolist() == [[0, 0], [0, 0]]
    source = tenon.ones(3, requires_grad=True)
    (grad,) = tenon.autograd.grad(tenon.zeros(3).masked_scatter(tenon.tensor(False), source).sum(), source)
    assert grad.tolist() == [0, 0, 0]
    z = tenon.tensor([1 + 2j], requires_grad=True)
    (grad,) = tenon.autograd.grad(
        tenon.lerp(z, tenon.tensor([2 - 1j]), 0.5j).sum(), z, tenon.tensor(1 + 0j), create_graph=True
    )
    assert grad.tolist() == [1 + 0.5j]


def test_adjoint_matrices():
    x = tenon.tensor([[1 + 2j, 3.0], [4j, 5.0]])
    assert x.mH.tolist() == x.H.tolist() == x.adjoint().tolist() == [[1 - 2j, -4j], [3, 5]]
    with pytest.raises(RuntimeError, match="only supported on matrices"):
        x[0].mH  # noqa: B018
    with pytest.raises(RuntimeError, match="Got 3-D tensor"):
        x[None].H  # noqa: B018
    U, S, V = tenon.tensor([[3.0, 0.0], [0.0, -4.0]]).svd()
    assert S.tolist() == [4, 3] and (U @ S.diag() @ V.mH).tolist() == [[3, 0], [0, -4]]


def test_distances_between_rows():
    a, b = tenon.tensor([[0.0, 0], [3, 4]]), tenon.tensor([[0.0, 0], [6, 8], [3, 0]])
    for mode in ("use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist"):
        assert tenon.cdist(a, b, compute_mode=mode).tolist() == [[0, 10, 3], [5, 5, 4]]
    assert tenon.cdist(a, b, p=1).tolist() == [[0, 14, 3], [7, 7, 4]]
    with pytest.raises(ValueError, match="mm is not a valid value for compute_mode"):
        tenon.cdist(a, b, compute_mode="mm")
    assert tenon.linalg.vander(tenon.tensor([2, 3]), N=3).tolist() == [[1, 2, 4], [1, 3, 9]]


def test_drawing_from_weights():
    tenon.manual_seed(0)
    weights = tenon.tensor([0.0, 1.0, 3.0, 0.0, 4.0])
    drawn = tenon.multinomial(weights, 40_000, replacement=True)
    counts = tenon.bincount(drawn, minlength=5) / 40_000
    assert counts[0] == 0 and counts[3] == 0 and (counts - weights / 8).abs().max() < 0.015
    rows = tenon.multinomial(weights.expand(20_000, 5), 3)
    assert (rows.sort(1)[0] == tenon.tensor([1, 2, 4])).all()
    # The first of a draw without replacement, and the second after it, by their weights.
    first = tenon.bincount(rows[:, 0], minlength=5) / 20_000
    assert (first - weights / 8).abs().max() < 0.02
    after = rows[rows[:, 0] == 4, 1]
    assert abs((after == 2).sum().item() / len(after) - 3 / 4) < 0.02
    again = [tenon.multinomial(weights, 3, generator=tenon.Generator().manual_seed(1)).tolist() for _ in range(2)]
    assert again[0] == again[1]
    assert tenon.multinomial(tenon.ones(0, 3), 2).shape == (0, 2)
