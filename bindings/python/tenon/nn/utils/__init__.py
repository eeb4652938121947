"""Functions of all parameters of a module; `rnn`: sequences of different lengths."""

import tenon
from tenon.nn.utils import rnn
from tenon.nn.utils.clip_grad import (
    clip_grad_norm_,
    clip_grad_value_,
    clip_grads_with_norm_,
    get_total_norm,
)

__all__ = [
    "clip_grad_norm_",
    "clip_grad_value_",
    "clip_grads_with_norm_",
    "get_total_norm",
    "parameters_to_vector",
    "rnn",
    "vector_to_parameters",
]


def parameters_to_vector(parameters):
    return tenon.cat([p.reshape(-1) for p in parameters])


def vector_to_parameters(vec, parameters):
    """Gives each parameter its part of the vector, in order."""
    start = 0
    for parameter in parameters:
        parameter.data = vec[start : start + parameter.numel()].view_as(parameter).data
        start += parameter.numel()
