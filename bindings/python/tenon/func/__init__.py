"""Transforms of functions: batches of calls, derivatives, and modules as functions of their parameters.

    from tenon.func import functional_call, grad, vmap

    def loss(params, x, y):
        return cross_entropy(functional_call(module, params, (x,)), y)

    per_sample = vmap(grad(loss), in_dims=(None, 0, 0))

Names and semantics are PyTorch's. Transforms nest in any order.
"""

from tenon.func._forward import jvp as jvp, linearize as linearize
from tenon.func._jacobians import hessian as hessian, jacfwd as jacfwd, jacrev as jacrev
from tenon.func._modules import (
    functional_call as functional_call,
    replace_all_batch_norm_modules_ as replace_all_batch_norm_modules_,
    stack_module_state as stack_module_state,
)
from tenon.func._others import debug_unwrap as debug_unwrap, functionalize as functionalize
from tenon.func._rearrange import rearrange as rearrange
from tenon.func._reverse import grad as grad, grad_and_value as grad_and_value, vjp as vjp
from tenon.func._vmap import vmap as vmap

__all__ = [
    "debug_unwrap",
    "functional_call",
    "functionalize",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "rearrange",
    "replace_all_batch_norm_modules_",
    "stack_module_state",
    "vjp",
    "vmap",
]
