"""What layers and their functions take, refuse and compute at the edges of their definition: PyTorch's rules, numbers of PyTorch 2.15."""

import math
import warnings

import pytest
import tenon
from tenon import nn
from tenon.nn import functional as F

INF = math.inf


def finite(t):
    return bool(tenon.isfinite(t).all())


# ---- attention with rows that see nothing ----

PADDING = tenon.tensor([[False, False, True], [True, True, True]])
BLIND_ROW = tenon.zeros(3, 3, dtype=tenon.bool)
BLIND_ROW[1] = True
BLIND_HEAD = tenon.zeros(4, 3, 3, dtype=tenon.bool)
BLIND_HEAD[2] = True
MASKS = [
    {"key_padding_mask": PADDING},
    {"key_padding_mask": tenon.zeros(2, 3).masked_fill(PADDING, -INF)},
    {"attn_mask": BLIND_ROW},
    {"attn_mask": BLIND_HEAD},
    {"attn_mask": BLIND_ROW, "key_padding_mask": PADDING},
]


def attention(masks, dtype=tenon.float64, **options):
    tenon.manual_seed(0)
    layer = nn.MultiheadAttention(4, 2, batch_first=True, dtype=dtype)
    with tenon.no_grad():
        layer.out_proj.bias.copy_(tenon.tensor([1.0, 2.0, 3.0, 4.0]))
    x = tenon.randn(2, 3, 4, dtype=dtype, requires_grad=True)
    masks = {name: mask if mask.dtype == tenon.bool else mask.to(dtype) for name, mask in masks.items()}
    return layer, x, layer(x, x, x, **masks, **options)


@pytest.mark.parametrize("masks", MASKS)
@pytest.mark.parametrize("dtype", [tenon.float32, tenon.float64, tenon.bfloat16])
def test_attention_of_rows_that_see_nothing(masks, dtype):
    layer, x, (out, weights) = attention(masks, dtype, need_weights=False)
    assert weights is None and finite(out) and out.dtype == dtype
    out.sum().backward()
    assert all(finite(t) for t in (x.grad, *(p.grad for p in layer.parameters())))
    if masks.get("key_padding_mask") is not None:
        assert out[1].tolist() == [[1, 2, 3, 4]] * 3  # the bias of the output alone


def test_weights_of_rows_that_see_nothing_are_nan():
    layer, x, (out, weights) = attention(MASKS[0], need_weights=True)
    assert finite(out[0]) and finite(weights[0]) and bool(weights[1].isnan().all()) and bool(out[1].isnan().all())


def test_attention_is_the_same_with_and_without_weights():
    for masks in (
        {},
        {"key_padding_mask": tenon.zeros(2, 3, dtype=tenon.bool)},
        {"attn_mask": tenon.eye(3, dtype=tenon.bool)},
        {"key_padding_mask": PADDING[:1].expand(2, 3)},
    ):
        _, x, (with_weights, _) = attention(masks)
        _, y, (without, _) = attention(masks, need_weights=False)
        assert tenon.allclose(with_weights, without)
        with_weights.square().sum().backward()
        without.square().sum().backward()
        assert tenon.allclose(x.grad, y.grad)


def test_gradients_of_a_batch_with_a_sample_of_padding():
    def run(samples):
        tenon.manual_seed(1)
        layer = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True, dropout=0.0, dtype=tenon.float64)
        x = tenon.randn(2, 3, 4, dtype=tenon.float64)[:samples]
        layer(x, src_key_padding_mask=PADDING[:samples])[0].square().sum().backward()
        return [p.grad for p in layer.parameters()]

    for alone, beside in zip(run(1), run(2)):
        assert tenon.allclose(alone, beside)
    decoder = nn.TransformerDecoderLayer(4, 2, 8, batch_first=True, dropout=0.0)
    out = decoder(
        tenon.randn(2, 3, 4), tenon.randn(2, 3, 4), tgt_key_padding_mask=PADDING, memory_key_padding_mask=PADDING
    )
    out.sum().backward()
    assert finite(out) and all(finite(p.grad) for p in decoder.parameters())


# ---- dropout of channels ----


