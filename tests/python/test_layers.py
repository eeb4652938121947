"""Layers and losses against PyTorch's: repr, initial values, state dict keys, results, gradients, running statistics."""

import copy
import pickle
import warnings

import pytest
import tenon
from tenon import nn
from tenon.nn import functional as F

try:
    import torch
except ImportError:
    torch = None
needs_torch = pytest.mark.skipif(
    torch is None, reason="needs PyTorch: ./tenon setup --oracle, and run with build/venv-oracle"
)

LAYERS = [
    ("Conv1d", (2, 3, 3), {"padding": 1, "padding_mode": "circular"}, (2, 2, 6)),
    ("Conv2d", (2, 4, (2, 3)), {"padding": "same", "padding_mode": "reflect", "dilation": (1, 2)}, (2, 2, 6, 7)),
    ("Conv2d", (2, 4, 3), {"padding": (1, 2), "padding_mode": "replicate", "groups": 2, "stride": 2}, (2, 2, 6, 7)),
    ("Conv3d", (2, 3, 2), {"padding": 1, "padding_mode": "replicate"}, (1, 2, 3, 4, 3)),
    ("ConvTranspose1d", (4, 6, 3), {"stride": 2, "padding": 1, "output_padding": 1, "groups": 2}, (2, 4, 5)),
    ("ConvTranspose2d", (3, 2, (3, 2)), {"stride": (2, 3), "dilation": (2, 1), "bias": False}, (2, 3, 4, 3)),
    ("ConvTranspose2d", (3, 2, 3), {}, (3, 4, 3)),
    ("BatchNorm3d", (3,), {}, (2, 3, 2, 3, 2)),
    ("GroupNorm", (2, 6), {}, (3, 6, 4, 2)),
    ("GroupNorm", (3, 3), {"affine": False, "eps": 0.1}, (2, 3)),
    ("InstanceNorm1d", (3,), {"affine": True, "track_running_stats": True}, (2, 3, 5)),
    ("InstanceNorm1d", (3,), {}, (3, 5)),
    ("InstanceNorm2d", (3,), {"momentum": 0.3, "track_running_stats": True}, (2, 3, 4, 2)),
    ("InstanceNorm3d", (2,), {"affine": True}, (2, 2, 2, 3, 2)),
    ("RMSNorm", (5,), {}, (3, 5)),
    ("RMSNorm", ((2, 5),), {"eps": 0.01}, (3, 2, 5)),
    ("PReLU", (), {}, (3, 4)),
    ("PReLU", (3,), {"init": 0.4}, (2, 3, 4)),
    ("CELU", (0.7,), {}, (3, 4)),
    ("GLU", (1,), {}, (3, 4, 2)),
    ("Softmin", (1,), {}, (3, 4)),
    ("Softmax2d", (), {}, (2, 3, 2, 2)),
    ("Softsign", (), {}, (3, 4)),
    ("Softshrink", (0.3,), {}, (3, 4)),
    ("Hardshrink", (0.3,), {}, (3, 4)),
    ("Tanhshrink", (), {}, (3, 4)),
    ("Threshold", (0.1, 20), {}, (3, 4)),
    ("MaxPool1d", (3,), {"stride": 2, "padding": 1}, (2, 3, 8)),
    ("MaxPool1d", (2,), {"dilation": 2, "ceil_mode": True}, (3, 8)),
    ("AvgPool1d", (3,), {"padding": 1, "count_include_pad": False}, (2, 3, 8)),
    ("AdaptiveAvgPool1d", (3,), {}, (2, 3, 7)),
    ("AdaptiveAvgPool3d", ((2, 3, 1),), {}, (2, 3, 4, 5, 3)),
    ("Upsample", (), {"scale_factor": 1.7, "mode": "linear"}, (2, 3, 5)),
    ("Upsample", ((3, 7),), {"mode": "bicubic", "align_corners": True}, (2, 3, 5, 4)),
    ("Upsample", (), {"scale_factor": (2, 1.5, 1), "mode": "trilinear"}, (1, 2, 3, 4, 2)),
    ("Upsample", (), {"scale_factor": 1.5, "mode": "nearest-exact", "recompute_scale_factor": True}, (1, 2, 3, 5)),
    ("Upsample", (2,), {"mode": "area"}, (1, 2, 3, 5)),
    ("UpsamplingNearest2d", (), {"scale_factor": 2}, (1, 2, 3, 4)),
    ("UpsamplingBilinear2d", ((5, 6),), {}, (1, 2, 3, 4)),
    ("ZeroPad1d", (2,), {}, (2, 3, 4)),
    ("ConstantPad2d", ((1, 0, 2, -1), 1.5), {}, (2, 3, 4)),
    ("ReflectionPad2d", (2,), {}, (2, 3, 4, 5)),
    ("ReplicationPad3d", (1,), {}, (2, 3, 2, 2, 2)),
    ("CircularPad2d", ((1, 2, 0, 1),), {}, (2, 3, 4)),
    ("TransformerEncoderLayer", (8, 2, 16), {"dropout": 0.0, "batch_first": True}, (2, 5, 8)),
    ("TransformerEncoderLayer", (8, 4, 12), {"dropout": 0.0, "norm_first": True, "activation": "gelu"}, (5, 2, 8)),
]


