"""The operators of modules as functions of tensors."""

import math

import tenon
from tenon import (  # noqa: F401
    adaptive_avg_pool1d, avg_pool1d, cosine_similarity, pairwise_distance, pixel_shuffle, pixel_unshuffle, prelu,
    bilinear, celu_, channel_shuffle, conv1d, conv2d, conv3d, conv_transpose1d, conv_transpose2d, relu_, selu_, sigmoid, tanh, threshold_,
)
from tenon._C import _nn

avg_pool2d = _nn.avg_pool2d
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
    if input.dtype == tenon.uint8:
        min_val = max(min_val, 0)  # which the operator would have to hold in that dtype
    return _nn.hardtanh_(input, min_val, max_val) if inplace else _nn.hardtanh(input, min_val, max_val)


def threshold(input, threshold, value, inplace=False):
    return tenon.threshold_(input, threshold, value) if inplace else tenon.threshold(input, threshold, value)


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
    uniform = tenon.empty_like(logits).uniform_()
    noise = -(-(1 - uniform).log()).clamp_min(tenon.finfo(logits.dtype).tiny).log()
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
    return _nn.col2im(
        input, _pair(output_size), _pair(kernel_size), _pair(dilation), _pair(padding), _pair(stride)
    )


def lp_pool1d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """The norm of each window, without the absolute value of odd powers."""
    mean = tenon.avg_pool1d(input**norm_type, kernel_size, [] if stride is None else stride, 0, ceil_mode)
    return (mean.sign() * mean.abs().relu() * _row(kernel_size)) ** (1 / norm_type)


def lp_pool2d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    height, width = _pair(kernel_size)
    mean = _nn.avg_pool2d(input**norm_type, [height, width], [] if stride is None else stride, 0, ceil_mode)
    return (mean.sign() * mean.abs().relu() * (height * width)) ** (1 / norm_type)


def local_response_norm(input, size, alpha=1e-4, beta=0.75, k=1.0):
    """x / (k + alpha m)^beta, m the mean of the squares of `size` neighbouring channels."""
    if input.dim() < 3:
        raise ValueError(f"Expected 3D or higher dimensionality input (got {input.dim()} dimensions)")
    if input.numel() == 0:
        return input
    squares = pad((input * input).movedim(1, -1), (size // 2, (size - 1) // 2))
    mean = squares.unfold(-1, size, 1).sum(-1).movedim(-1, 1) / size
    return input / (mean * alpha + k) ** beta



def adaptive_avg_pool2d(input, output_size):
    """None stands for the input's size."""
    if not isinstance(output_size, int):
        if input.dim() <= len(output_size):
            raise ValueError(f"Input dimension should be at least {len(output_size) + 1}")
        output_size = [input.shape[i - len(output_size)] if n is None else n for i, n in enumerate(output_size)]
    return _nn.adaptive_avg_pool2d(input, output_size)


def max_pool2d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    stride = [] if stride is None else stride
    pool = _nn.max_pool2d_with_indices if return_indices else tenon.max_pool2d
    return pool(input, kernel_size, stride, padding, dilation, ceil_mode)


def _row(value):
    """A window's number along one dimension, as one of two: the other does nothing."""
    return value if isinstance(value, int) else value[0]


def max_pool1d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    stride = [] if stride is None else stride
    pool = tenon.max_pool1d_with_indices if return_indices else tenon.max_pool1d
    return pool(input, kernel_size, stride, padding, dilation, ceil_mode)


def interpolate(input, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None,
                antialias=False):
    """[N, C, ...] in another size: "nearest" of one or two dimensions, "bilinear" of two."""
    dims = input.dim() - 2
    if mode == "nearest" and align_corners is not None:
        raise ValueError("align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear")
    if (size is None) == (scale_factor is None):
        raise ValueError("either size or scale_factor should be defined, and not both")
    if antialias or (mode, dims) not in (("nearest", 1), ("nearest", 2), ("bilinear", 2)):
        raise NotImplementedError(f"interpolate: mode={mode!r} with antialias={antialias} of {input.dim()}-D input; "
                                  "there is nearest of 3-D and 4-D and bilinear of 4-D input")
    listed = lambda x: [x] * dims if isinstance(x, (int, float)) else list(x)  # noqa: E731
    scales = [None] * dims
    if size is not None:
        size = listed(size)
    else:
        scales = listed(scale_factor)
        size = [int(n * s) for n, s in zip(input.shape[2:], scales)]
        if recompute_scale_factor:
            scales = [None] * dims
    if len(size) != dims or len(scales) != dims:
        raise ValueError(f"Input and output must have the same number of spatial dimensions, got {dims} and {len(size)}")
    if mode == "bilinear":
        return _nn.upsample_bilinear2d(input, size, bool(align_corners), *scales)
    return (_nn.upsample_nearest1d if dims == 1 else _nn.upsample_nearest2d)(input, size, *scales)


def pad(input, pad, mode="constant", value=None):
    return _nn.pad(input, pad, mode, value)


# Normalization, dropout, embedding

def batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
    if training:
        values = input.shape[0]
        for n in input.shape[2:]:
            values *= n
        if values == 1:
            raise ValueError(f"Expected more than 1 value per channel when training, got input size {input.shape}")
    return tenon.batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, False)


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    return tenon.layer_norm(input, normalized_shape, weight, bias, eps, False)


def group_norm(input, num_groups, weight=None, bias=None, eps=1e-5):
    return tenon.group_norm(input, num_groups, weight, bias, eps, False)


def instance_norm(input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True, momentum=0.1,
                  eps=1e-5):
    if use_input_stats and math.prod(input.shape[2:]) == 1:
        raise ValueError(f"Expected more than 1 spatial element when training, got input size {input.shape}")
    return tenon.instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, False)


