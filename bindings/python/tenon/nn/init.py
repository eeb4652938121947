"""Fills parameters before training: in place, unrecorded, with PyTorch's numbers for a given seed."""

import math
import warnings

import tenon

_GAINS = {
    "linear": 1.0,
    "conv1d": 1.0,
    "conv2d": 1.0,
    "conv3d": 1.0,
    "conv_transpose1d": 1.0,
    "conv_transpose2d": 1.0,
    "conv_transpose3d": 1.0,
    "sigmoid": 1.0,
    "tanh": 5.0 / 3,
    "relu": math.sqrt(2.0),
    "selu": 0.75,
}


def calculate_gain(nonlinearity, param=None):
    """What the standard deviation is multiplied by to stay the same through a layer with this activation."""
    if nonlinearity == "leaky_relu":
        if param is not None and (isinstance(param, bool) or not isinstance(param, (int, float))):
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2.0 / (1 + (0.01 if param is None else param) ** 2))
    if nonlinearity not in _GAINS:
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
    return _GAINS[nonlinearity]


def _calculate_fan_in_and_fan_out(tensor):
    if tensor.dim() < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    field = math.prod(tensor.shape[2:])
    return tensor.shape[1] * field, tensor.shape[0] * field


def _fan(tensor, mode):
    if mode.lower() not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    return _calculate_fan_in_and_fan_out(tensor)[mode.lower() == "fan_out"]


def _is_empty(tensor):
    """Whether there is nothing to fill, which is worth a warning."""
    if tensor.numel() == 0:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=3)
    return tensor.numel() == 0


def uniform_(tensor, a=0.0, b=1.0, generator=None):
    with tenon.no_grad():
        return tensor.uniform_(a, b, generator=generator)


def normal_(tensor, mean=0.0, std=1.0, generator=None):
    with tenon.no_grad():
        return tensor.normal_(mean, std, generator=generator)


def constant_(tensor, val):
    with tenon.no_grad():
        return tensor.fill_(val)


def ones_(tensor):
    return constant_(tensor, 1.0)


def zeros_(tensor):
    with tenon.no_grad():
        return tensor.zero_()


def eye_(tensor):
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    with tenon.no_grad():
        return tensor.copy_(tenon.eye(*tensor.shape))


def trunc_normal_(tensor, mean=0.0, std=1.0, a=-2.0, b=2.0, generator=None):
    """Normal numbers within [a, b]: what lies outside is drawn again."""
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of values may be incorrect.",
            stacklevel=2,
        )
    if tensor.device.type == "meta":
        return tensor
    below, within = ((1 + math.erf((bound - mean) / std / math.sqrt(2))) / 2 for bound in (a, b))
    fill = _fill_truncated if within - below > 0.3 else _fill_accepted
    with tenon.no_grad():
        return fill(tensor, mean, std, a, b, generator)


def _fill_truncated(tensor, mean, std, a, b, generator):
    """Normal numbers, of which those outside are replaced until there is none."""
    low, high = (tenon.tensor(bound, dtype=tensor.dtype).item() for bound in (a, b))
    tensor.normal_(mean, std, generator=generator)
    while True:
        outside = (tensor < low).logical_or_(tensor > high)
        if not outside.any():
            return tensor
        tensor.copy_(tenon.where(outside, tenon.empty_like(tensor).normal_(mean, std, generator=generator), tensor))


def _fill_accepted(tensor, mean, std, a, b, generator):
    """Uniform numbers, each accepted with the density's value there by that of its largest: for bounds far from the mean."""
    largest = -0.5 * ((max(a, min(mean, b)) - mean) / std) ** 2

    def refused(values):
        log_density = (values - mean).div_(std).pow_(2).mul_(-0.5).sub_(largest)
        return tenon.empty_like(values).uniform_(generator=generator).log_() > log_density

    pending = refused(tensor.uniform_(a, b, generator=generator))
    while pending.any():
        candidates = tenon.empty_like(tensor).uniform_(a, b, generator=generator)
        tensor.copy_(tenon.where(pending, candidates, tensor))
        pending = refused(candidates).logical_and_(pending)
    return tensor


def dirac_(tensor, groups=1):
    """Convolutions that give their input, as many channels of it as there are: [out, in, ...] of 3, 4 or 5 dimensions."""
    if tensor.dim() not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    if tensor.shape[0] % groups:
        raise ValueError("dim 0 must be divisible by groups")
    if tensor.device.type == "meta":
        return tensor
    each = tensor.shape[0] // groups
    middle = tuple(size // 2 for size in tensor.shape[2:])
    with tenon.no_grad():
        tensor.zero_()
        for group in range(groups):
            for channel in range(min(each, tensor.shape[1])):
                tensor[(group * each + channel, channel, *middle)] = 1
    return tensor


def sparse_(tensor, sparsity, std=0.01, generator=None):
    """Normal numbers, and zeros in this part of each column: Martens (2010)."""
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    if tensor.device.type == "meta":
        return tensor
    rows, columns = tensor.shape
    with tenon.no_grad():
        tensor.normal_(0, std, generator=generator)
        for column in range(columns):
            tensor[tenon.randperm(rows)[: math.ceil(sparsity * rows)], column] = 0
    return tensor


def orthogonal_(tensor, gain=1, generator=None):
    """Orthonormal rows or columns, whichever are fewer, times gain; all dimensions but the first are one: Saxe et al. (2013)."""
    if tensor.dim() < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0:
        return tensor
    rows = tensor.shape[0]
    columns = tensor.numel() // rows
    with tenon.no_grad():
        normal = tensor.new_empty((rows, columns)).normal_(0, 1, generator=generator)
        q, r = tenon.linalg.qr(normal.t() if rows < columns else normal)
        # With a positive diagonal of R the decomposition is unique, and Q uniform among all orthogonal matrices.
        q = q * r.diagonal().sign()
        return tensor.copy_((q.t() if rows < columns else q).reshape(tensor.shape)).mul_(gain)


def xavier_uniform_(tensor, gain=1.0, generator=None):
    """Uniform in +-gain * sqrt(6 / (fan in + fan out)): Glorot and Bengio (2010)."""
    bound = gain * math.sqrt(6.0 / sum(_calculate_fan_in_and_fan_out(tensor)))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor, gain=1.0, generator=None):
    """Normal with standard deviation gain * sqrt(2 / (fan in + fan out))."""
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / sum(_calculate_fan_in_and_fan_out(tensor))), generator)


def kaiming_uniform_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    """Uniform in +-sqrt(3) * gain / sqrt(fan): He et al. (2015). `a` is the slope of a leaky relu."""
    if _is_empty(tensor):
        return tensor
    bound = math.sqrt(3.0) * calculate_gain(nonlinearity, a) / math.sqrt(_fan(tensor, mode))
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    """Normal with standard deviation gain / sqrt(fan)."""
    if _is_empty(tensor):
        return tensor
    return normal_(tensor, 0.0, calculate_gain(nonlinearity, a) / math.sqrt(_fan(tensor, mode)), generator)
