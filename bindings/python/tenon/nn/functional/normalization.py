"""Normalization."""

import math

import tenon
from tenon.nn.functional.sampling import pad

__all__ = [
    "batch_norm",
    "group_norm",
    "instance_norm",
    "layer_norm",
    "local_response_norm",
    "normalize",
    "rms_norm",
]


def _check_values_per_channel(sizes):
    """That [N, C, ...] has more than one value in a channel: of one the variance says nothing."""
    if sizes[0] * math.prod(sizes[2:]) == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {sizes}")


def batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
    if training:
        _check_values_per_channel(input.shape)
    return tenon.batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, False)


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    return tenon.layer_norm(input, normalized_shape, weight, bias, eps, False)


def group_norm(input, num_groups, weight=None, bias=None, eps=1e-5):
    if input.dim() < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {input.dim()}")
    _check_values_per_channel([input.shape[0] * input.shape[1] // num_groups, num_groups, *input.shape[2:]])
    return tenon.group_norm(input, num_groups, weight, bias, eps, False)


def instance_norm(
    input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True, momentum=0.1, eps=1e-5
):
    if use_input_stats and math.prod(input.shape[2:]) == 1:
        raise ValueError(f"Expected more than 1 spatial element when training, got input size {input.shape}")
    return tenon.instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, False)


def rms_norm(input, normalized_shape, weight=None, eps=None):
    return tenon.rms_norm(input, normalized_shape, weight, eps)


def normalize(input, p=2.0, dim=1, eps=1e-12, out=None):
    norms = input.norm(p, dim, True).clamp_min(eps).expand_as(input)
    return input / norms if out is None else tenon.div(input, norms, out=out)


def local_response_norm(input, size, alpha=1e-4, beta=0.75, k=1.0):
    """x / (k + alpha m)^beta, m the mean of the squares of `size` neighbouring channels."""
    if input.dim() < 3:
        raise ValueError(f"Expected 3D or higher dimensionality input (got {input.dim()} dimensions)")
    if input.numel() == 0:
        return input
    squares = pad((input * input).movedim(1, -1), (size // 2, (size - 1) // 2))
    mean = squares.unfold(-1, size, 1).sum(-1).movedim(-1, 1) / size
    return input / (mean * alpha + k) ** beta