def of_torch(t):
    return tenon.tensor(t.detach().tolist(), dtype=getattr(tenon, str(t.dtype).rpartition(".")[2]))


def check(mine, other, tolerance=2e-5):
    assert tuple(mine.shape) == tuple(other.shape)
    torch.testing.assert_close(
        torch.tensor(mine.tolist(), dtype=other.dtype).reshape(other.shape),
        other.detach(),
        rtol=tolerance,
        atol=tolerance,
        equal_nan=True,
    )


def pair(name, *args, **kwargs):
    """A layer of each library with the same numbers."""
    tenon.manual_seed(7)
    torch.manual_seed(7)
    return getattr(nn, name)(*args, **kwargs), getattr(torch.nn, name)(*args, **kwargs)


@needs_torch
@pytest.mark.parametrize("name, args, kwargs, shape", LAYERS)
def test_layers_start_compute_and_learn_as_pytorchs(name, args, kwargs, shape):
    ours, theirs = pair(name, *args, **kwargs)
    assert repr(ours) == repr(theirs).replace("NonDynamicallyQuantizableLinear", "Linear")
    assert list(ours.state_dict()) == list(theirs.state_dict())
    for mine, other in zip(ours.state_dict().values(), theirs.state_dict().values()):
        check(mine, other)
    their_x = torch.randn(shape, requires_grad=True)
    x = of_torch(their_x).requires_grad_()
    for _ in range(2):
        y, their_y = ours(x), theirs(their_x)
        check(y, their_y)
    weight = torch.randn(their_y.shape)
    (y * of_torch(weight)).sum().backward()
    (their_y * weight).sum().backward()
    check(x.grad, their_x.grad, 2e-4)
    for mine, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        check(mine.grad, other.grad, 2e-4)
    for mine, other in zip(ours.buffers(), theirs.buffers(), strict=True):
        check(mine, other)
    check(ours.eval()(x), theirs.eval()(their_x))
    again = pickle.loads(pickle.dumps(copy.deepcopy(ours)))
    assert repr(again) == repr(ours) and again(x).tolist() == ours(x).tolist()


@needs_torch
def test_layers_read_pytorchs_files(tmp_path):
    for name, args, kwargs, _ in LAYERS:
        ours, theirs = getattr(nn, name)(*args, **kwargs), getattr(torch.nn, name)(*args, **kwargs)
        torch.save(theirs.state_dict(), tmp_path / "state.pt")
        assert not any(ours.load_state_dict(tenon.load(str(tmp_path / "state.pt"))))
        for mine, other in zip(ours.state_dict().values(), theirs.state_dict().values()):
            check(mine, other)


LOSSES = [
    ("L1Loss", {}, "real"),
    ("SmoothL1Loss", {"beta": 0.4}, "real"),
    ("HuberLoss", {"delta": 0.6}, "real"),
    ("MSELoss", {}, "real"),
    ("BCELoss", {}, "share"),
    ("BCEWithLogitsLoss", {}, "bits"),
    ("KLDivLoss", {}, "share"),
    ("KLDivLoss", {"log_target": True}, "real"),
    ("PoissonNLLLoss", {"full": True}, "count"),
    ("PoissonNLLLoss", {"log_input": False}, "count"),
    ("HingeEmbeddingLoss", {"margin": 0.5}, "sign"),
    ("SoftMarginLoss", {}, "sign"),
]


