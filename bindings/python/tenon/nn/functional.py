"""The operators of modules as functions of tensors."""

import math

import tenon
from tenon import (  # noqa: F401
    celu_, conv1d, conv2d, conv3d, conv_transpose1d, conv_transpose2d, relu_, selu_, sigmoid, tanh, threshold_,
)
from tenon._C import _nn

avg_pool2d = _nn.avg_pool2d
gelu = _nn.gelu
hardshrink = tenon.hardshrink
linear = _nn.linear
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


def prelu(input, weight):
    """max(0, x) + weight * min(0, x): one weight, or one per channel."""
    if weight.dim() > 1:
        raise RuntimeError(f"[prelu] Expected `weight` to be a scalar or 1D tensor, but got: ndim = {weight.dim()}")
    if weight.numel() != 1:
        if input.dim() == 0:
            raise RuntimeError("[prelu] Not allow zero-dim input tensor.")
        if weight.shape != (input.shape[min(1, input.dim() - 1)],):
            raise RuntimeError(f"[prelu] Mismatch of parameter numbers and input channel size. Got weight {tuple(weight.shape)} for input "
                               f"{tuple(input.shape)}")
        weight = weight.reshape([-1] + [1] * (input.dim() - 2)) if input.dim() > 1 else weight
    elif input.dim() == 0:
        weight = weight.reshape(())
    return tenon.where(input > 0, input, weight * input)


def glu(input, dim=-1):
    if input.dim() == 0:
        raise RuntimeError("[glu] glu does not support 0-dimensional tensors")
    if input.shape[dim] % 2:
        raise RuntimeError(f"[glu] Halving dimension must be even, but dimension {dim} is size {input.shape[dim]}")
    values, gates = input.chunk(2, dim)
    return values * gates.sigmoid()


def softmax(input, dim=None, _stacklevel=3, dtype=None):
    return input.softmax(_dim_of_classes(input, dim), dtype=dtype)


def softmin(input, dim=None, _stacklevel=3, dtype=None):
    return (-input).softmax(_dim_of_classes(input, dim), dtype=dtype)


def log_softmax(input, dim=None, _stacklevel=3, dtype=None):
    return input.log_softmax(_dim_of_classes(input, dim), dtype=dtype)


def _dim_of_classes(input, dim):
    """PyTorch's default, deprecated there: dimension 0 of tensors of 0, 1 and 3 dimensions, else 1."""
    return dim if dim is not None else int(input.dim() not in (0, 1, 3))


# Pooling, padding

def adaptive_avg_pool1d(input, output_size):
    if not isinstance(output_size, int) and len(output_size) != 1:
        raise RuntimeError(f"[adaptive_avg_pool1d] 'output_size' should contain one int, got {tuple(output_size)}")
    size = output_size if isinstance(output_size, int) else output_size[0]
    return adaptive_avg_pool2d(input.unsqueeze(-2), (1, size)).squeeze(-2)


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


def avg_pool1d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
    size = _row(kernel_size)
    stride = size if stride is None else _row(stride)
    return avg_pool2d(input.unsqueeze(-2), (1, size), (1, stride), (0, _row(padding)), ceil_mode, count_include_pad).squeeze(-2)


