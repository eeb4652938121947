"""Functions of all parameters of a module; `rnn`: sequences of different lengths."""

import tenon
from tenon.nn.utils import rnn as rnn
from tenon.nn.utils.clip_grad import (
    clip_grad_norm_ as clip_grad_norm_, clip_grad_value_ as clip_grad_value_, clip_grads_with_norm_ as clip_grads_with_norm_,
    get_total_norm as get_total_norm,
)


def parameters_to_vector(parameters):
    return tenon.cat([p.reshape(-1) for p in parameters])


def vector_to_parameters(vec, parameters):
    """Gives each parameter its part of the vector, in order."""
    start = 0
    for parameter in parameters:
        parameter.data = vec[start:start + parameter.numel()].view_as(parameter).data
        start += parameter.numel()
