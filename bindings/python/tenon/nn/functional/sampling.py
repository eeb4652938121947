"""Images in another size or order."""

import warnings

import tenon
from tenon import channel_shuffle, pixel_shuffle, pixel_unshuffle
from tenon._C import _nn
from tenon.nn.functional.pooling import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d

__all__ = [
    "affine_grid",
    "channel_shuffle",
    "grid_sample",
    "interpolate",
    "pad",
    "pixel_shuffle",
    "pixel_unshuffle",
    "upsample",
    "upsample_bilinear",
    "upsample_nearest",
]


# By mode, the operators of input of 3, 4 and 5 dimensions, and whether they know align_corners.
_RESIZED = {
    "nearest": ({3: "upsample_nearest1d", 4: "upsample_nearest2d", 5: "upsample_nearest3d"}, False),
    "nearest-exact": (
        {3: "_upsample_nearest_exact1d", 4: "_upsample_nearest_exact2d", 5: "_upsample_nearest_exact3d"},
        False,
    ),
    "area": (dict.fromkeys((3, 4, 5)), False),  # means over boxes: adaptive_avg_pool
    "linear": ({3: "upsample_linear1d"}, True),
    "bilinear": ({4: "upsample_bilinear2d"}, True),
    "bicubic": ({4: "upsample_bicubic2d"}, True),
    "trilinear": ({5: "upsample_trilinear3d"}, True),
}


def _sizes_and_scales(input, size, scale_factor, recompute):
    dims, shape = input.dim() - 2, list(input.shape[2:])
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is None and scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    if size is not None:
        if recompute:
            raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
        if not isinstance(size, (list, tuple)):
            return [size] * dims, [None] * dims
        if len(size) != dims:
            raise ValueError(
                f"Input and output must have the same number of spatial dimensions, but got input with spatial dimensions of {shape} "
                f"and output size of {size}."
            )
        return list(size), [None] * dims
    scales = list(scale_factor) if isinstance(scale_factor, (list, tuple)) else [scale_factor] * dims
    if len(scales) != dims:
        raise ValueError(
            f"Input and scale_factor must have the same number of spatial dimensions, but got input with spatial dimensions of "
            f"{shape} and scale_factor of shape {scale_factor}."
        )
    size = [int(n * s) for n, s in zip(shape, scales)]
    return size, [None] * dims if recompute else [float(s) for s in scales]


def upsample(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    """interpolate(), by its former name."""
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input, size=None, scale_factor=None):
    """interpolate() in the mode "nearest"."""
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(input, size=None, scale_factor=None):
    """interpolate() in the mode "bilinear" with aligned corners."""
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)


def interpolate(
    input,
    size=None,
    scale_factor=None,
    mode="nearest",
    align_corners=None,
    recompute_scale_factor=None,
    antialias=False,
):
    """[N, C, ...] in another size: "nearest", "nearest-exact" and "area" of one to three dimensions, "linear", "bilinear", "bicubic" and
    "trilinear". antialias, of "bilinear" and "bicubic": where the image gets smaller every element counts."""
    if mode not in _RESIZED:
        raise NotImplementedError(f"interpolate: there is no mode {mode!r}; the modes are {', '.join(_RESIZED)}")
    operators, aligns = _RESIZED[mode]
    if not aligns and align_corners is not None:
        raise ValueError(
            "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear"
        )
    # Means are over whole elements: sizes say which, scales do not.
    size, scales = _sizes_and_scales(
        input, size, scale_factor, recompute_scale_factor or mode == "area" and size is None
    )
    if antialias and not (mode in ("bilinear", "bicubic") and input.dim() == 4):
        raise ValueError(
            "Anti-alias option is restricted to bilinear and bicubic modes and requires a 4-D tensor as input"
        )
    if input.dim() not in operators:
        raise NotImplementedError(
            f"Got {input.dim()}D input, but {mode} mode needs {' or '.join(f'{d}D' for d in operators)} input"
        )
    if mode == "area":
        return (adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d)[input.dim() - 3](input, size)
    function = getattr(_nn, f"_{operators[4]}_aa" if antialias else operators[input.dim()])
    return function(input, size, bool(align_corners), *scales) if aligns else function(input, size, *scales)


def pad(input, pad, mode="constant", value=None):
    return _nn.pad(input, pad, mode, value)


_INTERPOLATIONS = {"bilinear": 0, "nearest": 1, "bicubic": 2}
_PADDINGS = {"zeros": 0, "border": 1, "reflection": 2}


def _warn_of_corners():
    warnings.warn(
        "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. Please specify "
        "align_corners=True if the old behavior is desired. See the documentation of grid_sample for details.",
        stacklevel=3,
    )


def grid_sample(input, grid, mode="bilinear", padding_mode="zeros", align_corners=None):
    """The values of [N, C, H, W] at the places of grid [N, h, w, 2], or of [N, C, D, H, W] at [N, d, h, w, 3].

    A place is (x, y) or (x, y, z), from -1 to 1: with align_corners from the first element's middle to the last one's, else
    from border to border. What is outside is 0, or as padding_mode "border" and "reflection" have it.
    """
    if mode not in _INTERPOLATIONS:
        raise ValueError(
            f"nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '{mode}'"
        )
    if padding_mode not in _PADDINGS:
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', but got: "
            f"'{padding_mode}'"
        )
    if align_corners is None:
        _warn_of_corners()
    return tenon.grid_sampler(input, grid, _INTERPOLATIONS[mode], _PADDINGS[padding_mode], bool(align_corners))


def affine_grid(theta, size, align_corners=None):
    """The grid that grid_sample() makes an image of `size` with, turned and moved by theta [N, 2, 3], of a volume [N, 3, 4]."""
    if align_corners is None:
        _warn_of_corners()
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    if len(size) not in (4, 5):
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. Got size "
            f"{size}."
        )
    dims = len(size) - 2
    if theta.dim() != 3 or tuple(theta.shape[-2:]) != (dims, dims + 1):
        raise ValueError(
            f"Expected a batch of {dims}D affine matrices of shape Nx{dims}x{dims + 1} for size {size}. Got {theta.shape}."
        )
    if min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {size}")
    return tenon.affine_grid_generator(theta, size, bool(align_corners))
