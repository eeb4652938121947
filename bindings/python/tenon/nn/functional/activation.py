"""Activations."""

import tenon
from tenon import celu_, prelu, relu_, rrelu_, selu_, threshold_
from tenon._C import _nn

__all__ = [
    "celu",
    "celu_",
    "elu",
    "gelu",
    "glu",
    "gumbel_softmax",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "leaky_relu",
    "log_softmax",
    "logsigmoid",
    "mish",
    "prelu",
    "relu",
    "relu6",
    "relu_",
    "rrelu",
    "rrelu_",
    "selu",
    "selu_",
    "sigmoid",
    "silu",
    "softmax",
    "softmin",
    "softplus",
    "softshrink",
    "softsign",
    "tanh",
    "tanhshrink",
    "threshold",
    "threshold_",
]

gelu = _nn.gelu
hardshrink = tenon.hardshrink
logsigmoid = _nn.log_sigmoid
softplus = _nn.softplus
softshrink = _nn.softshrink


def sigmoid(input):
    return input.sigmoid()


def tanh(input):
    return input.tanh()


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
