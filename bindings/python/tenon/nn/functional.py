"""The operators of modules as functions of tensors."""

import math
import warnings

import tenon
from tenon import (  # noqa: F401
    adaptive_avg_pool1d,
    avg_pool1d,
    bilinear,
    celu_,
    channel_shuffle,
    conv1d,
    conv2d,
    conv3d,
    conv_transpose1d,
    conv_transpose2d,
    cosine_similarity,
    pairwise_distance,
    pixel_shuffle,
    pixel_unshuffle,
    prelu,
    relu_,
    rrelu_,
    selu_,
    sigmoid,
    tanh,
    threshold_,
)
from tenon._C import _nn

avg_pool2d = _nn.avg_pool2d
avg_pool3d = _nn.avg_pool3d
gelu = _nn.gelu
hardshrink = tenon.hardshrink
linear = _nn.linear
one_hot = _nn.one_hot
scaled_dot_product_attention = _nn.scaled_dot_product_attention
logsigmoid = _nn.log_sigmoid
softplus = _nn.softplus
softshrink = _nn.softshrink
_REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}


def _reduction(name):
    if name not in _REDUCTIONS:
        raise ValueError(f"{name} is not a valid value for reduction")
    return _REDUCTIONS[name]


# Activations


def relu(input, inplace=False):
    return tenon.relu_(input) if inplace else tenon.relu(input)


def relu6(input, inplace=False):
    return _nn.relu6_(input) if inplace else _nn.relu6(input)


def silu(input, inplace=False):
    return _nn.silu_(input) if inplace else _nn.silu(input)


def mish(input, inplace=False):
    return _nn.mish_(input) if inplace else _nn.mish(input)


def hardswish(input, inplace=False):
    return _nn.hardswish_(input) if inplace else _nn.hardswish(input)


def hardsigmoid(input, inplace=False):
    return _nn.hardsigmoid_(input) if inplace else _nn.hardsigmoid(input)


def selu(input, inplace=False):
    return tenon.selu_(input) if inplace else tenon.selu(input)


def celu(input, alpha=1.0, inplace=False):
    return tenon.celu_(input, alpha) if inplace else tenon.celu(input, alpha)


def elu(input, alpha=1.0, inplace=False):
    return _nn.elu_(input, alpha) if inplace else _nn.elu(input, alpha)


def leaky_relu(input, negative_slope=0.01, inplace=False):
    return _nn.leaky_relu_(input, negative_slope) if inplace else _nn.leaky_relu(input, negative_slope)


def hardtanh(input, min_val=-1.0, max_val=1.0, inplace=False):
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    if not (input.is_floating_point() or input.is_complex() or input.dtype == tenon.bool):
        if not all(-(2**63) <= bound < 2**63 for bound in (min_val, max_val)):
            raise RuntimeError("[hardtanh] value cannot be converted to type int64_t without overflow")
        return (tenon.clamp_ if inplace else tenon.clamp)(input, int(min_val), int(max_val))
    return _nn.hardtanh_(input, min_val, max_val) if inplace else _nn.hardtanh(input, min_val, max_val)


def threshold(input, threshold, value, inplace=False):
    return tenon.threshold_(input, threshold, value) if inplace else tenon.threshold(input, threshold, value)


def rrelu(input, lower=1.0 / 8, upper=1.0 / 3, training=False, inplace=False):
    """leaky_relu with slopes drawn between the bounds, one for each negative element, or in evaluation the mean of the bounds."""
    return tenon.rrelu_(input, lower, upper, training) if inplace else tenon.rrelu(input, lower, upper, training)


def softsign(input):
    return input / (input.abs() + 1)


def tanhshrink(input):
    return input - input.tanh()


def glu(input, dim=-1):
    return _nn.glu(input, dim)


def softmax(input, dim=None, _stacklevel=3, dtype=None):
    return input.softmax(_dim_of_classes(input, dim), dtype=dtype)


def softmin(input, dim=None, _stacklevel=3, dtype=None):
    return (-input).softmax(_dim_of_classes(input, dim), dtype=dtype)