def constant_dimensions(t):
    return [d for d in range(t.dim()) if bool((t == t.narrow(d, 0, 1)).all())]


@pytest.mark.parametrize(
    ("function", "sizes", "whole", "warns"),
    [
        (F.dropout1d, (8, 9), [1], None),
        (F.dropout1d, (8, 9, 4), [2], None),
        (F.dropout2d, (8, 9), [], "2-D input to dropout2d, which is deprecated"),
        (
            F.dropout2d,
            (8, 9, 4),
            [2],
            "Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior is desired",
        ),
        (F.dropout2d, (8, 9, 4, 5), [2, 3], None),
        (F.dropout2d, (8, 9, 4, 5, 2), [2, 3, 4], "5-D input to dropout2d, which is deprecated"),
        (F.dropout3d, (8, 9, 4), [1, 2], "3-D input to dropout3d, which is deprecated"),
        (F.dropout3d, (8, 9, 4, 5), [1, 2, 3], None),
        (F.dropout3d, (8, 9, 4, 5, 2), [2, 3, 4], None),
    ],
)
def test_dropout_of_channels(function, sizes, whole, warns):
    for inplace in (False, True):
        tenon.manual_seed(0)
        x = tenon.ones(sizes)
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            y = function(x, 0.5, True, inplace)
        assert [warns in str(w.message) for w in seen] == ([True] if warns else [])
        assert y.shape == sizes and constant_dimensions(y) == whole and set(y.flatten().tolist()) == {0, 2}
        assert (x is y) == inplace


def test_dropout_of_channels_of_wrong_dimensions():
    for sizes in ((2,), (2, 3, 4, 5)):
        with pytest.raises(RuntimeError, match="dropout1d: Expected 2D or 3D input, but received a"):
            F.dropout1d(tenon.ones(sizes))
    with (
        pytest.warns(UserWarning, match="dropout2d"),
        pytest.raises(RuntimeError, match="Feature dropout requires at least 2 dimensions"),
    ):
        F.dropout2d(tenon.ones(2))


# ---- layers without elements ----


@pytest.mark.parametrize(
    "make",
    [
        lambda: nn.Conv1d(0, 8, 2),
        lambda: nn.Conv1d(8, 0, 2),
        lambda: nn.Conv2d(2, 8, 0),
        lambda: nn.ConvTranspose1d(0, 8, 2),
        lambda: nn.Linear(0, 3),
        lambda: nn.init.kaiming_normal_(tenon.empty(0)),
        lambda: nn.init.kaiming_uniform_(tenon.empty(0, 0)),
    ],
)
def test_nothing_to_initialise(make):
    with pytest.warns(UserWarning, match="Initializing zero-element tensors is a no-op") as seen:
        make()
    assert len(seen) == 1


@pytest.mark.filterwarnings("ignore:Initializing zero-element tensors")
def test_convolution_of_no_channels():
    assert nn.Linear(0, 3).bias.tolist() == [0, 0, 0]
    assert nn.ConvTranspose1d(0, 8, 2).bias.abs().max().item() > 0


def test_circular_padding_that_leaves_nothing():
    x = tenon.arange(6.0).view(1, 1, 6).requires_grad_()
    for pads in ((-6, 0), (-3, -3), (0, -6), (-2, -4)):
        y = F.pad(x, pads, mode="circular")
        assert y.shape == (1, 1, 0)
        assert tenon.autograd.grad(y.sum(), x)[0].tolist() == [[[0] * 6]]
    assert F.pad(tenon.ones(1, 1, 3, 4), (1, 1, -3, 0), mode="circular").shape == (1, 1, 0, 6)
    assert F.pad(tenon.ones(1, 3, 4), (1, 1, -3, 0), mode="circular").shape == (1, 0, 6)
    for mode, pads in (
        ("circular", (-7, 0)),
        ("circular", (7, 0)),
        ("circular", (-6, 2)),
        ("reflect", (-6, 0)),
        ("replicate", (-3, -3)),
    ):
        with pytest.raises(RuntimeError):
            F.pad(x, pads, mode=mode)


# ---- normalization ----


