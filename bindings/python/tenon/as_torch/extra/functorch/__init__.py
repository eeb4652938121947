"""The package functorch, which PyTorch installs: torch.func by its first name, and modules as functions of lists of tensors."""

import copy

from tenon.func import (
    functional_call as functional_call,
    functionalize as functionalize,
    grad as grad,
    grad_and_value as grad_and_value,
    hessian as hessian,
    jacfwd as jacfwd,
    jacrev as jacrev,
    jvp as jvp,
    stack_module_state as stack_module_state,
    vjp as vjp,
    vmap as vmap,
)


def _parts(model, disable_autograd_tracking):
    """(a copy of the module, its parameters, its buffers), the latter two as dicts."""
    model = copy.deepcopy(model)
    parameters, buffers = dict(model.named_parameters()), dict(model.named_buffers())
    if disable_autograd_tracking:
        for parameter in parameters.values():
            parameter.requires_grad_(False)
    return model, parameters, buffers


def make_functional_with_buffers(model, disable_autograd_tracking=False):
    """(a function of (parameters, buffers, *args), the parameters, the buffers)."""
    model, parameters, buffers = _parts(model, disable_autograd_tracking)
    names = (*parameters, *buffers)

    def functional(params, buffers, *args, **kwargs):
        return functional_call(model, dict(zip(names, (*params, *buffers), strict=True)), args, kwargs)

    return functional, tuple(parameters.values()), tuple(buffers.values())


def make_functional(model, disable_autograd_tracking=False):
    """(a function of (parameters, *args), the parameters) of a module without buffers."""
    functional, parameters, buffers = make_functional_with_buffers(model, disable_autograd_tracking)
    if buffers:
        raise RuntimeError(
            "make_functional(model): `model` has buffers. Please use make_functional_with_buffers(model) instead."
        )
    return lambda params, *args, **kwargs: functional(params, (), *args, **kwargs), parameters


def combine_state_for_ensemble(models):
    """(a function of (parameters, buffers, *args), stacked parameters, stacked buffers) of modules of one class."""
    if len(models) == 0:
        raise RuntimeError("combine_state_for_ensemble: Expected at least one model, got 0.")
    parameters, buffers = stack_module_state(models)
    functional, _, _ = make_functional_with_buffers(models[0])
    return functional, tuple(parameters.values()), tuple(buffers.values())