def log_softmax(input, dim=None, _stacklevel=3, dtype=None):
    return input.log_softmax(_dim_of_classes(input, dim), dtype=dtype)


def _dim_of_classes(input, dim):
    """PyTorch's default, deprecated there: dimension 0 of tensors of 0, 1 and 3 dimensions, else 1."""
    return dim if dim is not None else int(input.dim() not in (0, 1, 3))


def gumbel_softmax(logits, tau=1, hard=False, eps=1e-10, dim=-1):
    """Samples of classes that can be differentiated (Jang et al. 2017): softmax of the logits with Gumbel noise.

    hard: one-hot results, whose gradient is that of the soft ones.
    """
    noise = -tenon.empty_like(logits).exponential_().log()
    soft = ((logits + noise) / tau).softmax(dim)
    if not hard:
        return soft
    chosen = tenon.zeros_like(logits).scatter_(dim, soft.max(dim, keepdim=True)[1], 1.0)
    return chosen - soft.detach() + soft


# Windows, pooling, padding


def _pair(value):
    return [value, value] if isinstance(value, int) else list(value)


def unfold(input, kernel_size, dilation=1, padding=0, stride=1):
    """Each window of [N, C, H, W] as a column: [N, C * kernel, windows]."""
    return _nn.im2col(input, _pair(kernel_size), _pair(dilation), _pair(padding), _pair(stride))


def fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    """The way back from unfold(), where windows overlap their sum."""
    return _nn.col2im(input, _pair(output_size), _pair(kernel_size), _pair(dilation), _pair(padding), _pair(stride))


def lp_pool1d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """The norm of each window, without the absolute value of odd powers."""
    mean = tenon.avg_pool1d(input**norm_type, kernel_size, [] if stride is None else stride, 0, ceil_mode)
    return (mean.sign() * mean.abs().relu() * _row(kernel_size)) ** (1 / norm_type)


def lp_pool2d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    height, width = _pair(kernel_size)
    mean = _nn.avg_pool2d(input**norm_type, [height, width], [] if stride is None else stride, 0, ceil_mode)
    return (mean.sign() * mean.abs().relu() * (height * width)) ** (1 / norm_type)


def lp_pool3d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    depth, height, width = [kernel_size] * 3 if isinstance(kernel_size, int) else kernel_size
    mean = _nn.avg_pool3d(input**norm_type, [depth, height, width], [] if stride is None else stride, 0, ceil_mode)
    return (mean.sign() * mean.abs().relu() * (depth * height * width)) ** (1 / norm_type)


def pdist(input, p=2.0):
    """The distances in the p-norm of the pairs of rows i < j of [N, M], as [N (N - 1) / 2]."""
    if input.dim() != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {input.dim()}D")
    if p < 0:
        raise RuntimeError(f"pdist only supports non-negative p values, got: {p}")
    rows, columns = tenon.triu_indices(input.shape[0], input.shape[0], 1, device=input.device)
    return tenon.linalg.vector_norm(input[rows] - input[columns], p, 1)


