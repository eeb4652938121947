"""jvp and linearize: derivatives in a direction."""

from tenon import _C
from tenon.autograd import forward_ad
from tenon.func import _arguments
from tenon.utils._pytree import tree_flatten, tree_map, tree_unflatten

_JVP = "jvp(f, primals, tangents)"


def _check_tensors(leaves, name):
    if not leaves:
        raise RuntimeError(f"{_JVP}: Expected {name} to contain at least one Tensor.")
    for leaf in leaves:
        if not isinstance(leaf, _C.Tensor):
            raise RuntimeError(f"{_JVP}: Expected {name} to only contain Tensors, got {type(leaf)}")


def _check_sizes(primals, tangents):
    for primal, tangent in zip(primals, tangents, strict=True):
        if primal.shape != tangent.shape:
            raise RuntimeError(
                "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not "
                f"supported. Tensor is of size {list(primal.shape)} while the given forward gradient is of size "
                f"{list(tangent.shape)}."
            )


def _outputs_of(func, arguments, has_aux):
    """(leaves of the outputs, their shape, aux)"""
    outputs, aux = _arguments.with_aux(func(*arguments), _JVP, has_aux)
    leaves, spec = tree_flatten(outputs)
    for leaf in leaves:
        if not isinstance(leaf, _C.Tensor):
            raise RuntimeError(
                f"{_JVP}: expected f(*primals) to return only tensors, got unsupported type {type(leaf)}"
            )
    return leaves, spec, aux


def _tangents_or_zeros(outputs, tangents, strict):
    if strict and any(tangent is None for tangent in tangents):
        raise RuntimeError(
            "jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. "
            "This is not allowed with strict=True."
        )
    return [
        _C.zeros_like(output) if tangent is None else tangent for output, tangent in zip(outputs, tangents, strict=True)
    ]


def _primal(tensor):
    if not isinstance(tensor, _C.Tensor):
        raise RuntimeError(f"Expected tensors, got unsupported type {type(tensor)}")
    return forward_ad.unpack_dual(tensor).primal


def _by_forward_mode(func, arguments_with, primals, tangents, has_aux, strict):
    everywhere = _C._func.batched_everywhere
    with _arguments.dual_level():
        duals = [
            forward_ad.make_dual(everywhere(primal), everywhere(tangent))
            for primal, tangent in zip(primals, tangents, strict=True)
        ]
        leaves, spec, aux = _outputs_of(func, arguments_with(duals), has_aux)
        pairs = [forward_ad.unpack_dual(leaf) for leaf in leaves]
        values = [primal for primal, _ in pairs]
        found = _tangents_or_zeros(values, [tangent for _, tangent in pairs], strict)
        return values, found, spec, tree_map(_primal, aux) if has_aux else None


class _Linear:
    """The derivative of outputs in the directions of inputs, by differentiating the backward with respect to v in v^T J.

    v^T J is linear in v, so its derivative with respect to v in the direction of tangents is J times the tangents.
    """

    def __init__(self, outputs, inputs):
        self.inputs, self.count = inputs, len(outputs)
        self.places = [i for i, output in enumerate(outputs) if _arguments.is_differentiable(output)]
        self.outputs = outputs
        given = [outputs[i] for i in self.places]
        self.v = [_C._func.fresh_input(_C.zeros_like(output).detach()) for output in given]
        self.products = _C._func.gradients(given, inputs, self.v, create_graph=True) if given else []

    def __call__(self, tangents, retain_graph):
        """The tangents of the outputs; None for an output that does not depend on the inputs."""
        found = [None] * self.count
        if self.places:
            grads = _C._func.gradients(self.products, self.v, tangents, retain_graph=retain_graph)
            for i, tangent in zip(self.places, grads, strict=True):
                if self.outputs[i].requires_grad:
                    found[i] = tangent
        return found


