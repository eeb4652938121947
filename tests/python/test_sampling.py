"""Places of grids, pooling at random places, its way back, and the modules of them: numbers of PyTorch 2.15."""

import math
import warnings

import pytest
import tenon
from tenon import nn
from tenon.nn import functional as F

PICTURE = tenon.arange(12, dtype=tenon.float64).view(1, 1, 3, 4)


def places(*xy):
    return tenon.tensor(xy, dtype=tenon.float64).view(1, 1, -1, 2)


def test_the_identity_gives_the_picture():
    theta = tenon.eye(2, 3, dtype=tenon.float64)[None]
    for align_corners in (False, True):
        grid = F.affine_grid(theta, (1, 1, 3, 4), align_corners)
        for mode in ("bilinear", "nearest", "bicubic"):
            for padding_mode in ("zeros", "border", "reflection"):
                found = F.grid_sample(PICTURE, grid, mode, padding_mode, align_corners)
                assert tenon.allclose(found, PICTURE, atol=1e-12)


def test_what_is_outside():
    beyond = places((1.5, 0.0))
    assert F.grid_sample(PICTURE, beyond, align_corners=True).tolist() == [[[[7 * 0.25]]]]
    assert F.grid_sample(PICTURE, beyond, padding_mode="border", align_corners=True).item() == 7
    assert F.grid_sample(PICTURE, beyond, padding_mode="reflection", align_corners=True).item() == 6.25
    assert F.grid_sample(PICTURE, beyond, "nearest", align_corners=True).item() == 0


def test_a_place_that_is_no_number():
    nowhere = places((math.nan, 0.0))
    assert math.isnan(F.grid_sample(PICTURE, nowhere, align_corners=False).item())
    assert F.grid_sample(PICTURE, nowhere, "nearest", align_corners=False).item() == 0
    assert F.grid_sample(PICTURE, nowhere, "nearest", "border", align_corners=False).item() == 4
    assert F.grid_sample(PICTURE, nowhere, "bilinear", "border", align_corners=False).item() == 4


def test_gradients_of_three_orders_of_a_place():
    """Of x^3 along the row, which bicubic interpolation does not reproduce, so that the derivatives are differences of values."""
    picture = (tenon.arange(6, dtype=tenon.float64) ** 3).view(1, 1, 1, 6)
    value = lambda x: F.grid_sample(picture, tenon.stack([x, x * 0]).view(1, 1, 1, 2), "bicubic", "border", True).sum()  # noqa: E731
    x = tenon.tensor(0.13, dtype=tenon.float64, requires_grad=True)
    step = tenon.tensor(1e-5, dtype=tenon.float64)
    derivative = value
    for _ in range(3):
        lower = derivative
        derivative = lambda x, lower=lower: tenon.autograd.grad(lower(x), x, create_graph=True)[0]  # noqa: E731
        difference = (lower(x + step) - lower(x - step)) / (2 * step)
        assert abs(derivative(x) - difference).item() < 1e-4 * max(1, abs(difference.item()))


def test_align_corners_is_to_be_given():
    theta = tenon.eye(2, 3)[None]
    for call in (lambda: F.grid_sample(PICTURE, places((0, 0))), lambda: F.affine_grid(theta, (1, 1, 2, 2))):
        with pytest.warns(UserWarning, match="Default grid_sample and affine_grid behavior has changed"):
            call()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        F.grid_sample(PICTURE, places((0, 0)), align_corners=False)


