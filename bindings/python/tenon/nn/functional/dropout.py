"""Dropout."""

import math
import warnings

import tenon

__all__ = [
    "alpha_dropout",
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "feature_alpha_dropout",
]


def _feature_dropout(input, p, training, inplace):
    """dropout of whole channels of [N, C, ...]."""
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if not training or p == 0 or input.numel() == 0:
        return input
    if input.dim() < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    kept = tenon.dropout(input.new_ones(*input.shape[:2], *[1] * (input.dim() - 2)), p, True)
    return input.mul_(kept) if inplace else input * kept


def _unbatched_feature_dropout(input, p, training, inplace):
    """The same of [C, ...]."""
    result = _feature_dropout(input.unsqueeze(0), p, training, inplace)
    return input if inplace else result.squeeze(0)


def _warn_of_dims(name, dims, input):
    warnings.warn(
        f"{name}: Received a {input.dim()}-D input to {name}, which is deprecated and will result in an error in a future release. "
        "To retain the behavior and silence this warning, please use dropout instead. Note that "
        f"{name} exists to provide channel-wise dropout on inputs with {dims} spatial dimensions, a channel dimension, and an "
        f"optional batch dimension (i.e. {dims + 1}D or {dims + 2}D inputs).",
        stacklevel=3,
    )


def dropout1d(input, p=0.5, training=True, inplace=False):
    """dropout of whole channels of [N, C, L] or [C, L]."""
    if input.dim() not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {input.dim()}D input. Note that dropout1d exists to provide "
            "channel-wise dropout on inputs with 1 spatial dimension, a channel dimension, and an optional batch dimension "
            "(i.e. 2D or 3D inputs)."
        )
    return (_feature_dropout if input.dim() == 3 else _unbatched_feature_dropout)(input, p, training, inplace)


def dropout2d(input, p=0.5, training=True, inplace=False):
    """dropout of whole channels of [N, C, H, W]; three dimensions are [N, C, L]."""
    if input.dim() not in (3, 4):
        _warn_of_dims("dropout2d", 2, input)
    if input.dim() == 3:
        warnings.warn(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior is desired - input is "
            "interpreted as shape (N, C, L), where C is the channel dim. This behavior will change in a future release to interpret "
            "the input as one without a batch dimension, i.e. shape (C, H, W). To maintain the 1D channel-wise dropout behavior, "
            "please switch to using dropout1d instead.",
            stacklevel=2,
        )
    return _feature_dropout(input, p, training, inplace)


def dropout3d(input, p=0.5, training=True, inplace=False):
    """dropout of whole channels of [N, C, D, H, W] or [C, D, H, W]."""
    if input.dim() not in (4, 5):
        _warn_of_dims("dropout3d", 3, input)
    return (_feature_dropout if input.dim() == 5 else _unbatched_feature_dropout)(input, p, training, inplace)


def dropout(input, p=0.5, training=True, inplace=False):
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    result = tenon.dropout(input, p, training)
    return input.copy_(result) if inplace and result is not input else result


def _alpha_dropout(input, shape, p, training, inplace):
    """Noise of that shape, which keeps mean and variance of what selu() gives (Klambauer et al. 2017)."""
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if not training or p == 0:
        return input
    if p == 1:
        return input.mul_(0) if inplace else input * 0
    lowest = -1.7580993408473766  # of selu
    scale = 1 / math.sqrt((lowest * lowest * p + 1) * (1 - p))
    kept = tenon.empty(shape, dtype=input.dtype, device=input.device).bernoulli_(1 - p)
    result = input * (kept * scale) + ((1 - kept) * (lowest * scale) - lowest * scale * p)
    return input.copy_(result) if inplace else result


def alpha_dropout(input, p=0.5, training=False, inplace=False):
    return _alpha_dropout(input, input.shape, p, training, inplace)


def feature_alpha_dropout(input, p=0.5, training=False, inplace=False):
    """Whole channels of [N, C, ...]."""
    if training and 0 < p < 1 and input.numel() > 0 and input.dim() < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    return _alpha_dropout(input, (*input.shape[:2], *[1] * (input.dim() - 2)), p, training, inplace)