def local_response_norm(input, size, alpha=1e-4, beta=0.75, k=1.0):
    """x / (k + alpha m)^beta, m the mean of the squares of `size` neighbouring channels."""
    if input.dim() < 3:
        raise ValueError(f"Expected 3D or higher dimensionality input (got {input.dim()} dimensions)")
    if input.numel() == 0:
        return input
    squares = pad((input * input).movedim(1, -1), (size // 2, (size - 1) // 2))
    mean = squares.unfold(-1, size, 1).sum(-1).movedim(-1, 1) / size
    return input / (mean * alpha + k) ** beta


def _sizes_of(input, output_size):
    if isinstance(output_size, int):
        return output_size
    if input.dim() <= len(output_size):
        raise ValueError(f"Input dimension should be at least {len(output_size) + 1}")
    return [input.shape[i - len(output_size)] if n is None else n for i, n in enumerate(output_size)]


def _adaptive(function):
    def pool(input, output_size):
        """None stands for the input's size."""
        return function(input, _sizes_of(input, output_size))

    pool.__name__ = pool.__qualname__ = function.__name__
    return pool


def _adaptive_max(function):
    def pool(input, output_size, return_indices=False):
        """The largest element of each window, with return_indices its place as well. None stands for the input's size."""
        both = function(input, _sizes_of(input, output_size))
        return both if return_indices else both[0]

    pool.__name__ = pool.__qualname__ = function.__name__
    return pool


adaptive_avg_pool2d = _adaptive(_nn.adaptive_avg_pool2d)
adaptive_avg_pool3d = _adaptive(_nn.adaptive_avg_pool3d)
adaptive_max_pool1d = _adaptive_max(tenon.adaptive_max_pool1d)
adaptive_max_pool2d = _adaptive_max(_nn.adaptive_max_pool2d)
adaptive_max_pool3d = _adaptive_max(_nn.adaptive_max_pool3d)


def max_pool2d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    stride = [] if stride is None else stride
    pool = _nn.max_pool2d_with_indices if return_indices else tenon.max_pool2d
    return pool(input, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool3d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    stride = [] if stride is None else stride
    pool = _nn.max_pool3d_with_indices if return_indices else tenon.max_pool3d
    return pool(input, kernel_size, stride, padding, dilation, ceil_mode)


def _row(value):
    """A window's number along one dimension, as one of two: the other does nothing."""
    return value if isinstance(value, int) else value[0]


def max_pool1d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    stride = [] if stride is None else stride
    pool = tenon.max_pool1d_with_indices if return_indices else tenon.max_pool1d
    return pool(input, kernel_size, stride, padding, dilation, ceil_mode)


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


# Normalization, dropout, embedding


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


def embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False):
    if max_norm is not None:
        _renormalize(weight, input, max_norm, norm_type)
    if padding_idx is None:
        padding_idx = -1
    elif not -weight.shape[0] <= padding_idx < weight.shape[0]:
        raise AssertionError("Padding_idx must be within num_embeddings")
    elif padding_idx < 0:
        padding_idx += weight.shape[0]
    return tenon.embedding(weight, input, padding_idx, scale_grad_by_freq, sparse)


def embedding_bag(
    input,
    weight,
    offsets=None,
    max_norm=None,
    norm_type=2,
    scale_grad_by_freq=False,
    mode="mean",
    sparse=False,
    per_sample_weights=None,
    include_last_offset=False,
    padding_idx=None,
):
    """The sum, mean or largest elements of the rows of each bag: a row of input [B, L], or input[offsets[i]:offsets[i + 1]] of [N]. Rows
    of padding_idx do not count; a bag without rows gives 0. per_sample_weights, of "sum": what each row is multiplied by."""
    if per_sample_weights is not None and per_sample_weights.shape != input.shape:
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({per_sample_weights.shape}) is not None, then it must have the same shape as "
            f"the input ({input.shape})"
        )
    if weight.dim() != 2:
        raise ValueError(f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.dim()}")
    if mode not in ("sum", "mean", "max"):
        raise ValueError("mode has to be one of sum, mean or max")
    if mode == "max" and scale_grad_by_freq:
        raise ValueError("max mode does not support scaling the gradient by the frequency")
    for name, tensor in (("indices", input), ("offsets", offsets)):
        if tensor is not None and tensor.dtype not in (tenon.int32, tenon.int64):
            raise RuntimeError(
                f"[embedding_bag] Expected {name} to have one of the following scalar types: Long, Int; but got {tensor.dtype} "
                "instead"
            )
    if per_sample_weights is not None and per_sample_weights.dtype != weight.dtype:
        raise RuntimeError(
            f"[embedding_bag] Expected weight to have the same type as per_sample_weights; but got {weight.dtype} and "
            f"{per_sample_weights.dtype}"
        )
    if padding_idx is not None and not -weight.shape[0] <= padding_idx < weight.shape[0]:
        raise RuntimeError(
            f"padding_idx must be within the number of embeddings, {-weight.shape[0]} through {weight.shape[0] - 1}, but got "
            f"{padding_idx}"
        )
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError(
            f"embedding_bag: per_sample_weights is only supported for mode='sum' (got mode='{mode}')"
        )
    if input.dim() == 2:
        if offsets is not None:
            raise ValueError(
                f"if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length sequences. "
                f"However, found offsets of type {type(offsets)}"
            )
        starts = [i * input.shape[1] for i in range(input.shape[0] + 1)]
    elif input.dim() == 1:
        if offsets is None or offsets.dim() != 1:
            raise ValueError(
                f"offsets has to be a 1D Tensor but got {None if offsets is None else f'{offsets.dim()}D'}"
            )
        starts = offsets.tolist() if include_last_offset else [*offsets.tolist(), input.numel()]
        if starts and starts[0] != 0:
            raise RuntimeError(
                f"offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. However, "
                f"got {starts[0]}"
            )
        if any(a > b for a, b in zip(starts, starts[1:])) or starts and starts[-1] > input.numel():
            raise RuntimeError(f"offsets must not descend nor pass input's length {input.numel()}, got {starts}")
    else:
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.dim()}")
    indices, bags = input.reshape(-1)[: starts[-1] if starts else 0], max(len(starts) - 1, 0)
    outside = tenon.logical_or(indices < 0, indices >= weight.shape[0]).nonzero()
    if outside.shape[0] and max_norm is None:
        place = int(outside[0, 0])
        raise RuntimeError(
            f"[embedding_bag] Index {place} of input takes value {int(indices[place])} which is not in the valid range "
            f"[0, {weight.shape[0]})"
        )
    plain = padding_idx is None and per_sample_weights is None and not scale_grad_by_freq and not sparse and bags
    if plain and mode != "max":
        if max_norm is not None:
            _renormalize(weight, indices, max_norm, norm_type)
        return tenon._C._embedding_bags(
            weight, indices, tenon.tensor(starts, dtype=tenon.int64, device=input.device), mode == "mean"
        )
    rows = embedding(indices, weight, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.reshape(-1, 1)
    sizes = [b - a for a, b in zip(starts, starts[1:])]
    bag = tenon.arange(bags, device=input.device).repeat_interleave(
        tenon.tensor(sizes, dtype=tenon.int64, device=input.device)
    )
    if padding_idx is not None:
        counts = indices != (padding_idx if padding_idx >= 0 else weight.shape[0] + padding_idx)
        places = counts.nonzero().reshape(-1)
        rows, bag = rows.index_select(0, places), bag.index_select(0, places)
    # Half types are sums of floats, rounded once.
    wide = rows.float() if rows.dtype in (tenon.float16, tenon.bfloat16) else rows
    if mode != "max":
        result = wide.new_zeros((bags, rows.shape[1])).index_add(0, bag, wide)
        if mode == "mean":
            members = wide.new_zeros(bags).index_add(0, bag, wide.new_ones(bag.shape))
            result = result / members.clamp(min=1).unsqueeze(1)
        return result.to(rows.dtype)
    parts = rows.split([bag.eq(i).sum().item() for i in range(bags)])
    return tenon.stack([part.max(0)[0] if part.shape[0] else part.new_zeros(part.shape[1]) for part in parts])


def _renormalize(weight, indices, max_norm, norm_type):
    """Shrinks, in place, the rows that are looked up and whose norm is larger than max_norm."""
    with tenon.no_grad():
        weight = weight.detach()  # without its tangent
        indices = indices.reshape(-1)
        rows = weight[indices]
        norms = rows.norm(norm_type, 1, True)
        # 1e-7 as PyTorch has it: a norm that is rounded up does not stay above.
        weight[indices] = rows * tenon.where(norms > max_norm, max_norm / (norms + 1e-7), 1).to(rows.dtype)


# Losses


def _warn_of_sizes(input, target):
    if input.shape != target.shape:
        warnings.warn(
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape}). This will likely lead "
            "to incorrect results due to broadcasting. Please ensure they have the same size.",
            stacklevel=3,
        )


