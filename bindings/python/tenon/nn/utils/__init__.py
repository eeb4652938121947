"""Functions of modules and their parameters; `rnn`: sequences of different lengths; `parametrize`, `prune`: computed parameters."""

import tenon
from tenon.nn.utils import parametrizations, parametrize, prune, rnn, stateless
from tenon.nn.utils.clip_grad import (
    clip_grad_norm_,
    clip_grad_value_,
    clip_grads_with_norm_,
    get_total_norm,
)
from tenon.nn.utils.fusion import (
    fuse_conv_bn_eval,
    fuse_conv_bn_weights,
    fuse_linear_bn_eval,
    fuse_linear_bn_weights,
)
from tenon.nn.utils.init import skip_init
from tenon.nn.utils.spectral_norm import remove_spectral_norm, spectral_norm
from tenon.nn.utils.weight_norm import remove_weight_norm, weight_norm

__all__ = [
    "clip_grad_norm_",
    "clip_grad_value_",
    "clip_grads_with_norm_",
    "fuse_conv_bn_eval",
    "fuse_conv_bn_weights",
    "fuse_linear_bn_eval",
    "fuse_linear_bn_weights",
    "get_total_norm",
    "parameters_to_vector",
    "parametrizations",
    "parametrize",
    "prune",
    "remove_spectral_norm",
    "remove_weight_norm",
    "rnn",
    "skip_init",
    "spectral_norm",
    "stateless",
    "vector_to_parameters",
    "weight_norm",
]


def parameters_to_vector(parameters):
    return tenon.cat([p.reshape(-1) for p in parameters])


def vector_to_parameters(vec, parameters):
    """Gives each parameter its part of the vector, in order."""
    start = 0
    for parameter in parameters:
        parameter.data = vec[start : start + parameter.numel()].view_as(parameter).data
        start += parameter.numel()