@needs_torch
@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
@pytest.mark.parametrize("name, kwargs, kind", LOSSES)
def test_losses_are_pytorchs(name, kwargs, kind, reduction):
    torch.manual_seed(3)
    their_x = torch.rand(4, 3) if name in ("BCELoss", "PoissonNLLLoss") else torch.randn(4, 3)
    target = {
        "real": torch.randn(4, 3),
        "share": torch.rand(4, 3),
        "bits": torch.randint(0, 2, (4, 3)).float(),
        "count": torch.randint(0, 4, (4, 3)).float(),
        "sign": torch.randint(0, 2, (4, 3)).float() * 2 - 1,
    }[kind]
    if name == "BCELoss":
        their_x[0, 0], their_x[0, 1] = 0.0, 1.0  # whose logarithms are bounded
    their_x.requires_grad_()
    x = of_torch(their_x).requires_grad_()
    ours, theirs = pair(name, reduction=reduction, **kwargs)
    assert repr(ours) == repr(theirs)
    loss, their_loss = ours(x, of_torch(target)), theirs(their_x, target)
    check(loss, their_loss)
    loss.sum().backward()
    their_loss.sum().backward()
    finite = torch.isfinite(their_x.grad)
    check(tenon.where(of_torch(finite), x.grad, 0), torch.where(finite, their_x.grad, 0.0), 1e-4)


@needs_torch
@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
def test_losses_of_several_tensors(reduction):
    torch.manual_seed(5)
    a, b, c = (torch.randn(4, 3) for _ in range(3))
    sign = torch.tensor([1.0, -1.0, 1.0, -1.0])
    for name, kwargs, inputs in [
        ("MarginRankingLoss", {"margin": 0.2}, (a[:, 0], b[:, 0], sign)),
        ("CosineEmbeddingLoss", {"margin": 0.1}, (a, b, sign)),
        ("TripletMarginLoss", {"swap": True}, (a, b, c)),
        ("GaussianNLLLoss", {"full": True}, (a, b, c.abs() * 1e-5)),
    ]:
        ours, theirs = pair(name, reduction=reduction, **kwargs)
        leaves = [t.clone().requires_grad_() for t in inputs[:2]]
        mine = [of_torch(t).requires_grad_() for t in leaves]
        loss, their_loss = ours(*mine, of_torch(inputs[2])), theirs(*leaves, inputs[2])
        check(loss, their_loss, 1e-4)
        loss.sum().backward()
        their_loss.sum().backward()
        for t, other in zip(mine, leaves):
            check(t.grad, other.grad, 1e-3)


@needs_torch
def test_weighted_losses():
    torch.manual_seed(5)
    x, target, weight = torch.randn(4, 3), torch.rand(4, 3), torch.tensor([0.5, 2.0, 1.0])
    for name, kwargs, inputs in [
        ("BCELoss", {"weight": weight}, (torch.rand(4, 3), target)),
        ("BCEWithLogitsLoss", {"weight": weight}, (x, target)),
        ("BCEWithLogitsLoss", {"pos_weight": weight}, (x, target)),
    ]:
        ours = getattr(nn, name)(**{key: of_torch(value) for key, value in kwargs.items()})
        theirs = getattr(torch.nn, name)(**kwargs)
        check(ours(*map(of_torch, inputs)), theirs(*inputs))
        assert list(ours.state_dict()) == list(theirs.state_dict())
    for function, options in [("l1_loss", {}), ("mse_loss", {}), ("huber_loss", {"delta": 0.3})]:
        for reduction in ("none", "mean", "sum"):
            mine = getattr(F, function)(
                of_torch(x), of_torch(target), weight=of_torch(weight.expand(4, 3)), reduction=reduction, **options
            )
            check(
                mine,
                getattr(torch.nn.functional, function)(
                    x, target, weight=weight.expand(4, 3), reduction=reduction, **options
                ),
            )


@needs_torch
@pytest.mark.parametrize("kwargs", [{}, {"batch_first": True, "bias": False}, {"kdim": 6, "vdim": 4}])
@pytest.mark.parametrize("average", [True, False])
def test_attention(kwargs, average):
    ours, theirs = pair("MultiheadAttention", 8, 2, **kwargs)
    assert list(ours.state_dict()) == list(theirs.state_dict())
    for mine, other in zip(ours.state_dict().values(), theirs.state_dict().values()):
        check(mine, other)
    widths = (8, kwargs.get("kdim", 8), kwargs.get("vdim", 8))
    q, k, v = (torch.randn((2, n, e) if kwargs.get("batch_first") else (n, 2, e)) for n, e in zip((3, 5, 5), widths))
    hidden = torch.tensor([[False] * 5, [False, False, True, True, False]])
    for options in [
        {},
        {"key_padding_mask": hidden},
        {"attn_mask": torch.randn(3, 5)},
        {"attn_mask": torch.randn(4, 3, 5)},
        {"attn_mask": torch.eye(3, 5) > 0, "key_padding_mask": hidden},
    ]:
        mine = {name: of_torch(t) for name, t in options.items()}
        found, weights = ours(of_torch(q), of_torch(k), of_torch(v), average_attn_weights=average, **mine)
        wanted, their_weights = theirs(q, k, v, average_attn_weights=average, **options)
        check(found, wanted)
        check(weights, their_weights)
    found = ours(*(of_torch(t[0] if kwargs.get("batch_first") else t[:, 0]) for t in (q, k, v)))
    wanted = theirs(*(t[0] if kwargs.get("batch_first") else t[:, 0] for t in (q, k, v)))
    check(found[0], wanted[0])
    check(found[1], wanted[1])