def test_group_norm_of_one_value_per_channel():
    for layer, sizes in (
        (nn.GroupNorm(10, 10), (1, 10)),
        (nn.GroupNorm(10, 10).eval(), (1, 10, 1, 1)),
        (nn.GroupNorm(1, 1), (1, 1, 1)),
    ):
        with pytest.raises(ValueError, match="Expected more than 1 value per channel when training, got input size"):
            layer(tenon.ones(sizes))
    for layer, sizes in (
        (nn.GroupNorm(10, 10), (2, 10)),
        (nn.GroupNorm(5, 10), (1, 10)),
        (nn.GroupNorm(2, 10), (0, 10, 3)),
    ):
        assert layer(tenon.ones(sizes)).shape == sizes
    with pytest.raises(RuntimeError, match="Expected at least 2 dimensions for input tensor but received 1"):
        F.group_norm(tenon.ones(10), 1)


def test_batch_norm_in_evaluation_needs_running_statistics():
    x = tenon.arange(6.0).view(3, 2)
    for missing in ("running_mean", "running_var"):
        layer = nn.BatchNorm1d(2).eval()
        setattr(layer, missing, None)
        with pytest.raises(RuntimeError, match="running_"):
            layer(x)
    for mean, var in ((None, None), (tenon.zeros(2), None), (None, tenon.ones(2))):
        with pytest.raises(RuntimeError):
            F.batch_norm(x, mean, var)
    assert nn.BatchNorm1d(2, track_running_stats=False).eval()(x).sum().abs().item() < 1e-6


def test_batch_norm_of_nothing():
    for dtype in (tenon.float32, tenon.int64, tenon.uint8, tenon.bool):
        for sizes in ((0,), (0, 2), (2, 0, 3)):
            y = F.batch_norm(tenon.ones(sizes, dtype=dtype), None, None)
            assert y.shape == sizes and y.dtype == dtype
    layer = nn.BatchNorm1d(2)
    layer(tenon.ones(0, 2)).sum().backward()
    assert (
        layer.weight.grad.tolist() == [0, 0]
        and layer.running_mean.tolist() == [0, 0]
        and layer.running_var.tolist() == [1, 1]
    )


# ---- pooling ----

SMALL = (tenon.arange(16) * 7 % 37).view(1, 1, 4, 4)


@pytest.mark.parametrize("dtype", [tenon.int64, tenon.int32, tenon.int16, tenon.int8, tenon.uint8])
def test_maxima_of_integers(dtype):
    x = SMALL.to(dtype)
    for values, indices in (
        F.max_pool2d(x, 2, return_indices=True),
        F.max_pool3d(x[None], (1, 2, 2), return_indices=True),
    ):
        assert (
            values.dtype == dtype
            and values.flatten().tolist() == [35, 21, 26, 33]
            and indices.flatten().tolist() == [5, 3, 9, 10]
        )
    values, indices = F.max_pool1d(x[0], 2, return_indices=True)
    assert values.dtype == dtype and values.flatten().tolist() == [7, 21, 35, 12, 26, 33, 17, 31]


def test_means_of_integers():
    assert F.avg_pool1d(SMALL[0], 2).flatten().tolist() == [3, 17, 31, 8, 22, 18, 13, 27]
    assert F.avg_pool2d(SMALL, 2).flatten().tolist() == [17, 13, 18, 22]
    assert F.avg_pool3d(SMALL[None], (1, 2, 2)).flatten().tolist() == [17, 13, 18, 22]


@pytest.mark.parametrize(
    ("function", "sizes"),
    [
        (lambda x: F.max_pool1d(x, 2, return_indices=True), (1, 2, 4)),
        (lambda x: F.max_pool1d(x, 2, return_indices=True), (2, 4)),
        (lambda x: F.max_pool2d(x, 2, return_indices=True), (1, 2, 4, 4)),
        (lambda x: F.max_pool3d(x, 2, return_indices=True), (1, 2, 4, 4, 4)),
        (lambda x: F.max_pool3d(x, 2, return_indices=True), (2, 4, 4, 4)),
        (lambda x: F.adaptive_max_pool1d(x, 2, return_indices=True), (1, 2, 4)),
        (lambda x: F.adaptive_max_pool2d(x, 2, return_indices=True), (1, 2, 4, 4)),
        (lambda x: F.adaptive_max_pool3d(x, 2, return_indices=True), (1, 2, 4, 4, 4)),
    ],
)
def test_indices_that_are_changed_before_backward(function, sizes):
    x = tenon.randn(sizes, requires_grad=True)
    values, indices = function(x)
    (gradient,) = tenon.autograd.grad(values.sum(), x, retain_graph=True)
    assert gradient.sum().item() == values.numel()
    indices.zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        values.sum().backward()


