"""Automatic differentiation."""

import warnings

from tenon import _C
from tenon._tensor import GradientEdge, _check_edges, _check_gradients, _edge, _list, _run_backward
from tenon.autograd import forward_ad, functional, graph
from tenon.autograd.anomaly_mode import detect_anomaly, set_detect_anomaly
from tenon.autograd.function import Function, once_differentiable
from tenon.autograd.grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled
from tenon.autograd.gradcheck import gradcheck, gradgradcheck

__all__ = [
    "Function",
    "GradientEdge",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "forward_ad",
    "functional",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "inference_mode",
    "no_grad",
    "once_differentiable",
    "set_detect_anomaly",
    "set_grad_enabled",
    "to_dot",
]


class _VariableType(type):
    def __instancecheck__(cls, instance):
        return isinstance(instance, _C.Tensor)


class Variable(metaclass=_VariableType):
    """The name that tensors with gradients had: Variable(data, requires_grad=True) is data.detach().requires_grad_()."""

    def __new__(cls, data=None, requires_grad=False, volatile=False):
        data = _C.empty((0,)) if data is None else data
        return data.detach().requires_grad_(requires_grad)


def to_dot(*tensors):
    """The graph behind the tensors for Graphviz (`dot -Tsvg`).

    A box for each operation, with the sizes and dtype of its results and the bytes it keeps for backward, an ellipse for
    each leaf, arrows the way gradients go.
    """
    return _C._to_dot(list(tensors))


def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False, grad_variables=None, inputs=None):
    """Adds the gradients of the tensors to the `grad` of the leaves that they were computed from.

    grad_variables: the old name of grad_tensors.
    """
    if grad_variables is not None:
        warnings.warn("`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning, stacklevel=2)
        if grad_tensors is not None:
            raise RuntimeError(
                "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. Please only use `grad_tensors`."
            )
        grad_tensors = grad_variables
    _run_backward(tensors, grad_tensors, retain_graph, create_graph, inputs)


def grad(
    outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, only_inputs=True, allow_unused=None,
    is_grads_batched=False, materialize_grads=False,
):  # fmt: skip
    """The gradients of the outputs with respect to the inputs, as a tuple, or a dict for a dict; no `grad` is changed.

    outputs, inputs: tensors, or places in the graph, get_gradient_edge().
    allow_unused: None for an input that the outputs do not depend on, instead of an error.
    materialize_grads: zeros for it.
    is_grads_batched: each of grad_outputs is [B, *output sizes], and each gradient [B, *input sizes], in one pass.
    """
    if not only_inputs:
        raise ValueError("only_inputs=False is not supported: call backward() for the gradients of all leaves")
    names = None
    if isinstance(inputs, dict):
        names, inputs = list(inputs), list(inputs.values())
    outputs, inputs, grad_outputs = _list(outputs), _list(inputs), _list(grad_outputs)
    _check_edges(outputs, "outputs")
    _check_edges(inputs, "inputs")
    _check_gradients(grad_outputs)
    run = _C._grad
    if any(isinstance(value, GradientEdge) for value in (*outputs, *inputs)):
        run, outputs, inputs = _C._grad_of_edges, [_edge(o) for o in outputs], [_edge(i) for i in inputs]
    grads = run(
        outputs, inputs, grad_outputs, retain_graph, create_graph, allow_unused, is_grads_batched, materialize_grads
    )
    return tuple(grads) if names is None else dict(zip(names, grads))
