"""Automatic differentiation."""

from tenon import _C
from tenon.autograd import forward_ad, functional, graph  # noqa: F401
from tenon.autograd.anomaly_mode import detect_anomaly, set_detect_anomaly  # noqa: F401
from tenon.autograd.function import Function, once_differentiable  # noqa: F401
from tenon.autograd.grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled  # noqa: F401
from tenon.autograd.gradcheck import gradcheck, gradgradcheck  # noqa: F401


def _list(values):
    if values is None:
        return []
    return [values] if isinstance(values, _C.Tensor) else list(values)


def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False, inputs=None):
    """Adds the gradients of the tensors to the `grad` of the leaves that they were computed from."""
    if inputs is not None and not _list(inputs):
        raise RuntimeError("'inputs' argument to backward() cannot be empty.")
    _C._backward(_list(tensors), _list(grad_tensors), retain_graph, create_graph, _list(inputs))


def grad(
    outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, allow_unused=None, materialize_grads=False
):
    """The gradients of the outputs with respect to the inputs, as a tuple; no `grad` is changed.

    allow_unused: None for an input that the outputs do not depend on, instead of an error.
    materialize_grads: zeros for it.
    """
    if allow_unused is False and materialize_grads:
        raise ValueError("Expected allow_unused to be True or not passed when materialize_grads=True")
    inputs = _list(inputs)
    unused = materialize_grads if allow_unused is None else allow_unused
    grads = _C._grad(_list(outputs), inputs, _list(grad_outputs), retain_graph, create_graph, unused)
    if materialize_grads:
        grads = [_C.zeros_like(i) if g is None else g for g, i in zip(grads, inputs)]
    return tuple(grads)