def _by_double_backward(func, arguments_with, primals, tangents, has_aux, strict):
    with _arguments.Recording() as recording:
        _, inputs, _ = _arguments.fresh_inputs(list(primals))
        leaves, spec, aux = _outputs_of(func, arguments_with(inputs), has_aux)
        linear = _Linear(leaves, inputs)
        found = _tangents_or_zeros(leaves, linear(tangents, False), strict)
        left = recording.left([*leaves, *found], [*inputs, *linear.v])
        if has_aux:
            aux = _arguments.left_aux(aux, recording, inputs)
    return left[: len(leaves)], left[len(leaves) :], spec, aux


def jvp_of(func, primals, tangents, argnums=None, strict=False, has_aux=False):
    """jvp() of the arguments that argnums names."""
    if not isinstance(primals, tuple):
        raise RuntimeError(f"{_JVP}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals).")
    where = None if argnums is None else _arguments.places(argnums, primals)
    given, spec = tree_flatten(_arguments.chosen(primals, where))
    directions, tangents_spec = tree_flatten(tangents)
    if spec != tangents_spec:
        raise RuntimeError(
            f"{_JVP}: Expected primals and tangents to have the same python structure. For example, if primals is a tuple of 3 "
            f"tensors, tangents also must be. Got primals with structure {spec} and tangents with structure {tangents_spec}"
        )
    _check_tensors(given, "primals")
    _check_tensors(directions, "tangents")
    _check_sizes(given, directions)

    def arguments_with(leaves):
        return _arguments.replaced(primals, where, tree_unflatten(leaves, spec))

    # There is one level of forward mode: a jvp inside of another one differentiates a backward.
    nested = _arguments.is_in_dual_level()
    run = _by_double_backward if nested else _by_forward_mode
    values, found, out_spec, aux = run(func, arguments_with, given, directions, has_aux, strict)
    results = tree_unflatten(values, out_spec), tree_unflatten(found, out_spec)
    return (*results, aux) if has_aux else results


def jvp(func, primals, tangents, *, strict=False, has_aux=False):
    """(func(*primals), J v) for tangents v, a tuple like the primals.

    strict: RuntimeError for an output that does not depend on the primals, whose derivative is zero otherwise.
    has_aux: func gives (outputs, aux), and jvp (outputs, J v, aux).
    """
    return jvp_of(func, primals, tangents, None, strict, has_aux)


def linearize(func, *primals):
    """(func(*primals), a function that gives J v for tangents v). func is called once, whatever the number of directions."""
    with _arguments.Recording() as recording:
        fresh, inputs, in_spec = _arguments.fresh_inputs(primals)
        leaves, out_spec = tree_flatten(func(*fresh))
        tensors = [leaf for leaf in leaves if isinstance(leaf, _C.Tensor)]
        linear = _Linear(tensors, inputs)
        ended = [*inputs, *linear.v]
        left = iter(recording.left(tensors, ended))
        results = [next(left) if isinstance(leaf, _C.Tensor) else leaf for leaf in leaves]

    def check(i, tangent, primal):
        for name, given, wanted in (
            ("shape", tangent.shape, primal.shape),
            ("device", tangent.device, primal.device),
            ("dtype", tangent.dtype, primal.dtype),
        ):
            if given != wanted:
                raise RuntimeError(
                    f"tangent:{i} with {name} {given} in flattened pytree doesn't match the {name} {wanted} of the "
                    "corresponding primal."
                )

    def jvp_fn(*tangents):
        given, spec = tree_flatten(tangents)
        if spec != in_spec:
            raise RuntimeError(f"Expected the tangents {spec} to have the same argspec as the primals {in_spec}")
        for i, (tangent, primal) in enumerate(zip(given, inputs, strict=True)):
            check(i, tangent, primal)
        with _arguments.Recording() as recording:
            found = _tangents_or_zeros(tensors, linear(given, True), False)
            left = iter(recording.left(found, ended))
        return tree_unflatten([next(left) if isinstance(leaf, _C.Tensor) else leaf for leaf in leaves], out_spec)

    return tree_unflatten(results, out_spec), jvp_fn
