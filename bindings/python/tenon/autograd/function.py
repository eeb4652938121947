"""Operations with a backward of one's own."""

import functools
import inspect
import warnings

from tenon import _C
from tenon.autograd.grad_mode import no_grad


class FunctionCtx:
    """What forward and backward of a Function share; any attribute may be set."""

    def __init__(self):
        self._context = _C._make_function_context()

    def save_for_backward(self, *tensors):
        """In forward: inputs or outputs to keep for backward."""
        for i, tensor in enumerate(tensors):
            if not (tensor is None or isinstance(tensor, _C.Tensor)):
                raise TypeError(
                    f"save_for_backward can only save variables, but argument {i} is of type {type(tensor).__name__}"
                )
        self._context.save_for_backward(tensors)

    def save_for_forward(self, *tensors):
        """In forward: inputs or outputs to keep for jvp, which follows at once."""
        for tensor in tensors:
            if not (tensor is None or isinstance(tensor, _C.Tensor)):
                raise TypeError(
                    "save_for_forward expects all arguments to be tensors; you should save non-tensors as attributes on ctx."
                )
        self._context.save_for_forward(tensors)

    @property
    def saved_tensors(self):
        """In backward: what was saved, RuntimeError if one was changed in place since. In jvp: what it was to have."""
        return self._context.saved_tensors()

    @property
    def saved_variables(self):
        """The old name of saved_tensors."""
        warnings.warn("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning, stacklevel=2)
        return self.saved_tensors

    def mark_dirty(self, *args):
        """In forward: inputs that it changes in place, and returns."""
        self._context.mark_dirty(args)

    def mark_non_differentiable(self, *args):
        """In forward: outputs that have no gradient."""
        self._context.mark_non_differentiable(args)

    def set_materialize_grads(self, value):
        """In forward: whether backward gets zeros where no gradient arrived (the default), or None; jvp likewise."""
        self._context.set_materialize_grads(value)


class Function:
    """An operation with a backward of its own.

        class Square(tenon.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return x * x

            @staticmethod
            def backward(ctx, grad):
                (x,) = ctx.saved_tensors
                return 2 * x * grad

        y = Square.apply(x)

    forward may leave ctx out, with a setup_context(ctx, inputs, output) beside it. backward may be named vjp. For forward
    mode there is jvp, too: called after forward with a tangent for each argument, it gives one for each output.

    Under tenon.vmap it needs a rule: the static method vmap, or generate_vmap_rule = True, with which forward and backward
    are called for a row at a time, and operators compute the batch.
    """

    generate_vmap_rule = False

    def __init__(self, *args, **kwargs):
        warnings.warn(
            f"{self.__class__} should not be instantiated. Methods on autograd functions are all static, so you should invoke them on "
            "the class itself. Instantiating an autograd function will raise an error in a future version of PyTorch.",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *args, **kwargs):
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd function "
            f"with static forward method: call {self.__class__.__name__}.apply(...)"
        )

    @staticmethod
    def forward(*args, **kwargs):
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx, inputs, output):
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx, *grad_outputs):
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it with backward mode AD."
        )

    vjp = backward

    @staticmethod
    def jvp(ctx, *grad_inputs):
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."
        )

    @staticmethod
    def vmap(info, in_dims, *args):
        """(outputs, the places of the batch in them) of the arguments with their batch.

        info: its batch_size, and randomness as vmap was given it. in_dims: for each argument the place of the batch; None
        for what is not batched.
        """
        raise NotImplementedError(
            "To use autograd.Function with vmap, you must either override the vmap static method or set generate_vmap_rule=True."
        )

    @classmethod
    def _bound(cls, args, kwargs):
        """The arguments in the order of forward's parameters, with their defaults."""
        in_order = inspect.signature(cls.forward).bind(*args, **kwargs)
        in_order.apply_defaults()
        if in_order.kwargs:
            raise TypeError(
                f"{cls.__name__}.apply(): keyword-only arguments of forward are not supported, got {', '.join(in_order.kwargs)}"
            )
        return in_order.args

    @classmethod
    def apply(cls, *args, **kwargs):
        """The outputs of forward, with backward as their derivative.

        backward returns a gradient for each argument, in the order of forward's parameters.
        """
        ctx = FunctionCtx()
        if cls.setup_context is not Function.setup_context:
            if kwargs or cls.forward.__defaults__:  # setup_context gets the defaults, too
                args = cls._bound(args, kwargs)
        elif kwargs:
            args = cls._bound((ctx, *args), kwargs)[1:]
        if _C._func.current_level():
            from tenon.func._functions import apply_batched

            result = apply_batched(cls, args)
            if result is not NotImplemented:
                return result
        recorded = _C.is_grad_enabled()
        ctx.needs_input_grad = tuple(recorded and isinstance(a, _C.Tensor) and a.requires_grad for a in args)
        return _C._apply_function(cls, ctx, args)

    @classmethod
    def _forward(cls, ctx, args):
        if cls.setup_context is Function.setup_context:
            return cls.forward(ctx, *args)
        output = cls.forward(*args)
        cls.setup_context(ctx, args, output)
        return output

    @classmethod
    def _backward(cls, ctx, grads):
        if cls.backward is not Function.backward and cls.vjp is not Function.vjp:
            raise RuntimeError(
                "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only implement one of them."
            )
        return (cls.vjp if cls.backward is Function.backward else cls.backward)(ctx, *grads)

    @classmethod
    def _jvp(cls, ctx, tangents):
        return cls.jvp(ctx, *tangents)


class InplaceFunction(Function):
    """A Function, of old programs. Its objects have the attribute `inplace`."""

    def __init__(self, inplace=False):
        super().__init__()
        self.inplace = inplace


def once_differentiable(fn):
    """Decorates a backward that cannot be differentiated itself: doing so is an error, and not a wrong gradient."""

    @functools.wraps(fn)
    def wrapped(ctx, *grads):
        # What it computes depends on the gradients and on what forward was given.
        depends = any(getattr(ctx, "needs_input_grad", ())) or any(g is not None and g.requires_grad for g in grads)
        recorded = _C.is_grad_enabled() and depends
        with no_grad():
            results = fn(ctx, *grads)
        if not recorded:
            return results
        results = results if isinstance(results, tuple) else (results,)
        return _C._refuse_derivative(results, grads, getattr(ctx, "_context", None))

    return wrapped
