"""grad, grad_and_value, vjp: derivatives by reverse mode."""

import functools

from tenon import _C
from tenon.func import _arguments
from tenon.utils._pytree import tree_flatten, tree_unflatten, treespec_pprint

_GRAD = "grad_and_value(f)(*args)"
_VJP = "vjp(f, *primals)"


def grad_and_value(func, argnums=0, has_aux=False):
    """A function that gives (gradient, value) of `func`, which gives one element.

    argnums: the argument, or a tuple of the arguments, whose gradients are computed. An argument may be a tree.
    has_aux: func gives (value, aux), and the function (gradient, (value, aux)).
    """

    @functools.wraps(func, updated=())
    def wrapped(*args, **kwargs):
        where = _arguments.places(argnums, args)
        with _arguments.Recording() as recording:
            fresh, inputs, spec = _arguments.fresh_inputs(_arguments.chosen(args, where))
            output = func(*_arguments.replaced(args, where, fresh), **kwargs)
            output, aux = _arguments.with_aux(output, _GRAD, has_aux)
            if not isinstance(output, _C.Tensor):
                raise RuntimeError(f"{_GRAD}: Expected f(*args) to return a Tensor, got {type(output)}")
            if output.dim() != 0:
                raise RuntimeError(
                    f"{_GRAD}: Expected f(*args) to return a scalar Tensor, got tensor with {output.dim()} dims. "
                    "Maybe you wanted to use the vjp or jacrev APIs instead?"
                )
            create_graph = None if recording.recorded_before else False
            grads = _C._func.gradients([output], inputs, None, create_graph=create_graph)
            *grads, output = recording.left([*grads, output], inputs)
            if has_aux:
                aux = _arguments.left_aux(aux, recording, inputs)
        result = tree_unflatten(grads, spec)
        return result, ((output, aux) if has_aux else output)

    return wrapped


def grad(func, argnums=0, has_aux=False):
    """A function that gives the gradient of `func`, which gives one element.

        slope = grad(lambda x: x.sin())
        per_sample = vmap(grad(loss), in_dims=(None, 0, 0))

    argnums, has_aux: as in grad_and_value(); with has_aux the function gives (gradient, aux).
    """

    @functools.wraps(func, updated=())
    def wrapped(*args, **kwargs):
        result, value = grad_and_value(func, argnums, has_aux)(*args, **kwargs)
        return (result, value[1]) if has_aux else result

    return wrapped


def vjp_of(func, primals, argnums=None, has_aux=False):
    """vjp() of the arguments that argnums names."""
    where = None if argnums is None else _arguments.places(argnums, primals)
    with _arguments.Recording() as recording:
        fresh, inputs, in_spec = _arguments.fresh_inputs(_arguments.chosen(primals, where))
        outputs, aux = _arguments.with_aux(func(*_arguments.replaced(primals, where, fresh)), _VJP, has_aux)
        tracked, out_spec = tree_flatten(outputs)
        _arguments.check_outputs(tracked, _VJP)
        for output in tracked:
            if not _arguments.is_differentiable(output):
                raise RuntimeError(
                    "vjp(f, ...): All outputs of f must be floating-point or complex Tensors, "
                    f"got Tensor with dtype {output.dtype}"
                )
        results = tree_unflatten(recording.left(tracked, inputs), out_spec)
        if has_aux:
            aux = _arguments.left_aux(aux, recording, inputs)

    def vjp_fn(cotangents, retain_graph=True, create_graph=None):
        given, spec = tree_flatten(cotangents)
        if spec != out_spec:
            raise RuntimeError(
                "Expected pytree structure of cotangents to be the same as pytree structure of outputs to the function. "
                f"cotangents: {treespec_pprint(spec)}, primal output: {treespec_pprint(out_spec)}"
            )
        with _arguments.Recording() as recording:
            if not recording.recorded_before:
                create_graph = bool(create_graph)
            grads = _C._func.gradients(tracked, inputs, given, create_graph=create_graph, retain_graph=retain_graph)
            return tree_unflatten(recording.left(grads, inputs), in_spec)

    return (results, vjp_fn, aux) if has_aux else (results, vjp_fn)


def vjp(func, *primals, has_aux=False):
    """(func(*primals), a function that gives v^T J for v like the outputs: a tuple of gradients like the primals).

    has_aux: func gives (outputs, aux), and vjp (outputs, function, aux).
    """
    return vjp_of(func, primals, None, has_aux)