@pytest.mark.parametrize(
    "error, text, call",
    [
        (ValueError, "expected mode to be", lambda: F.grid_sample(PICTURE, places((0, 0)), "linear")),
        (
            ValueError,
            "expected padding_mode to be",
            lambda: F.grid_sample(PICTURE, places((0, 0)), padding_mode="ones"),
        ),
        (NotImplementedError, "4D and 5D sizes", lambda: F.affine_grid(tenon.eye(2, 3)[None], (1, 1, 2), False)),
        (ValueError, "Nx2x3 for size", lambda: F.affine_grid(tenon.eye(3, 4)[None], (1, 1, 2, 2), False)),
        (ValueError, "non-zero, positive", lambda: F.affine_grid(tenon.eye(2, 3)[None], (1, 1, 0, 2), False)),
        (ValueError, "floating point type", lambda: F.affine_grid(tenon.eye(2, 3).int()[None], (1, 1, 2, 2), False)),
        (ValueError, "requires specifying either", lambda: F.fractional_max_pool2d(PICTURE, 2)),
        (ValueError, "only one of output_size", lambda: nn.FractionalMaxPool2d(2, 1, 0.5)),
        (ValueError, r"between 0 and 1 \(got 2\)", lambda: nn.FractionalMaxPool3d(2, output_ratio=2)),
        (ValueError, "kernel_size must be greater", lambda: nn.FractionalMaxPool3d(0, 1)),
        (
            RuntimeError,
            "invalid max index: 9",
            lambda: tenon._C._nn.max_unpool2d(tenon.ones(1, 1, 1), tenon.full((1, 1, 1), 9), [2, 2]),
        ),
        (
            ValueError,
            "dim 0 must be between 2 and 6",
            lambda: F.max_unpool1d(tenon.ones(1, 2), tenon.ones(1, 2).long(), 2, output_size=[7]),
        ),
        (
            ValueError,
            "length of '1'",
            lambda: F.max_unpool2d(tenon.ones(1, 1, 1), tenon.full((1, 1, 1), 0), 2, output_size=[7]),
        ),
    ],
)
def test_errors(error, text, call):
    with pytest.raises(error, match=text):
        call()


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_the_way_back_from_pooling(dims):
    x = tenon.arange(1.0, 1 + 4**dims).view(1, 1, *[4] * dims)
    pool = getattr(nn, f"MaxPool{dims}d")(2, return_indices=True)
    values, indices = pool(x)
    back = getattr(nn, f"MaxUnpool{dims}d")(2)(values, indices)
    assert back.shape == x.shape and tenon.equal(back, x * tenon.isin(x, values))
    larger = getattr(F, f"max_unpool{dims}d")(values, indices, 2, output_size=[5] * dims)
    assert list(larger.shape[2:]) == [5] * dims and larger.sum() == values.sum()
    both = getattr(F, f"max_pool{dims}d_with_indices")(x, 2)
    assert tenon.equal(both[0], values) and tenon.equal(both[1], indices)


def test_windows_at_random_places_are_those_of_the_seed():
    tenon.manual_seed(3)
    x = tenon.arange(81.0).view(1, 1, 9, 9)
    values, indices = F.fractional_max_pool2d_with_indices(x, 2, output_ratio=(0.5, 0.4))
    assert values.shape == (1, 1, 4, 3) and tenon.equal(values, indices.float())
    tenon.manual_seed(3)
    samples = tenon.rand(1, 1, 2)
    again = nn.FractionalMaxPool2d(2, output_size=(4, 3), _random_samples=samples)
    assert tenon.equal(again(x), values) and again.state_dict().keys() == {"_random_samples"}


def test_modules_are_their_functions():
    x = tenon.arange(128.0).view(2, 4, 4, 4)
    assert tenon.equal(nn.PixelUnshuffle(2)(nn.PixelShuffle(2)(x)), x)
    assert tenon.equal(nn.ChannelShuffle(2)(x), x[:, [0, 2, 1, 3]])
    assert nn.PixelShuffle(2)(x.to(memory_format=tenon.channels_last)).is_contiguous(memory_format=tenon.channels_last)
    columns = nn.Unfold(2, stride=2)(x)
    assert tenon.equal(nn.Fold((4, 4), 2, stride=2)(columns), x)
    assert tenon.allclose(nn.LPPool2d(2, 2)(x) ** 2, F.avg_pool2d(x * x, 2) * 4)
    assert nn.ConvTranspose3d(1, 2, 3, stride=2)(tenon.ones(1, 1, 2, 2, 2), (6, 5, 6)).shape == (1, 2, 6, 5, 6)
    assert repr(nn.Fold((4, 5), 2)) == "Fold(output_size=(4, 5), kernel_size=2, dilation=1, padding=0, stride=1)"
    assert repr(nn.MaxUnpool1d(3, 2)) == "MaxUnpool1d(kernel_size=(3,), stride=(2,), padding=(0,))"
    assert repr(nn.LPPool1d(2, 3)) == "LPPool1d(norm_type=2, kernel_size=3, stride=None, ceil_mode=False)"


def test_a_convolution_with_time_first():
    x, w, b = tenon.rand(5, 2, 3), tenon.rand(2, 3, 4), tenon.rand(4)
    last = F.conv1d(x.permute(1, 2, 0), w.permute(2, 1, 0), b, padding=1).permute(2, 0, 1)
    assert tenon.allclose(F.conv_tbc(x, w, b, 1), last)