def test_indices_of_channels_last_that_are_changed_before_backward():
    x = tenon.randn(2, 3, 4, 4).to(memory_format=tenon.channels_last).requires_grad_()
    values, indices = F.adaptive_max_pool2d(x, 2, return_indices=True)
    assert values.stride() == indices.stride() == (12, 1, 6, 3)
    indices.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        values.sum().backward()


def test_windows_that_differ_in_size():
    x = tenon.arange(1.0, 31).view(1, 2, 15) * 7 % 31
    for windows in (1, 2, 4, 7, 15, 20):
        spans = [(i * 15 // windows, -(-(i + 1) * 15 // windows)) for i in range(windows)]
        values, indices = F.adaptive_max_pool1d(x, windows, return_indices=True)
        assert values.tolist() == [[[max(c[a:b]) for a, b in spans] for c in x[0].tolist()]]
        assert values.tolist() == x.gather(2, indices).tolist()
        means = F.adaptive_avg_pool3d(x.view(1, 2, 15, 1, 1), (windows, 1, 1)).flatten().tolist()
        assert means == pytest.approx([sum(c[a:b]) / (b - a) for c in x[0].tolist() for a, b in spans])


@pytest.mark.parametrize(
    "call",
    [
        lambda: nn.AdaptiveMaxPool1d(0x3FFFFFFFFFFFFFFF)(tenon.empty(2, 2, 2)),
        lambda: nn.AdaptiveMaxPool2d((2, 0x7FFFFFFFFFFFFFFF))(tenon.empty(2, 2, 2, 2)),
        lambda: nn.AdaptiveMaxPool3d((0x3FFFFFFFFFFFFFFF, 1, 1))(tenon.empty(2, 2, 2, 2, 2)),
        lambda: nn.AdaptiveAvgPool3d((0x3FFFFFFFFFFFFFFF, 1, 1))(tenon.empty(2, 2, 2, 2, 2)),
        lambda: nn.AdaptiveAvgPool1d(0x3FFFFFFFFFFFFFFF)(tenon.empty(2, 2, 2)),
        lambda: F.interpolate(tenon.empty(1, 1, 2), size=1 << 61, mode="linear"),
        lambda: F.interpolate(tenon.empty(1, 1, 2, 2), size=(1 << 62, 2), mode="bicubic"),
        lambda: F.interpolate(tenon.empty(1, 1, 2), size=1 << 61),
    ],
)
def test_results_that_no_memory_holds(call):
    with pytest.raises((RuntimeError, MemoryError)):
        call()


def test_huge_meta_tensors():
    huge = 1 << 32
    image = tenon.empty(1, 2, 4, 4, device="meta", requires_grad=True)
    for mode in ("nearest", "bilinear", "bicubic", "area"):
        assert F.interpolate(image, size=(huge, 3), mode=mode).shape == (1, 2, huge, 3)
    assert F.interpolate(image.byte(), size=(huge, 3), mode="bilinear").dtype == tenon.uint8
    assert F.interpolate(image, size=(huge, 3), mode="bilinear", antialias=True).requires_grad
    for pool in (F.adaptive_max_pool2d, F.adaptive_avg_pool2d):
        assert pool(image, (huge, 3)).shape == (1, 2, huge, 3)
    assert F.adaptive_avg_pool3d(image, (huge, 3, 1)).shape == (1, huge, 3, 1)
    assert F.pad(image, (0, huge, 0, 0), mode="replicate").shape == (1, 2, 4, 4 + huge)
    assert F.interpolate(tenon.empty(1, 1, huge, device="meta"), scale_factor=0.5, mode="linear").shape == (
        1,
        1,
        huge // 2,
    )


def test_scales_that_lead_far_outside():
    x = tenon.arange(1.0, 9).view(1, 2, 2, 2)
    for name in (
        "upsample_nearest2d",
        "_upsample_nearest_exact2d",
        "upsample_bilinear2d",
        "upsample_bicubic2d",
        "_upsample_bilinear2d_aa",
        "_upsample_bicubic2d_aa",
    ):
        function, aligned = getattr(tenon._C._nn, name), () if "nearest" in name else (False,)
        for scale in (1e-310, 1e-300, 1e-30, 1e300):
            y = function(x, (2, 2), *aligned, scale, scale)
            assert y.shape == (1, 2, 2, 2) and bool((y.abs() <= 20).all())


# ---- embeddings ----

TABLE = tenon.arange(8.0).view(4, 2)


def test_embedding_bag_refuses_other_dtypes_and_places_outside():
    bag = tenon.tensor([[0, 1]])
    for dtype in (tenon.float64, tenon.int64, tenon.float16):
        with pytest.raises(
            RuntimeError, match=r"Expected weight to have the same type as per_sample_weights; but got .*float32 and"
        ):
            F.embedding_bag(bag, TABLE, per_sample_weights=tenon.ones(1, 2, dtype=dtype), mode="sum")
    for mode in ("sum", "mean", "max"):
        for indices, place, value in (([[0, 4]], 1, 4), ([[-1, 0]], 0, -1)):
            with pytest.raises(
                RuntimeError, match=f"Index {place} of input takes value {value} which is not in the valid range .0, 4."
            ):
                F.embedding_bag(tenon.tensor(indices), TABLE, mode=mode)
    for indices, offsets in (
        (tenon.tensor([0.0]), tenon.tensor([0])),
        (tenon.tensor([0]), tenon.tensor([0.0])),
        (tenon.tensor([0], dtype=tenon.int16), tenon.tensor([0], dtype=tenon.int16)),
    ):
        with pytest.raises(RuntimeError, match="to have one of the following scalar types: Long, Int"):
            F.embedding_bag(indices, TABLE, offsets)
    with pytest.raises(
        RuntimeError, match="padding_idx must be within the number of embeddings, -4 through 3, but got 9"
    ):
        F.embedding_bag(bag, TABLE, padding_idx=9)
    assert F.embedding_bag(tenon.tensor([0, 1], dtype=tenon.int32), TABLE, tenon.tensor([0, 1])).tolist() == [
        [0, 1],
        [2, 3],
    ]


# ---- losses ----


@pytest.mark.parametrize("loss", [F.binary_cross_entropy_with_logits, F.binary_cross_entropy])
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_weights_do_not_widen_the_loss(loss, reduction):
    x, target = tenon.full((2, 3), 0.5), tenon.ones(2, 3)
    plain = loss(x, target, reduction=reduction)
    for sizes in ((3,), (2, 1), (1,), (), (2, 3)):
        assert tenon.allclose(loss(x, target, tenon.full(sizes, 2.0), reduction=reduction), 2 * plain)
    names = ("weight", "pos_weight") if loss is F.binary_cross_entropy_with_logits else ("weight",)
    for name in names:
        for sizes in ((4, 2, 3), (1, 2, 3), (3, 2)):
            with pytest.raises(RuntimeError):
                loss(x, target, **{name: tenon.ones(sizes)}, reduction=reduction)
    weight = tenon.ones(3, requires_grad=True)
    loss(x, target, weight, reduction="sum").backward()
    assert weight.grad.tolist() == pytest.approx(
        plain.new_full((3,), loss(x, target, reduction="sum").item() / 3).tolist()
    )


# ---- activations and bilinear layers ----


def test_rrelu():
    x = tenon.tensor([-1.0, -2.0, 3.0, 0.0])
    mean = (1 / 8 + 1 / 3) / 2
    for y in (F.rrelu(x), tenon.rrelu(x), nn.RReLU().eval()(x)):
        assert y.tolist() == pytest.approx([-mean, -2 * mean, 3, 0])
    assert F.rrelu(x, 0.5, 0.5, training=True).tolist() == [-0.5, -1, 3, 0]
    # PyTorch's numbers for a seed: one for each element that is not positive.
    for dtype in (tenon.float32, tenon.float64):
        tenon.manual_seed(3)
        x = tenon.tensor([1.0, -1, -1, 0, -2], dtype=dtype, requires_grad=True)
        y = F.rrelu(x, training=True)
        assert y.tolist() == pytest.approx([1, -0.1321, -0.1847, 0, -0.3229], abs=1e-4)
        assert tenon.autograd.grad(y.sum(), x)[0].tolist() == pytest.approx(
            [1, 0.1321, 0.1847, 0.2860, 0.1614], abs=1e-4
        )
    x = tenon.full((1000,), -1.0)
    drawn = -nn.RReLU(0.2, 0.4)(x)
    assert 0.2 <= drawn.min().item() < 0.21 and 0.39 < drawn.max().item() <= 0.4
    y = tenon.tensor([-4.0, 4.0])
    assert F.rrelu(y, 0.25, 0.25, inplace=True) is y and y.tolist() == [-1, 4]
    assert F.rrelu(tenon.tensor([math.nan]), training=True).isnan().all()
    assert (
        tenon.rrelu(x, 0.2, 0.4, True, tenon.Generator().manual_seed(0)).tolist()
        == tenon.rrelu(x, 0.2, 0.4, True, tenon.Generator().manual_seed(0)).tolist()
    )
    for bounds, match in (
        ((0.5, 0.2), "Lower bound should be less than or equal to the upper bound"),
        ((-INF, 0.3), "lower bound must be finite"),
        ((0.1, INF), "upper bound must be finite"),
    ):
        for training in (False, True):
            with pytest.raises(RuntimeError, match=match):
                F.rrelu(x, *bounds, training=training)
    with pytest.raises(NotImplementedError):
        F.rrelu(tenon.tensor([-8, 8]))
    assert F.rrelu(tenon.empty(3, device="meta"), training=True).shape == (3,)
    assert repr(nn.RReLU(0.1, 0.2, True)) == "RReLU(lower=0.1, upper=0.2, inplace=True)"


def test_bilinear():
    tenon.manual_seed(0)
    layer = nn.Bilinear(2, 3, 4)
    assert repr(layer) == "Bilinear(in1_features=2, in2_features=3, out_features=4, bias=True)"
    assert layer.weight.flatten()[:4].tolist() == pytest.approx([-0.0053, 0.3793, -0.5820, -0.5204], abs=1e-4)
    assert layer.bias.tolist() == pytest.approx([-0.1140, 0.0748, 0.6403, -0.6560], abs=1e-4)
    assert layer(tenon.ones(2, 2), tenon.ones(2, 3))[1].tolist() == pytest.approx(
        [-0.9250, 0.3931, -0.0650, -0.2156], abs=1e-4
    )
    assert nn.Bilinear(1, 3, 4, False, dtype=tenon.float64).bias is None and list(layer.state_dict()) == [
        "weight",
        "bias",
    ]
    with pytest.raises(ValueError, match=r"in1_features must be > 0, but got \(in1_features=0\)"):
        nn.Bilinear(0, 3, 4)


@pytest.mark.parametrize("dtype", [tenon.int8, tenon.uint8, tenon.int16, tenon.int32, tenon.int64])
def test_hardtanh_of_integers(dtype):
    x = tenon.tensor([0, 1, 5, 100], dtype=dtype)
    for bounds, want in (
        ((-1, 1e9), [0, 1, 5, 100]),
        ((-1, 1), [0, 1, 1, 1]),
        ((-1e9, 1e9), [0, 1, 5, 100]),
        ((-1.7, 1.7), [0, 1, 1, 1]),
        ((0, 300), [0, 1, 5, 100]),
        ((2, 50), [2, 2, 5, 50]),
    ):
        y = F.hardtanh(x, *bounds)
        assert y.dtype == dtype and y.tolist() == want
        assert F.hardtanh(x.clone(), *bounds, inplace=True).tolist() == want
    with pytest.raises(RuntimeError):
        F.hardtanh(x, 0, INF)