def mse_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    reduction = _legacy(size_average, reduce, reduction)
    _warn_of_sizes(input, target)
    if weight is not None:
        return _weighted((input - target).square(), weight, reduction)
    return _nn.mse_loss(input, target, _reduction(reduction))


def _reduced(loss, reduction):
    if _reduction(reduction) == 0:
        return loss
    return loss.mean() if reduction == "mean" else loss.sum()


def _weighted(loss, weight, reduction):
    """The mean divides by the sum of the weights."""
    if weight is None:
        return _reduced(loss, reduction)
    weighted = loss * weight
    return weighted.sum() / weight.expand_as(loss).sum() if reduction == "mean" else _reduced(weighted, reduction)


def l1_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    reduction = _legacy(size_average, reduce, reduction)
    _warn_of_sizes(input, target)
    if weight is not None:
        return _weighted((input - target).abs(), weight, reduction)
    return _nn.l1_loss(input, target, _reduction(reduction))


def smooth_l1_loss(input, target, size_average=None, reduce=None, reduction="mean", beta=1.0):
    _warn_of_sizes(input, target)
    return _nn.smooth_l1_loss(input, target, _reduction(_legacy(size_average, reduce, reduction)), beta)


def huber_loss(input, target, reduction="mean", delta=1.0, weight=None):
    _warn_of_sizes(input, target)
    if weight is not None:
        return _reduced(_nn.huber_loss(input, target, 0, delta) * weight, reduction)
    return _nn.huber_loss(input, target, _reduction(reduction), delta)