@needs_torch
def test_an_encoder_of_several_layers(tmp_path):
    ours = nn.TransformerEncoder(
        nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True), 2, nn.LayerNorm(8)
    )
    theirs = torch.nn.TransformerEncoder(
        torch.nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True), 2, torch.nn.LayerNorm(8)
    )
    torch.save(theirs.state_dict(), tmp_path / "encoder.pt")
    assert not any(ours.load_state_dict(tenon.load(str(tmp_path / "encoder.pt"))))
    x, hidden = torch.randn(2, 4, 8), torch.tensor([[False, False, False, True], [False] * 4])
    check(ours(of_torch(x), src_key_padding_mask=of_torch(hidden)), theirs(x, src_key_padding_mask=hidden))


@needs_torch
def test_scaled_dot_product_attention():
    q, k, v = torch.randn(2, 4, 3, 8), torch.randn(2, 4, 5, 8), torch.randn(2, 4, 5, 6)
    theirs = torch.nn.functional.scaled_dot_product_attention
    nowhere = torch.ones(3, 5, dtype=torch.bool)
    nowhere[1] = False
    for options in [{}, {"is_causal": True}, {"scale": 0.3}, {"attn_mask": torch.randn(3, 5)}, {"attn_mask": nowhere}]:
        mine = {name: of_torch(t) if isinstance(t, torch.Tensor) else t for name, t in options.items()}
        check(F.scaled_dot_product_attention(of_torch(q), of_torch(k), of_torch(v), **mine), theirs(q, k, v, **options))
    check(
        F.scaled_dot_product_attention(of_torch(q), of_torch(k[:, :2]), of_torch(v[:, :2]), enable_gqa=True),
        theirs(q, k[:, :2], v[:, :2], enable_gqa=True),
    )
    with pytest.raises(RuntimeError, match="should not be set when is_causal"):
        F.scaled_dot_product_attention(of_torch(q), of_torch(k), of_torch(v), of_torch(nowhere), is_causal=True)


@needs_torch
def test_functions_are_pytorchs():
    theirs, x, y = torch.nn.functional, torch.randn(3, 4), torch.randn(3, 4)
    check(F.normalize(of_torch(x), 1.5, 0), theirs.normalize(x, 1.5, 0))
    check(F.cosine_similarity(of_torch(x), of_torch(y[:1]), -1), theirs.cosine_similarity(x, y[:1], -1))
    check(
        F.pairwise_distance(of_torch(x), of_torch(y), 1.0, keepdim=True),
        theirs.pairwise_distance(x, y, 1.0, keepdim=True),
    )
    index = torch.tensor([[0, 2], [1, 1]])
    check(F.one_hot(of_torch(index)), theirs.one_hot(index))
    check(F.one_hot(of_torch(index), 5), theirs.one_hot(index, 5))
    found, places = F.max_pool1d(of_torch(x), 2, return_indices=True)
    wanted, their_places = theirs.max_pool1d(x, 2, return_indices=True)
    check(found, wanted)
    check(places, their_places)
    large = torch.tensor([1000.0, -3.0], dtype=torch.float16)
    check(F.rms_norm(of_torch(large), (2,)), theirs.rms_norm(large, (2,)), 1e-3)