def max_pool1d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    if input.dim() not in (2, 3) or 0 in input.shape[-2:]:
        raise RuntimeError(f"[max_pool1d] Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for input, but got "
                           f"{list(input.shape)}")
    size = _row(kernel_size)
    stride = size if stride is None else _row(stride)
    for name, value in (("kernel_size", size), ("stride", stride), ("dilation", _row(dilation))):
        if value <= 0:
            raise RuntimeError(f"[max_pool1d] {name} must be greater than zero, but got {value}")
    found = max_pool2d(input.unsqueeze(-2), (1, size), (1, stride), (0, _row(padding)), (1, _row(dilation)), ceil_mode, return_indices)
    return tuple(t.squeeze(-2) for t in found) if return_indices else found.squeeze(-2)


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
    """Each group of channels of each sample with mean 0 and variance 1; then weight and bias of each channel."""
    if input.dim() < 2:
        raise RuntimeError(f"[group_norm] Expected at least 2 dimensions for input tensor but received {input.dim()}")
    if num_groups <= 0 or input.shape[1] % num_groups:
        raise RuntimeError(f"[group_norm] Expected number of channels in input to be divisible by num_groups, but got input of shape "
                           f"{tuple(input.shape)} and num_groups={num_groups}")
    for what, count in (("number of channels", input.shape[1]), ("HxW", math.prod(input.shape[2:]))):
        if input.shape[0] and count == 0:
            raise RuntimeError(f"[group_norm] Expected {what} to be greater than 0, got {count} in {tuple(input.shape)}")
    grouped = _wide(input).reshape(input.shape[0], num_groups, input.shape[1] // num_groups * math.prod(input.shape[2:]))
    result = layer_norm(grouped, grouped.shape[2:], eps=eps).reshape(input.shape)
    return _of_channels(result, weight, bias).to(input.dtype)


def _wide(input):
    """Half types in single precision, for what takes several operators: rounded once, in the end."""
    return input.float() if input.dtype in (tenon.float16, tenon.bfloat16) else input


def _of_channels(input, weight, bias):
    sizes = [-1] + [1] * (input.dim() - 2)
    result = input if weight is None else input * weight.reshape(sizes)
    return result if bias is None else result + bias.reshape(sizes)


def instance_norm(input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True, momentum=0.1, eps=1e-5):
    """Each channel of each sample as batch_norm has it of a batch; running statistics are averaged over the samples."""
    dtype, input, samples, channels = input.dtype, _wide(input), *input.shape[:2]
    if use_input_stats and math.prod(input.shape[2:]) == 1:
        raise ValueError(f"Expected more than 1 spatial element when training, got input size {input.shape}")
    running = [None if t is None else _wide(t.detach()).repeat(samples) for t in (running_mean, running_var)]
    result = tenon.batch_norm(input.reshape(1, samples * channels, *input.shape[2:]), None, None, *running, use_input_stats, momentum, eps,
                              False)
    if use_input_stats:
        with tenon.no_grad():
            for kept, found in zip((running_mean, running_var), running):
                if kept is not None:
                    kept.copy_(found.reshape(samples, channels).mean(0))
    return _of_channels(result.reshape(input.shape), weight, bias).to(dtype)


def rms_norm(input, normalized_shape, weight=None, eps=None):
    """x / sqrt(mean(x^2) + eps) over the last dimensions; without eps the dtype's smallest step."""
    normalized_shape = tuple(normalized_shape)
    if not normalized_shape:
        raise RuntimeError("[rms_norm] Expected normalized_shape to be at least 1-dimensional, got []")
    if weight is not None and tuple(weight.shape) != normalized_shape:
        raise RuntimeError(f"[rms_norm] Expected weight to be of same shape as normalized_shape, but got weight of shape "
                           f"{list(weight.shape)} and normalized_shape={list(normalized_shape)}")
    if tuple(input.shape[-len(normalized_shape):]) != normalized_shape:
        raise RuntimeError(f"[rms_norm] Given normalized_shape={list(normalized_shape)}, expected input with shape [*, "
                           f"{', '.join(map(str, normalized_shape))}], but got input of size {list(input.shape)}")
    wide = _wide(input)
    eps = tenon.finfo(wide.dtype).eps if eps is None else eps
    result = wide * (wide.square().mean(list(range(-len(normalized_shape), 0)), True) + eps).rsqrt()
    return (result if weight is None else result * weight).to(input.dtype if weight is None else tenon.promote_types(input.dtype, weight.dtype))


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
    """target (log(target) - input), of log-probabilities `input`; "batchmean" divides the sum by the number of samples."""
    reduction = _legacy(size_average, reduce, reduction)
    loss = target.exp() * (target - input) if log_target else tenon.xlogy(target, target) - target * input
    return loss.sum() / input.shape[0] if reduction == "batchmean" else _reduced(loss, reduction)


def poisson_nll_loss(input, target, log_input=True, full=False, size_average=None, eps=1e-8, reduce=None, reduction="mean"):
    loss = input.exp() - target * input if log_input else input - target * (input + eps).log()
    if full:
        # Stirling's approximation of log(target!).
        loss = loss + tenon.where(target > 1, target * target.log() - target + 0.5 * (2 * math.pi * target).log(), 0)
    return _reduced(loss, _legacy(size_average, reduce, reduction))


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
    loss = tenon.where(target != 1, (margin - input).clamp_min(0), 0) + tenon.where(target != -1, input, 0)
    return _reduced(loss, _legacy(size_average, reduce, reduction))


def margin_ranking_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    if not input1.dim() == input2.dim() == target.dim():
        raise RuntimeError(f"[margin_ranking_loss] All input tensors should have same dimension but got sizes: input1: "
                           f"{tuple(input1.shape)}, input2: {tuple(input2.shape)}, target: {tuple(target.shape)}")
    return _reduced((-target * (input1 - input2) + margin).clamp_min(0), _legacy(size_average, reduce, reduction))


def soft_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    return _reduced((-target * input).exp().log1p(), _legacy(size_average, reduce, reduction))


def cosine_similarity(x1, x2, dim=1, eps=1e-8):
    """x1 . x2 / (|x1| |x2|), no norm smaller than eps."""
    dtype, shape = tenon.promote_types(x1.dtype, x2.dtype), (x1 * x2).shape
    dtype = dtype if dtype.is_floating_point else tenon.get_default_dtype()
    x1, x2 = (_wide(tenon.broadcast_to(x, shape).to(dtype)) for x in (x1, x2))
    return (x1 / x1.norm(2, dim, True).clamp_min(eps) * (x2 / x2.norm(2, dim, True).clamp_min(eps))).sum(dim).to(dtype)


def cosine_embedding_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    near = cosine_similarity(input1, input2, -1)
    loss = tenon.where(target == 1, 1 - near, tenon.where(target == -1, (near - margin).clamp_min(0), 0))
    return _reduced(loss, _legacy(size_average, reduce, reduction))


def pairwise_distance(x1, x2, p=2.0, eps=1e-6, keepdim=False):
    return (x1 - x2 + eps).norm(p, -1, keepdim)


def triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2, eps=1e-6, swap=False, size_average=None, reduce=None, reduction="mean"):
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    if not anchor.dim() == positive.dim() == negative.dim():
        raise RuntimeError(f"[triplet_margin_loss] The anchor, positive, and negative tensors are expected to have the same number of "
                           f"dimensions, but got: anchor {anchor.dim()}D, positive {positive.dim()}D, and negative {negative.dim()}D inputs")
    far = pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = tenon.minimum(far, pairwise_distance(positive, negative, p, eps))
    return _reduced((margin + pairwise_distance(anchor, positive, p, eps) - far).clamp_min(0), _legacy(size_average, reduce, reduction))


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