def binary_cross_entropy(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    """-(target log(input) + (1 - target) log(1 - input)), the logarithms at least -100."""
    if input.shape != target.shape:
        raise ValueError(
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape}) is deprecated. Please "
            "ensure they have the same size."
        )
    with tenon.no_grad():
        if bool(tenon.logical_or(input < 0, input > 1).any()):
            raise RuntimeError("all elements of input should be between 0 and 1")
    return _nn.binary_cross_entropy(input, target, weight, _reduction(_legacy(size_average, reduce, reduction)))


def binary_cross_entropy_with_logits(
    input, target, weight=None, size_average=None, reduce=None, reduction="mean", pos_weight=None
):
    if target.shape != input.shape:
        raise ValueError(f"Target size ({target.shape}) must be the same as input size ({input.shape})")
    reduction = _reduction(_legacy(size_average, reduce, reduction))
    return tenon.binary_cross_entropy_with_logits(input, target, weight, pos_weight, reduction)


def kl_div(input, target, size_average=None, reduce=None, reduction="mean", log_target=False):
    """`reduction` "batchmean": the sum divided by the batch's size, which is what the divergence is."""
    reduction = _legacy(size_average, reduce, reduction)
    if reduction == "mean":
        warnings.warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size. 'batchmean' divides only by "
            "the batch size, and aligns with the KL div math definition.",
            stacklevel=2,
        )
    if reduction != "batchmean":
        return tenon.kl_div(input, target, _reduction(reduction), log_target=log_target)
    loss = tenon.kl_div(input, target, _reduction("sum"), log_target=log_target)
    return loss / input.shape[0] if input.dim() else loss


def poisson_nll_loss(
    input, target, log_input=True, full=False, size_average=None, eps=1e-8, reduce=None, reduction="mean"
):
    reduction = _reduction(_legacy(size_average, reduce, reduction))
    return tenon.poisson_nll_loss(input, target, log_input, full, eps, reduction)


def gaussian_nll_loss(input, target, var, full=False, eps=1e-6, reduction="mean"):
    if reduction not in _REDUCTIONS:
        raise ValueError(f"{reduction} is not valid")
    if not isinstance(var, tenon.Tensor):
        var = input.new_full(input.shape, var)
    elif var.shape != input.shape:
        if var.dim() == input.dim() - 1 and input.shape[:-1] == var.shape:
            var = var.unsqueeze(-1)
        elif not (var.dim() == input.dim() and input.shape[:-1] == var.shape[:-1] and var.shape[-1] == 1):
            raise ValueError("var is of incorrect size")
    if bool((var < 0).any()):
        raise ValueError("var has negative entry/entries")
    var = var.detach().clamp_min(eps) + (var - var.detach())  # its gradient as if it were not clamped
    loss = 0.5 * (var.log() + (input - target).square() / var)
    return _reduced(loss + 0.5 * math.log(2 * math.pi) if full else loss, reduction)