def rms_norm(input, normalized_shape, weight=None, eps=None):
    return tenon.rms_norm(input, normalized_shape, weight, eps)


def normalize(input, p=2.0, dim=1, eps=1e-12, out=None):
    norms = input.norm(p, dim, True).clamp_min(eps).expand_as(input)
    return input / norms if out is None else tenon.div(input, norms, out=out)


def _feature_dropout(name, dims, input, p, training, inplace):
    """dropout of whole channels: of tensors [N, C, ...], or [C, ...] with one dimension fewer."""
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if input.dim() not in (dims + 1, dims + 2):
        raise RuntimeError(f"[{name}] Expected {dims + 1}D or {dims + 2}D input, got sizes {tuple(input.shape)}")
    if not training or p == 0:
        return input
    kept = tenon.dropout(input.new_ones(*input.shape[:-dims], *[1] * dims), p, True)
    return input.mul_(kept) if inplace else input * kept


def dropout1d(input, p=0.5, training=True, inplace=False):
    return _feature_dropout("dropout1d", 1, input, p, training, inplace)


def dropout2d(input, p=0.5, training=True, inplace=False):
    return _feature_dropout("dropout2d", 2, input, p, training, inplace)


def dropout3d(input, p=0.5, training=True, inplace=False):
    return _feature_dropout("dropout3d", 3, input, p, training, inplace)


def dropout(input, p=0.5, training=True, inplace=False):
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    result = tenon.dropout(input, p, training)
    return input.copy_(result) if inplace and result is not input else result


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


def _renormalize(weight, indices, max_norm, norm_type):
    """Shrinks, in place, the rows that are looked up and whose norm is larger than max_norm."""
    with tenon.no_grad():
        indices = indices.reshape(-1)
        rows = weight[indices]
        norms = rows.norm(norm_type, 1, True)
        # 1e-7 as PyTorch has it: a norm that is rounded up does not stay above.
        weight[indices] = rows * tenon.where(norms > max_norm, max_norm / (norms + 1e-7), 1).to(rows.dtype)


# Losses

def mse_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    reduction = _legacy(size_average, reduce, reduction)
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
    if weight is not None:
        return _weighted((input - target).abs(), weight, reduction)
    return _nn.l1_loss(input, target, _reduction(reduction))


def smooth_l1_loss(input, target, size_average=None, reduce=None, reduction="mean", beta=1.0):
    return _nn.smooth_l1_loss(input, target, _reduction(_legacy(size_average, reduce, reduction)), beta)


def huber_loss(input, target, reduction="mean", delta=1.0, weight=None):
    if weight is not None:
        return _reduced(_nn.huber_loss(input, target, 0, delta) * weight, reduction)
    return _nn.huber_loss(input, target, _reduction(reduction), delta)


def binary_cross_entropy(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    """-(target log(input) + (1 - target) log(1 - input)), the logarithms at least -100."""
    if input.shape != target.shape:
        raise ValueError(f"Using a target size ({target.shape}) that is different to the input size ({input.shape}) is deprecated. Please "
                         "ensure they have the same size.")
    with tenon.no_grad():
        if bool(tenon.logical_or(input < 0, input > 1).any()):
            raise RuntimeError("all elements of input should be between 0 and 1")
    return _nn.binary_cross_entropy(input, target, weight, _reduction(_legacy(size_average, reduce, reduction)))


def binary_cross_entropy_with_logits(input, target, weight=None, size_average=None, reduce=None, reduction="mean", pos_weight=None):
    if target.shape != input.shape:
        raise ValueError(f"Target size ({target.shape}) must be the same as input size ({input.shape})")
    reduction = _reduction(_legacy(size_average, reduce, reduction))
    return tenon.binary_cross_entropy_with_logits(input, target, weight, pos_weight, reduction)


def kl_div(input, target, size_average=None, reduce=None, reduction="mean", log_target=False):
    """`reduction` "batchmean": the sum divided by the batch's size, which is what the divergence is."""
    reduction = _legacy(size_average, reduce, reduction)
    if reduction != "batchmean":
        return tenon.kl_div(input, target, _reduction(reduction), log_target=log_target)
    loss = tenon.kl_div(input, target, _reduction("sum"), log_target=log_target)
    return loss / input.shape[0] if input.dim() else loss


def poisson_nll_loss(input, target, log_input=True, full=False, size_average=None, eps=1e-8, reduce=None, reduction="mean"):
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
        raise RuntimeError("margin_ranking_loss : All input tensors should have same dimension but got sizes: "
                           f"input1: {input1.shape}, input2: {input2.shape}, target: {target.shape}")
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


def triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2, eps=1e-6, swap=False, size_average=None, reduce=None,
                        reduction="mean"):
    reduction = _reduction(_legacy(size_average, reduce, reduction))
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    if not anchor.dim() == positive.dim() == negative.dim():
        raise RuntimeError(f"[triplet_margin_loss] The anchor, positive, and negative tensors are expected to have the same number of "
                           f"dimensions, but got: anchor {anchor.dim()}D, positive {positive.dim()}D, and negative {negative.dim()}D inputs")
    return tenon.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction)


def nll_loss(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"):
    return _nn.nll_loss_nd(input, target, weight, _reduction(_legacy(size_average, reduce, reduction)), ignore_index)


def cross_entropy(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean",
                  label_smoothing=0.0):
    reduction = _reduction(_legacy(size_average, reduce, reduction))
    return _nn.cross_entropy_loss(input, target, weight, reduction, ignore_index, label_smoothing)


def _legacy(size_average, reduce, reduction):
    """The reduction that PyTorch's two older arguments mean."""
    if size_average is None and reduce is None:
        return reduction
    if reduce is False:
        return "none"
    return "sum" if size_average is False else "mean"
