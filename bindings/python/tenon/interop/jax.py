"""Operators from load_operators() as functions on JAX's arrays: under jit, grad and vmap."""

import jax
import jax.numpy as jnp
import numpy

import tenon
from tenon import _C
from tenon.interop._functions import Functions


# Within a callback nothing of JAX may be called: arrays come and go as numpy's.


def _to_tenon(array):
    array = numpy.array(array)  # a copy, as JAX's are read-only
    if array.dtype == jnp.bfloat16:
        return tenon.frombuffer(array.view(numpy.uint16), dtype=tenon.bfloat16).reshape(array.shape)
    return tenon.from_numpy(array)


def _to_jax(tensor, like):
    """Of the dtype that was promised."""
    tensor = tensor.detach()
    if tensor.dtype is tenon.bfloat16:
        return numpy.frombuffer(_C._to_bytes(tensor), dtype=like.dtype).reshape(like.shape)
    return tensor.numpy().astype(like.dtype, copy=False)


def _dtype_of(array):
    return getattr(tenon, jnp.dtype(array.dtype).name)


def _is_array(value):
    return isinstance(value, (jax.Array, numpy.ndarray))


def _shapes_of(result):
    def one(tensor):
        dtype = jnp.dtype(repr(tensor.dtype).split(".")[1])
        return jax.ShapeDtypeStruct(tuple(tensor.shape), jax.dtypes.canonicalize_dtype(dtype))

    return one(result) if isinstance(result, tenon.Tensor) else tuple(map(one, result))


def _as_list(result):
    return [result] if isinstance(result, tenon.Tensor) else list(result)


def _differentiable(function, rest):
    """The function of the arrays alone: `rest` are the other arguments, (args, names) with None in the arrays' places."""
    args, names, places, keywords = rest

    def fill(tensors):
        filled, named = list(args), dict(names)
        for place, tensor in zip(places, tensors):
            filled[place] = tensor
        for name, tensor in zip(keywords, tensors[len(places) :]):
            named[name] = tensor
        return function(*filled, **named)

    def meta(arrays):
        return _shapes_of(fill([tenon.empty(a.shape, dtype=_dtype_of(a), device="meta") for a in arrays]))

    def host(*arrays):
        like = meta(arrays)
        result = fill([_to_tenon(a) for a in arrays])
        if isinstance(result, tenon.Tensor):
            return _to_jax(result, like)
        return tuple(_to_jax(t, l) for t, l in zip(result, like))

    def host_backward(arrays, grads):
        # The operator once more, recorded by Tenon, whose derivative it is.
        tensors = [_to_tenon(a) for a in arrays]
        wanted = [t.requires_grad_() for t in tensors if t.is_floating_point() or t.is_complex()]
        with tenon.enable_grad():
            outputs = _as_list(fill(tensors))
        pairs = [(o, _to_tenon(g)) for o, g in zip(outputs, grads) if o.requires_grad]
        found = tenon.autograd.grad(
            [o for o, _ in pairs], wanted, [g for _, g in pairs], allow_unused=True, materialize_grads=True
        )
        return tuple(_to_jax(g, a) for g, a in zip(found, [a for a in arrays if _is_inexact(a)]))

    @jax.custom_vjp
    def compute(*arrays):
        return jax.pure_callback(host, meta(arrays), *arrays, vmap_method="sequential")

    def forward(*arrays):
        return compute(*arrays), arrays

    def backward(arrays, grads):
        grads = grads if isinstance(grads, tuple) else (grads,)
        # Results of whole numbers have gradients of JAX's type float0, which mean nothing.
        numbers = tuple(jnp.zeros(g.shape) if g.dtype == jax.dtypes.float0 else g for g in grads)
        shapes = tuple(jax.ShapeDtypeStruct(a.shape, a.dtype) for a in arrays if _is_inexact(a))
        found = iter(jax.pure_callback(host_backward, shapes, arrays, numbers, vmap_method="sequential"))
        return tuple(next(found) if _is_inexact(a) else None for a in arrays)

    compute.defvjp(forward, backward)
    return compute


def _is_inexact(array):
    return jnp.issubdtype(array.dtype, jnp.inexact)


def register(ops):
    """The operators of a namespace of tenon.ops as functions on JAX's arrays. They run on the CPU.

        mine = tenon.interop.jax.register(tenon.load_operators("ops.yaml"))
        y = jax.jit(mine.swiglu)(x, g)
        dx = jax.grad(lambda x: mine.swiglu(x, g).sum())(x)

    To JAX a call is jax.pure_callback with a custom_vjp: it may be jitted, mapped with vmap (one call for each) and
    differentiated once, in reverse. Arguments that are no arrays are constants of the trace.
    """

    def convert(function):
        def call(*args, **names):
            places = [i for i, a in enumerate(args) if _is_array(a)]
            keywords = [name for name, a in names.items() if _is_array(a)]
            if any(isinstance(a, (list, tuple)) and any(map(_is_array, a)) for a in [*args, *names.values()]):
                raise NotImplementedError(f"{call.__name__}(): lists of arrays cannot be passed from JAX")
            rest = (
                [None if i in places else a for i, a in enumerate(args)],
                {name: a for name, a in names.items() if name not in keywords},
                places,
                keywords,
            )
            arrays = [jnp.asarray(args[i]) for i in places] + [jnp.asarray(names[name]) for name in keywords]
            return _differentiable(function, rest)(*arrays)

        return call

    return Functions(ops, convert)
