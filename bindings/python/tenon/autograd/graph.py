"""Hooks on the graph, and on what it keeps for backward."""

import contextlib

from tenon import _C
from tenon._C import Node, RemovableHandle  # noqa: F401
from tenon._C import DisableSavedTensorsHooks as disable_saved_tensors_hooks  # noqa: F401
from tenon._C import SavedTensorsHooks as saved_tensors_hooks  # noqa: F401


class GradientEdge(tuple):
    """A place in the graph: a node, and which of its gradients."""

    node = property(lambda self: self[0])
    output_nr = property(lambda self: self[1])


def get_gradient_edge(tensor):
    """The place where the gradient of the tensor arrives."""
    return GradientEdge(_C._gradient_edge(tensor))


def save_on_cpu(pin_memory=False, device_type="cuda"):
    """Within, tensors are kept for backward in the CPU's memory."""
    if pin_memory:
        raise NotImplementedError("save_on_cpu: memory is not pinned")
    return _C.SaveOnCpu()


def register_multi_grad_hook(tensors, fn, *, mode="all"):
    """Calls fn(grads) when the gradients of all tensors are there ("all"), or fn(grad) at the first one ("any")."""
    tensors = tuple(tensors)
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    state = {}

    def arrived(i, grad):
        run = _C._current_graph_task_id()
        if state.get("run") != run:
            state.clear()
            state.update(run=run, grads=[None] * len(tensors), count=0)
        state["count"] += 1
        if mode == "any":
            if state["count"] == 1:
                fn(grad)
            return
        state["grads"][i] = grad
        if state["count"] == len(tensors):
            fn(state.pop("grads"))
            state.clear()

    handles = [t.register_hook(lambda grad, i=i: arrived(i, grad)) for i, t in enumerate(tensors)]
    return _Handles(handles)


class _Handles(contextlib.AbstractContextManager):
    def __init__(self, handles):
        self._handles = handles

    def remove(self):
        for handle in self._handles:
            handle.remove()

    def __exit__(self, *exception):
        self.remove()
