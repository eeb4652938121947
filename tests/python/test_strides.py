"""Which strides results have: PyTorch's, for tensors with gaps, of overlapping elements and with dimensions of one element."""

import pytest
import tenon
from tenon.nn import functional as F

# Sizes, strides, those of what is made like it, and those of a pointwise result.
CASES = [
    ((3, 1, 2, 3), (1, 9, 9, 3), (1, 9, 9, 3), (1, 9, 9, 3)),
    ((1, 2), (4, 1), (4, 1), (2, 1)),
    ((1, 3), (5, 1), (5, 1), (3, 1)),
    ((2, 1, 1, 1), (1, 1, 2, 2), (1, 1, 2, 2), (1, 1, 1, 1)),
    ((1, 3, 2, 0), (3, 1, 5, 2), (3, 1, 5, 2), (6, 2, 1, 1)),
    ((3, 2), (1, 6), (1, 3), (1, 3)),
    ((2, 0), (1, 4), (1, 4), (1, 1)),
    ((3, 2, 2), (2, 1, 6), (2, 1, 6), (2, 1, 6)),
    ((1, 3, 3), (100, 1, 3), (100, 1, 3), (100, 1, 3)),
    ((1,), (2,), (2,), (1,)),
    ((3, 3, 2, 1), (3, 0, 1, 1), (6, 2, 1, 1), (6, 2, 1, 1)),
    ((1, 3, 3), (5, 1, 1), (9, 3, 1), (9, 3, 1)),
    ((3, 1, 1), (5, 5, 0), (1, 1, 1), (1, 1, 1)),
    ((1, 3), (0, 2), (3, 1), (3, 1)),
    ((1, 3), (1, 2), (1, 1), (1, 1)),
    ((1, 3, 2, 2), (12, 5, 0, 6), (12, 1, 3, 6), (12, 1, 3, 6)),
    ((3, 2, 3, 1), (1, 36, 12, 6), (1, 9, 3, 3), (1, 9, 3, 3)),
    ((2, 2), (6, 3), (2, 1), (2, 1)),
    ((1, 2, 1, 3), (1, 3, 6, 1), (1, 3, 6, 1), (6, 3, 3, 1)),
    ((1, 1, 1, 1), (5, 1, 0, 5), (5, 1, 0, 5), (1, 1, 1, 1)),
    ((2, 3, 2, 2), (0, 12, 0, 3), (12, 4, 2, 1), (12, 4, 2, 1)),
    ((3, 2, 2), (3, 6, 2), (2, 6, 1), (2, 6, 1)),
    ((2, 3), (0, 1), (3, 1), (3, 1)),
    ((2, 3, 1, 3), (9, 1, 3, 3), (9, 1, 3, 3), (9, 1, 9, 3)),
    ((1, 3, 1), (0, 5, 12), (3, 1, 3), (3, 1, 3)),
]


@pytest.mark.parametrize(("sizes", "strides", "like", "pointwise"), CASES)
def test_strides_that_are_kept(sizes, strides, like, pointwise):
    t = tenon.arange(200.0).as_strided(sizes, strides)
    assert t.clone().stride() == like and t.clone().tolist() == t.tolist()
    for made in (
        tenon.empty_like(t),
        tenon.zeros_like(t),
        tenon.full_like(t, 1),
        tenon.rand_like(t),
        t.double(),
        t.bool(),
        t.to(tenon.float32, copy=True),
        t.flip(0),
        t.sort(0)[0],
        tenon.empty_like(t.to("meta")),
    ):
        assert made.stride() == like
    for made in (t.sin(), -t, t.isnan(), t.sigmoid(), t.relu(), t.logical_not(), t + t):
        assert made.stride() == pointwise
    assert (-t).tolist() == (-t.clone()).tolist()
    assert tenon.empty_like(t, memory_format=tenon.contiguous_format).is_contiguous()


def test_gaps_in_channels_last():
    t = tenon.randn(2, 3, 8, 8).to(memory_format=tenon.channels_last)[..., ::2, ::2]
    assert (
        t.clone().stride() == (48, 1, 12, 3)
        and tenon.empty_like(t).stride() == (48, 1, 12, 3)
        and t.exp().stride() == (48, 1, 12, 3)
    )
    assert t.clone().tolist() == t.tolist()


def test_to_takes_the_format_that_a_tensor_suggests():
    pixel = tenon.ones(2, 6, 1, 1)
    assert pixel.to(memory_format=tenon.channels_last).stride() == (6, 1, 6, 6)
    assert pixel.contiguous(memory_format=tenon.channels_last).stride() == (6, 1, 1, 1)
    assert tenon.ones(2, 1, 4, 4).to(memory_format=tenon.channels_last).stride() == (16, 1, 4, 1)
    assert tenon.ones(4, 3).t().to(memory_format=tenon.contiguous_format).stride() == (1, 3)


IMAGE, VOLUME = (2, 6, 4, 4), (2, 6, 4, 4, 4)
KEPT = [
    (IMAGE, lambda t: F.group_norm(t, 2), (96, 1, 24, 6)),
    (IMAGE, lambda t: F.group_norm(t, 3, t.new_ones(6), t.new_ones(6)), (96, 1, 24, 6)),
    (VOLUME, lambda t: F.group_norm(t, 2), (384, 1, 96, 24, 6)),
    (IMAGE, lambda t: F.adaptive_avg_pool2d(t, 1), (6, 1, 6, 6)),
    (IMAGE, lambda t: F.adaptive_avg_pool2d(t, 2), (24, 1, 12, 6)),
    (IMAGE, lambda t: F.adaptive_max_pool2d(t, 1), (6, 1, 6, 6)),
    (IMAGE, lambda t: F.adaptive_max_pool2d(t, 2), (24, 1, 12, 6)),
    (VOLUME, lambda t: F.adaptive_avg_pool3d(t, 1), (6, 1, 6, 6, 6)),
    (VOLUME, lambda t: F.adaptive_avg_pool3d(t, 2), (48, 8, 4, 2, 1)),
    (VOLUME, lambda t: F.adaptive_max_pool3d(t, 2), (48, 8, 4, 2, 1)),
    (VOLUME, lambda t: F.max_pool3d(t, 2), (48, 1, 24, 12, 6)),
    (IMAGE, lambda t: F.interpolate(t, size=1, mode="bilinear"), (6, 1, 6, 6)),
    (IMAGE, lambda t: F.pad(t, (1, 1, 1, 1), mode="reflect"), (216, 1, 36, 6)),
    (VOLUME, lambda t: F.pad(t, (1, 1, 1, 1, 1, 1), mode="replicate"), (1296, 1, 216, 36, 6)),
    (IMAGE, lambda t: F.pad(t, (1, 1, 1, 1), mode="circular"), (216, 36, 6, 1)),
]


@pytest.mark.parametrize(("sizes", "function", "strides"), KEPT)
def test_channels_last_is_kept(sizes, function, strides):
    tenon.manual_seed(0)
    plain = tenon.randn(sizes, dtype=tenon.float64)
    t = plain.to(memory_format=tenon.channels_last if len(sizes) == 4 else tenon.channels_last_3d)
    result = function(t.float())
    assert result.stride() == strides and function(t.float().to("meta")).stride() == strides
    assert tenon.allclose(result.double(), function(plain), atol=1e-5)
    assert tenon.autograd.gradcheck(function, t[:1, :, :3, :3].clone().requires_grad_())
