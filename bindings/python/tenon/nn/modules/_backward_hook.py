"""Backward hooks of a whole module: two identities around it, at whose gradients the hooks look."""

import functools
import warnings
import weakref

import tenon
from tenon.autograd import Function


def _as_tuple(value):
    return value if isinstance(value, tuple) else (value,)


def _remade(like, values):
    if like.__class__ is tuple:
        return tuple(values)
    return like.__class__(*values) if hasattr(like, "_fields") else like.__class__(values)


class _Around(Function):
    """The tensors themselves, as views; at(gradients) may give others in backward."""

    generate_vmap_rule = True

    @staticmethod
    def forward(ctx, at, zeros, *tensors):
        ctx.at = at
        ctx.set_materialize_grads(zeros)
        views = tuple(t.view_as(t) for t in tensors)
        ctx.mark_non_differentiable(*(v for v, t in zip(views, tensors) if not t.requires_grad))
        return views

    @staticmethod
    def backward(ctx, *grads):
        return (None, None, *ctx.at(grads))


class BackwardHook:
    """One call of a module: of_inputs() and of_outputs() give what takes the place of its arguments and results."""

    def __init__(self, module, hooks, pre_hooks):
        self.module, self.hooks, self.pre_hooks = module, hooks, pre_hooks
        self.grad_outputs = None  # once they have come by, until the inputs' do
        self.inputs = None  # how many arguments there are, and which of them are tensors
        self.outputs = None

    @staticmethod
    def _through(values, at, zeros):
        """`values`, a tuple, with its tensors led through _Around; their places, None if none requires grad."""
        places = [i for i, v in enumerate(values) if isinstance(v, tenon.Tensor)]
        if not tenon.is_grad_enabled() or not any(values[i].requires_grad for i in places):
            return values, None
        around = _Around.apply(at, zeros, *[values[i] for i in places])
        replaced = list(values)
        for i, tensor in zip(places, around):
            replaced[i] = tensor
        return _remade(values, replaced), places

    def of_inputs(self, args):
        args, places = self._through(args, self._at_inputs, True)
        self.inputs = (len(args), places)
        return args

    def of_outputs(self, output):
        if not isinstance(output, (tenon.Tensor, tuple)):
            warnings.warn(
                "For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but received "
                f"{type(output)}",
                stacklevel=4,
            )
            return output
        values, places = self._through(_as_tuple(output), self._at_outputs, False)
        self.outputs = (len(values), places)
        return values if isinstance(output, tuple) else values[0]

    @staticmethod
    def _spread(grads, count, places):
        spread = [None] * count
        for i, grad in zip(places, grads):
            spread[i] = grad
        return tuple(spread)

    def _at_outputs(self, grads):
        count, places = self.outputs
        grads = self._spread(grads, count, places)
        for hook in self.pre_hooks:
            result = hook(self.module, grads)
            if result is not None:
                grads = self._checked(result, grads, "Backward pre hook", "grad_output")
        if self.inputs[1] is None:  # no gradient of an input will come by
            self._run_without_inputs(grads)
        else:
            self.grad_outputs = grads
        return [grads[i] for i in places]

    def _at_inputs(self, grads):
        if self.grad_outputs is None:  # they have come by another way than through the outputs
            return grads
        count, places = self.inputs
        grad_inputs = self._spread(grads, count, places)
        grad_outputs, self.grad_outputs = self.grad_outputs, None
        for hook in self.hooks:
            result = hook(self.module, grad_inputs, grad_outputs)
            if result is not None:
                grad_inputs = self._checked(result, grad_inputs, "Backward hook", "grad_input")
        return [grad_inputs[i] for i in places]

    def _run_without_inputs(self, grad_outputs):
        if not self.hooks:
            return
        warnings.warn(
            "Full backward hook is firing when gradients are computed with respect to module outputs since no inputs "
            "require gradients.",
            stacklevel=2,
        )
        for hook in self.hooks:
            result = hook(self.module, (None,) * self.inputs[0], grad_outputs)
            if result is not None and any(grad is not None for grad in _as_tuple(result)):
                raise RuntimeError(
                    "Backward hook for Modules where no input requires gradient should always return None or None for all "
                    "gradients."
                )

    @staticmethod
    def _checked(result, grads, hook, what):
        result = _as_tuple(result)
        if len(result) != len(grads):
            raise RuntimeError(
                f"{hook} returned an invalid number of {what}, got {len(result)}, but expected {len(grads)}"
            )
        return result


def _tensors_of(values):
    """The tensors of one or a tuple or list of them; None if there is anything else."""
    values = values if isinstance(values, (tuple, list)) else (values,)
    return values if all(isinstance(value, tenon.Tensor) for value in values) else None


def _warn_of_last_node(inputs, outputs, node):
    """Says that the hook does not see the gradients of all inputs and outputs, as PyTorch does."""
    results, given = _tensors_of(outputs), _tensors_of(inputs)
    if results is None:
        when, lost = "on a Module that does not return a single Tensor or a tuple of Tensors", "of the grad_output"
    elif given is None:
        when, lost = (
            "on a Module that does not take as input a single Tensor or a tuple of Tensors",
            "of the grad_input",
        )
    elif len({output.grad_fn for output in results} - {None}) > 1:
        when, lost = "when outputs are generated by different autograd Nodes", "grad_output"
    elif {value.grad_fn for value in given} - {None} != {next_node for next_node, _ in node.next_functions}:
        when, lost = "when the forward contains multiple autograd Nodes", "grad_input"
    else:
        return
    what = "Using non-full backward hooks" if "Module" in when else "Using a non-full backward hook"
    text = (
        f"{what} {when} is deprecated and will be removed in future versions. This hook will be missing some {lost}. Please use "
        "register_full_backward_hook to get the documented behavior."
    )
    warnings.warn(text, FutureWarning, stacklevel=4)


def hook_last_node(module, hooks, inputs, outputs):
    """Has the hooks be called with the gradients of the operation that gave the first tensor of the outputs."""
    first = outputs
    while not isinstance(first, tenon.Tensor):
        if isinstance(first, dict):
            first = next(value for value in first.values() if isinstance(value, tenon.Tensor))
        else:
            first = first[0]
    node = first.grad_fn
    if node is None:
        return
    alive = weakref.ref(module)

    def called(hook, grad_inputs, grad_outputs):
        if alive() is None:
            raise RuntimeError("You are trying to call the hook of a dead Module!")
        return hook(alive(), grad_inputs, grad_outputs)

    for hook in hooks:
        node.register_hook(functools.partial(called, hook))
    _warn_of_last_node(inputs if len(inputs) != 1 else inputs[0], outputs, node)
