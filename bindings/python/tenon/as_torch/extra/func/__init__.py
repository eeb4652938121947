"""torch.func: what needs no transforms."""

import tenon
from tenon.nn.utils.stateless import functional_call as functional_call


def stack_module_state(models):
    """(parameters, buffers) of modules of one class: dicts of tensors whose first dimension is that of the modules."""
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if not (all(model.training for model in models) or not any(model.training for model in models)):
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode.")
    if len({type(model) for model in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")

    def stacked(members):
        result = {}
        for name, first in members[0].items():
            values = [member[name] for member in members]
            if len({value.requires_grad for value in values}) > 1:
                raise RuntimeError(f"Expected {name} to have the same requires_grad in all models")
            together = tenon.stack(values).detach()
            result[name] = together.requires_grad_(first.requires_grad)
        return result

    return stacked([dict(m.named_parameters()) for m in models]), stacked([dict(m.named_buffers()) for m in models])
