"""Backward hooks of a whole module: two identities around it, at whose gradients the hooks look."""

import tenon
from tenon.autograd import Function


def _as_tuple(value):
    return value if isinstance(value, tuple) else (value,)


class _Around(Function):
    """The tensors themselves, as views; at(gradients) may give others in backward."""

    @staticmethod
    def forward(ctx, at, *tensors):
        ctx.at = at
        ctx.set_materialize_grads(False)
        return tuple(t.view_as(t) for t in tensors)

    @staticmethod
    def backward(ctx, *grads):
        return (None, *ctx.at(grads))


class BackwardHook:
    """One call of a module: of_inputs() and of_outputs() give what takes the place of its arguments and results."""

    def __init__(self, module, hooks, pre_hooks):
        self.module, self.hooks, self.pre_hooks, self.grad_outputs = module, hooks, pre_hooks, None

    def _through(self, values, at):
        """`values`, a tuple, with its tensors led through _Around."""
        places = [i for i, v in enumerate(values) if isinstance(v, tenon.Tensor)]
        if not tenon.is_grad_enabled() or not any(values[i].requires_grad for i in places):
            return values, places
        around = _Around.apply(lambda grads: at(grads, len(values), places), *[values[i] for i in places])
        values = list(values)
        for i, tensor in zip(places, _as_tuple(around)):
            values[i] = tensor
        return tuple(values), places

    def of_inputs(self, args):
        self.sees_inputs = tenon.is_grad_enabled() and any(isinstance(a, tenon.Tensor) and a.requires_grad for a in args)
        return self._through(args, self._at_inputs)[0]

    def of_outputs(self, output):
        single = not isinstance(output, tuple)
        values, _ = self._through(_as_tuple(output), self._at_outputs)
        return values[0] if single else values

    @staticmethod
    def _spread(grads, count, places):
        spread = [None] * count
        for i, grad in zip(places, grads):
            spread[i] = grad
        return tuple(spread)

    def _at_outputs(self, grads, count, places):
        grads = self._spread(grads, count, places)
        for hook in self.pre_hooks:
            result = hook(self.module, grads)
            if result is not None:
                grads = self._checked(result, grads, "Backward pre hook", "grad_output")
        self.grad_outputs = grads
        if not self.sees_inputs:  # no gradient of an input will come by
            self._run((), grads)
        return [grads[i] for i in places]

    def _at_inputs(self, grads, count, places):
        grads = self._run(self._spread(grads, count, places), self.grad_outputs)
        return [grads[i] for i in places]

    def _run(self, grad_inputs, grad_outputs):
        for hook in self.hooks:
            result = hook(self.module, grad_inputs, grad_outputs)
            if result is not None:
                grad_inputs = self._checked(result, grad_inputs, "Backward hook", "grad_input")
        return grad_inputs

    @staticmethod
    def _checked(result, grads, hook, what):
        result = _as_tuple(result)
        if len(result) != len(grads):
            raise RuntimeError(f"{hook} returned an invalid number of {what}, got {len(result)}, but expected {len(grads)}")
        return result
