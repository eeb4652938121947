"""What entries of modules.yaml call beside operators and functions of nn.functional: `_name` there is `name` here."""

import math
import warnings

from tenon.nn import functional as F, init
from tenon.nn.functional.loss import _legacy as reduction_of
from tenon.nn.modules._convolution import (
    check_conv,
    check_conv_transpose,
    conv_forward,
    conv_transpose_forward,
    conv_transpose_weight_size,
    conv_weight_size,
)

__all__ = [
    "as_tuple",
    "check_conv",
    "check_conv_transpose",
    "conv_forward",
    "conv_transpose_forward",
    "conv_transpose_weight_size",
    "conv_weight_size",
    "expand",
    "pad_circular",
    "pad_reflect",
    "pad_replicate",
    "reduction_of",
    "renamed",
    "softmax2d",
    "uniform_by_fan_in_",
    "uniform_by_second_size_",
]


def expand(value, count):
    """A tuple of numbers: `count` times one number, or those of a sequence. A text stays."""
    if isinstance(value, str):  # a convolution's padding="same"
        return value
    return tuple(value) if isinstance(value, (tuple, list)) else (value,) * count


def as_tuple(value):
    """The numbers of a sequence, or one number."""
    return (value,) if isinstance(value, int) else tuple(value)


def renamed(old, old_value, new, value):
    """The value of an argument that has a new name; the old name's, with a warning, if it is given."""
    if old_value is None:
        return value
    text = f"keyword argument `{old}` is deprecated and rename to `{new}`"
    warnings.warn(text, FutureWarning, stacklevel=3)
    return old_value


def uniform_by_fan_in_(tensor, weight):
    """Uniform in +-1 / sqrt(fan in of the weight); zeros for a fan in of 0."""
    fan_in, _ = init._calculate_fan_in_and_fan_out(weight)
    bound = 1 / math.sqrt(fan_in) if fan_in > 0 else 0
    init.uniform_(tensor, -bound, bound)


def uniform_by_second_size_(tensor, weight):
    """Uniform in +-1 / sqrt(weight.shape[1])."""
    bound = 1 / math.sqrt(weight.shape[1])
    init.uniform_(tensor, -bound, bound)


def softmax2d(input):
    """softmax over the channels of [N, C, H, W] or [C, H, W]."""
    if input.dim() not in (3, 4):
        raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.dim()}D instead")
    return F.softmax(input, -3)


def pad_reflect(input, padding):
    return F.pad(input, padding, "reflect")


def pad_replicate(input, padding):
    return F.pad(input, padding, "replicate")


def pad_circular(input, padding):
    return F.pad(input, padding, "circular")