@needs_torch
def test_transposed_convolutions_take_the_size_of_the_result():
    ours, theirs = pair("ConvTranspose2d", 2, 3, 3, stride=2, padding=1)
    x = torch.randn(1, 2, 4, 5)
    for size in ((7, 9), (8, 10), (1, 3, 8, 9)):
        check(ours(of_torch(x), size), theirs(x, list(size)))
    with pytest.raises(ValueError, match="requested an output size of"):
        ours(of_torch(x), (9, 9))
    with pytest.raises(ValueError, match="must have 2 or 4 elements"):
        ours(of_torch(x), (9,))


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_dropout_takes_whole_channels(dims):
    tenon.manual_seed(2)
    layer = getattr(nn, f"Dropout{dims}d")(0.4)
    x = tenon.ones(20, 30, *[2] * dims, requires_grad=True)
    y = layer(x)
    of_channel = y.detach().flatten(2)
    assert (of_channel == of_channel[:, :, :1]).all()
    assert tenon.logical_or(of_channel == 0, of_channel == tenon.tensor(1 / 0.6)).all()
    kept = (of_channel[:, :, 0] > 0).float().mean().item()
    assert 0.5 < kept < 0.7
    y.sum().backward()
    assert (x.grad == y).all()
    assert layer.eval()(x) is x
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(
            RuntimeError,
            match="dropout1d: Expected 2D or 3D" if dims == 1 else "Feature dropout requires at least 2 dimensions",
        ):
            layer.train()(tenon.ones(()) if dims == 3 else tenon.ones(2))


@pytest.mark.parametrize(
    "make, error, text",
    [
        (lambda: nn.Conv2d(1, 1, 1, padding_mode="mirror"), ValueError, "padding_mode must be one of"),
        (lambda: nn.ConvTranspose2d(1, 1, 1, padding_mode="reflect"), ValueError, 'Only "zeros" padding mode'),
        (lambda: nn.GroupNorm(2, 3), ValueError, "must be divisible by num_groups"),
        (lambda: nn.MultiheadAttention(8, 3), AssertionError, "divisible by num_heads"),
        (lambda: nn.InstanceNorm1d(3, affine=True)(tenon.ones(2, 4, 5)), ValueError, "to match num_features"),
        (lambda: nn.InstanceNorm2d(3)(tenon.ones(2, 3, 1, 1)), ValueError, "more than 1 spatial element"),
        (lambda: nn.PReLU(3)(tenon.ones(2, 4)), RuntimeError, r"\[prelu\]"),
        (lambda: nn.GLU()(tenon.ones(3)), RuntimeError, "Halving dimension must be even"),
        (lambda: nn.RMSNorm(3)(tenon.ones(4)), RuntimeError, r"normalized_shape=\[3\]"),
        (lambda: nn.BCELoss()(tenon.tensor([2.0]), tenon.tensor([1.0])), RuntimeError, "between 0 and 1"),
        (lambda: nn.BCELoss()(tenon.ones(2), tenon.ones(3)), ValueError, "target size"),
        (
            lambda: nn.L1Loss(reduction="x")(tenon.ones(2), tenon.ones(2)),
            ValueError,
            "x is not a valid value for reduction",
        ),
        (lambda: F.one_hot(tenon.tensor([-1])), RuntimeError, "non-negative"),
    ],
)
def test_wrong_arguments_are_named(make, error, text):
    with pytest.raises(error, match=text):
        make()


@needs_torch
@pytest.mark.parametrize("name", ["AlphaDropout", "FeatureAlphaDropout"])
def test_dropout_that_keeps_mean_and_variance(name):
    ours, theirs = pair(name, 0.4)
    x = torch.randn(2, 3, 4)
    assert repr(ours) == repr(theirs)
    tenon.manual_seed(8), torch.manual_seed(8)
    check(ours(of_torch(x)), theirs(x))
    check(ours.eval()(of_torch(x)), x)


@needs_torch
@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@pytest.mark.parametrize("padding_idx", [None, 2, -1])
def test_bags_of_embeddings(mode, padding_idx):
    ours, theirs = pair("EmbeddingBag", 6, 3, mode=mode, padding_idx=padding_idx)
    assert repr(ours) == repr(theirs)
    check(ours.weight, theirs.weight)
    indices, offsets = torch.tensor([1, 2, 4, 5, 4, 3, 2, 0]), torch.tensor([0, 0, 3, 7])
    weights = torch.randn(8) if mode == "sum" else None
    results = (
        ours(of_torch(indices), of_torch(offsets), None if weights is None else of_torch(weights)),
        ours(of_torch(indices).reshape(2, 4)),
    )
    their_results = theirs(indices, offsets, weights), theirs(indices.reshape(2, 4))
    for mine, other in zip(results, their_results):
        check(mine, other)
    sum((r * (i + 1)).sin().sum() for i, r in enumerate(results)).backward()
    sum((r * (i + 1)).sin().sum() for i, r in enumerate(their_results)).backward()
    check(ours.weight.grad, theirs.weight.grad)
    with pytest.raises(RuntimeError, match=r"offsets\[0\] has to be 0"):
        ours(of_torch(indices), tenon.tensor([1, 2]))
