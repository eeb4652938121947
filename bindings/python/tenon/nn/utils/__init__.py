"""Functions of all parameters of a module; `rnn`: sequences of different lengths."""

import tenon
from tenon.nn.utils import rnn as rnn


def _gradients(parameters):
    if isinstance(parameters, tenon.Tensor):
        parameters = [parameters]
    return [p.grad for p in parameters if p.grad is not None]


def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False):
    """Scales the gradients so that their norm, as if they were one vector, is at most max_norm; gives the norm before."""
    gradients = _gradients(parameters)
    if not gradients:
        return tenon.tensor(0.0)
    with tenon.no_grad():
        total = tenon.stack([g.norm(norm_type) for g in gradients]).norm(norm_type)
        if error_if_nonfinite and not total.isfinite().item():
            raise RuntimeError(f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, so it cannot be clipped.")
        factor = (max_norm / (total + 1e-6)).clamp(max=1.0)
        for gradient in gradients:
            gradient.mul_(factor)
    return total


def clip_grad_value_(parameters, clip_value):
    """Brings every element of the gradients into [-clip_value, clip_value]."""
    with tenon.no_grad():
        for gradient in _gradients(parameters):
            gradient.clamp_(-clip_value, clip_value)


def parameters_to_vector(parameters):
    return tenon.cat([p.reshape(-1) for p in parameters])


def vector_to_parameters(vec, parameters):
    """Gives each parameter its part of the vector, in order."""
    start = 0
    for parameter in parameters:
        parameter.data = vec[start:start + parameter.numel()].view_as(parameter).data
        start += parameter.numel()
