"""Gradients kept small: by their common norm, or element by element."""

import types
import warnings

import tenon


def _listed(tensors):
    return [tensors] if isinstance(tensors, tenon.Tensor) else list(tensors)


def _gradients(parameters):
    return [p.grad for p in _listed(parameters) if p.grad is not None]


@tenon.no_grad()
def get_total_norm(tensors, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """The norm of all tensors, as if they were one vector."""
    tensors, norm_type = _listed(tensors), float(norm_type)
    if not tensors:
        return tenon.tensor(0.0)
    total = tenon.stack([t.norm(norm_type).to(tensors[0].device) for t in tensors]).norm(norm_type)
    if error_if_nonfinite and not total.isfinite().item():
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, so it cannot be clipped. To "
            "disable this error and scale the gradients by the non-finite norm anyway, set `error_if_nonfinite=False`"
        )
    return total


@tenon.no_grad()
def clip_grads_with_norm_(parameters, max_norm, total_norm, foreach=None):
    """Scales the gradients, whose norm is total_norm, so that it is at most max_norm."""
    gradients = _gradients(parameters)
    factor = (float(max_norm) / (total_norm + 1e-6)).clamp(max=1.0)
    for gradient in gradients:
        gradient.mul_(factor.to(gradient.device))


def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """Scales the gradients so that their norm, as if they were one vector, is at most max_norm; gives the norm before."""
    is_generator, parameters = isinstance(parameters, types.GeneratorType), _listed(parameters)
    if is_generator and not parameters:
        warnings.warn("`parameters` is an empty generator, no gradient clipping will occur.", stacklevel=2)
    total = get_total_norm(_gradients(parameters), norm_type, error_if_nonfinite, foreach)
    clip_grads_with_norm_(parameters, max_norm, total, foreach)
    return total


@tenon.no_grad()
def clip_grad_value_(parameters, clip_value, foreach=None):
    """Brings every element of the gradients into [-clip_value, clip_value]."""
    for gradient in _gradients(parameters):
        gradient.clamp_(-float(clip_value), float(clip_value))
