"""Modules as functions of their parameters."""

import collections

from tenon import _C


def functional_call(module, parameter_and_buffer_dicts, args=None, kwargs=None, *, tie_weights=True, strict=False):
    """module(*args, **kwargs) with these tensors, by name, in the place of the module's own.

    parameter_and_buffer_dicts: a dict, or several whose names do not repeat.
    tie_weights: a tensor that the module has under several names is replaced under all of them.
    strict: RuntimeError unless there is a tensor for every name, and no other.
    """
    from tenon.nn.utils.stateless import functional_call as call

    if isinstance(parameter_and_buffer_dicts, (list, tuple)):
        if not all(isinstance(tensors, dict) for tensors in parameter_and_buffer_dicts):
            raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
        counts = collections.Counter(name for tensors in parameter_and_buffer_dicts for name in tensors)
        repeated = [name for name, count in counts.items() if count > 1]
        if repeated:
            raise ValueError(f"{repeated} appeared in multiple dictionaries; behavior of functional call is ambiguous")
        tensors = {name: value for given in parameter_and_buffer_dicts for name, value in given.items()}
    elif isinstance(parameter_and_buffer_dicts, dict):
        tensors = parameter_and_buffer_dicts
    else:
        raise ValueError(
            "Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got "
            f"{type(parameter_and_buffer_dicts)}"
        )
    return call(module, tensors, args, kwargs, tie_weights=tie_weights, strict=strict)


def _stacked(members):
    result = {}
    for name, first in members[0].items():
        values = [member[name] for member in members]
        if any(value.requires_grad != first.requires_grad for value in values):
            raise RuntimeError(f"Expected {name} from each model to have the same .requires_grad")
        result[name] = _C.stack(values).detach().requires_grad_(first.requires_grad)
    return result


def stack_module_state(models):
    """(parameters, buffers) of modules of one class: dicts of tensors whose first dimension is that of the modules."""
    if len(models) == 0:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if len({bool(model.training) for model in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode.")
    if len({type(model) for model in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    return (
        _stacked([dict(model.named_parameters()) for model in models]),
        _stacked([dict(model.named_buffers()) for model in models]),
    )


def replace_all_batch_norm_modules_(root):
    """Removes the running statistics of all batch norms in the module, which vmap cannot change in place; gives the module."""
    from tenon.nn.modules.batchnorm import _BatchNorm

    for module in root.modules():
        if isinstance(module, _BatchNorm):
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root