def hinge_embedding_loss(input, target, margin=1.0, size_average=None, reduce=None, reduction="mean"):
    return tenon.hinge_embedding_loss(input, target, margin, _reduction(_legacy(size_average, reduce, reduction)))


def margin_ranking_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    reduction = _reduction(_legacy(size_average, reduce, reduction))
    if not input1.dim() == input2.dim() == target.dim():
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: {input1.shape}, input2: {input2.shape}, target: {target.shape}"
        )
    return tenon.margin_ranking_loss(input1, input2, target, margin, reduction)


def soft_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    return _nn.soft_margin_loss(input, target, _reduction(_legacy(size_average, reduce, reduction)))


def multi_margin_loss(input, target, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction="mean"):
    return _nn.multi_margin_loss(input, target, p, margin, weight, _reduction(_legacy(size_average, reduce, reduction)))


def multilabel_soft_margin_loss(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    """The mean over the classes of the cross-entropies of yes and no."""
    reduction = _reduction(_legacy(size_average, reduce, reduction))
    loss = -(target * logsigmoid(input) + (1 - target) * logsigmoid(-input))
    loss = (loss if weight is None else loss * weight).mean(-1)
    return loss if reduction == 0 else loss.mean() if reduction == 1 else loss.sum()


def cosine_embedding_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    reduction = _reduction(_legacy(size_average, reduce, reduction))
    return tenon.cosine_embedding_loss(input1, input2, target, margin, reduction)


def triplet_margin_loss(
    anchor, positive, negative, margin=1.0, p=2, eps=1e-6, swap=False, size_average=None, reduce=None, reduction="mean"
):
    reduction = _reduction(_legacy(size_average, reduce, reduction))
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    if not anchor.dim() == positive.dim() == negative.dim():
        raise RuntimeError(
            f"[triplet_margin_loss] The anchor, positive, and negative tensors are expected to have the same number of "
            f"dimensions, but got: anchor {anchor.dim()}D, positive {positive.dim()}D, and negative {negative.dim()}D inputs"
        )
    return tenon.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction)


def triplet_margin_with_distance_loss(
    anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False, reduction="mean"
):
    """max(d(anchor, positive) - d(anchor, negative) + margin, 0), d the distance function: pairwise_distance() by default.

    swap: the lesser of the distances of the negative example from the anchor and from the positive one.
    """
    number = _reduction(reduction)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    if not anchor.dim() == positive.dim() == negative.dim():
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: "
            f"anchor {anchor.dim()}D, positive {positive.dim()}D, and negative {negative.dim()}D inputs"
        )
    distance = pairwise_distance if distance_function is None else distance_function
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = tenon.minimum(far, distance(positive, negative))
    loss = tenon.clamp_min(margin + near - far, 0)
    return loss if number == 0 else loss.mean() if number == 1 else loss.sum()


def nll_loss(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"):
    return _nn.nll_loss_nd(input, target, weight, _reduction(_legacy(size_average, reduce, reduction)), ignore_index)


def cross_entropy(
    input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean", label_smoothing=0.0
):
    reduction = _reduction(_legacy(size_average, reduce, reduction))
    return _nn.cross_entropy_loss(input, target, weight, reduction, ignore_index, label_smoothing)


def _legacy(size_average, reduce, reduction):
    """The reduction that PyTorch's two older arguments mean."""
    if size_average is None and reduce is None:
        return reduction
    if reduce is not None and not reduce:
        reduction = "none"
    else:
        reduction = "mean" if size_average is None or size_average else "sum"
    warnings.warn(
        f"size_average and reduce args will be deprecated, please use reduction='{reduction}' instead.", stacklevel=3
    )
    return reduction
