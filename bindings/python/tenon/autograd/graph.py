"""Hooks on the graph, and on what it keeps for backward."""

from tenon import _C
from tenon._C import (  # noqa: F401
    AllowMutationOnSavedTensors as allow_mutation_on_saved_tensors,  # noqa: F401
    DisableSavedTensorsHooks as disable_saved_tensors_hooks,  # noqa: F401
    Node,
    RemovableHandle,
    SavedTensorsHooks as saved_tensors_hooks,  # noqa: F401
)
from tenon._tensor import GradientEdge


def get_gradient_edge(tensor):
    """The place where the gradient of the tensor arrives."""
    return GradientEdge(*_C._gradient_edge(tensor))


def save_on_cpu(pin_memory=False, device_type="cuda"):
    """Within, tensors are kept for backward in the CPU's memory."""
    if pin_memory:
        raise NotImplementedError("save_on_cpu: memory is not pinned")
    return _C.SaveOnCpu()


def register_multi_grad_hook(tensors, fn, *, mode="all"):
    """Calls fn(grads) once in a backward pass, when the gradients of all tensors that take part in it are there, with None
    for others ("all"); or fn(grad) at the first gradient ("any")."""
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    register = _C._register_multi_grad_hook if mode == "all" else _C._register_any_grad_hook
    return register(list(tensors), fn)


def queue_callback(callback):
    """Calls callback() when the backward pass that runs on this thread has ended without an error; from a hook or a backward."""
    _C._queue_callback(callback)


def increment_version(tensor):
    """Counts a change of the tensor, or of each of several, that was made where it is not seen."""
    tensors = [tensor] if isinstance(tensor, _C.Tensor) else list(tensor) if hasattr(tensor, "__iter__") else [tensor]
    if not all(isinstance(one, _C.Tensor) for one in tensors):
        raise RuntimeError("increment_version expects a Tensor or an iterable of Tensors")
    _C._increment_version(tensors)