# Attention

def one_hot(tensor, num_classes=-1):
    """[...] of int64 -> [..., num_classes]: 1 at each number's place, else 0."""
    if tensor.dtype != tenon.int64:
        raise RuntimeError(f"[one_hot] one_hot is only applicable to index tensor of type LongTensor, got {tensor.dtype}")
    if tensor.numel() and int(tensor.min()) < 0:
        raise RuntimeError("[one_hot] Class values must be non-negative.")
    if num_classes == -1:
        if not tensor.numel():
            raise RuntimeError("[one_hot] Can not infer total number of classes from empty tensor.")
        num_classes = int(tensor.max()) + 1
    elif tensor.numel() and int(tensor.max()) >= num_classes:
        raise RuntimeError("[one_hot] Class values must be smaller than num_classes.")
    return tenon.zeros(*tensor.shape, num_classes, dtype=tenon.int64).scatter_(-1, tensor.unsqueeze(-1), 1)


def scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
    """softmax(query key^T scale + mask) value, with scale 1 / sqrt(E): Vaswani et al. (2017).

    query [..., L, E], key [..., S, E], value [..., S, Ev]; attn_mask is true where one may look, or added."""
    if enable_gqa:
        def shared(t):  # each head of keys and values by several of queries
            return t.unsqueeze(-3).expand(*t.shape[:-2], query.shape[-3] // t.shape[-3], *t.shape[-2:]).flatten(-4, -3)

        key, value = shared(key), shared(value)
    dtype, query, key, value = query.dtype, _wide(query), _wide(key), _wide(value)
    scores = (query * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)) @ key.transpose(-2, -1)
    if is_causal:
        if attn_mask is not None:
            raise RuntimeError("[scaled_dot_product_attention] Explicit attn_mask should not be set when is_causal=True")
        attn_mask = tenon.ones(query.shape[-2], key.shape[-2], dtype=tenon.bool, device=query.device).tril()
    if attn_mask is not None:
        scores = scores.masked_fill(attn_mask.logical_not(), -math.inf) if attn_mask.dtype == tenon.bool else scores + attn_mask
    weights = scores.softmax(-1)
    if attn_mask is not None and attn_mask.dtype == tenon.bool:
        # Who may look nowhere sees nothing.
        weights = weights.masked_fill(attn_mask.any(-1, True).logical_not(), 0.0)
    return (dropout(weights, dropout_p) @ value).to(dtype)
