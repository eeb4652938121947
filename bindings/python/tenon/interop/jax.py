"""Operators from load_operators() as functions on JAX's arrays: under jit, grad and vmap, through jax.ffi."""

import ctypes
import functools
import hashlib
import itertools
import pathlib

import jax
import jax.numpy as jnp
import jaxlib
import numpy
from jax.custom_derivatives import SymbolicZero

import tenon
from tenon import _C, _build
from tenon.interop._functions import Functions

_TARGET = "tenon_call"


@functools.cache
def _register_target():
    """Makes jax_call.cpp known to XLA: compiled once for each jaxlib and compiler, as operators are."""
    source = pathlib.Path(__file__).with_name("jax_call.cpp")
    parts = [source.read_text(), jaxlib.__version__, *_build.compiler_command()]
    key = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]

    def build(folder):
        return _build.compile_source(source, jax.ffi.include_dir(), folder / "jax_call.so", "tenon.interop.jax")

    library = _build.cached(key, build)
    loaded = ctypes.CDLL(str(library))
    loaded.tenon_set_run_call(ctypes.c_void_p(_C._run_call()))
    jax.ffi.register_ffi_target(_TARGET, jax.ffi.pycapsule(loaded.tenon_call), platform="cpu")


def _to_tenon_dtype(dtype):
    return getattr(tenon, jnp.dtype(dtype).name)


def _to_jax_dtype(dtype):
    """Of results: with 32 bits where JAX's setting says so."""
    return jax.dtypes.canonicalize_dtype(jnp.dtype(repr(dtype).split(".")[1]))


def _is_array(value):
    return isinstance(value, (jax.Array, numpy.ndarray))


def _is_inexact(array):
    return jnp.issubdtype(array.dtype, jnp.inexact)


def _as_list(result):
    return [result] if isinstance(result, tenon.Tensor) else list(result)


_NAMED_BY_TEXT = (bool, int, float, complex, str, numpy.generic, tenon.dtype, tenon.device, type(...))


def _name_of_constant(value):
    """The same text for the same constant alone; other objects live as long as the functions that have them."""
    text = repr(value) if isinstance(value, _NAMED_BY_TEXT) else f"at {id(value):x}"
    return f"{type(value).__name__} {text}"


@jax.tree_util.register_static
class _Wanted(tuple):
    """Which arrays a gradient is asked for: known when JAX traces."""


_numbers = itertools.count()


class _Call:
    """An operator with its constants: the function of the arrays alone. `leaves` has None in the arrays' places."""

    def __init__(self, function, tree, leaves):
        self._function = function
        self._tree = tree
        self._leaves = leaves
        # Numbered, as an operator of the same name may have been loaded since.
        self._name = f"{function.__name__} {next(_numbers)} {tree}({', '.join(map(_name_of_constant, leaves))})"

        @jax.custom_vjp
        def compute(*arrays):
            return self._bind(arrays, None)

        compute.defvjp(self._forward, self._backward, symbolic_zeros=True)
        self.compute = jax.jit(compute, inline=True)

    def _bind(self, arrays, wanted, grads=()):
        """The node of the call in JAX's trace: of the operator, or of its gradients with respect to arrays[i], i in wanted."""
        metas = [tenon.empty(a.shape, dtype=_to_tenon_dtype(a.dtype), device="meta") for a in arrays]
        rest = iter(metas)
        filled = [next(rest) if leaf is None else leaf for leaf in self._leaves]
        args, names = jax.tree.unflatten(self._tree, filled)
        forms = ", ".join(f"{a.dtype}{list(a.shape)}" for a in arrays)
        # The setting that the results' dtypes follow from is part of the name as well.
        name = f"{self._name} of {forms} {wanted} {jax.config.jax_enable_x64}"

        def dtypes(result):
            return tuple(_to_tenon_dtype(_to_jax_dtype(t.dtype)) for t in _as_list(result))

        result = _C._keep_call(name, self._function, args, names, metas, dtypes, wanted)
        if wanted is None:
            shapes = [jax.ShapeDtypeStruct(tuple(t.shape), _to_jax_dtype(t.dtype)) for t in _as_list(result)]
            shapes = shapes[0] if isinstance(result, tenon.Tensor) else tuple(shapes)
        else:
            shapes = tuple(jax.ShapeDtypeStruct(arrays[i].shape, arrays[i].dtype) for i in wanted)
        return jax.ffi.ffi_call(_TARGET, shapes, vmap_method="sequential")(*arrays, *grads, call=name)

    def _forward(self, *primals):
        arrays = tuple(p.value for p in primals)
        wanted = _Wanted(i for i, p in enumerate(primals) if p.perturbed and _is_inexact(p.value))
        return self._bind(arrays, None), (arrays, wanted)

    def _backward(self, kept, grads):
        arrays, wanted = kept
        grads = grads if isinstance(grads, (tuple, list)) else (grads,)
        grads = [g for g in grads if _is_inexact(g)]
        grads = [jnp.zeros(g.shape, g.dtype) if isinstance(g, SymbolicZero) else g for g in grads]
        found = dict(zip(wanted, self._bind(arrays, list(wanted), grads))) if wanted else {}
        return tuple(found.get(i) for i in range(len(arrays)))


def register(ops):
    """The operators of a namespace of tenon.ops as functions on JAX's arrays. They run on the CPU, on JAX's memory.

        mine = tenon.interop.jax.register(tenon.load_operators("ops.yaml"))
        y = jax.jit(mine.swiglu)(x, g)
        dx = jax.grad(lambda x: mine.swiglu(x, g).sum())(x)

    To JAX a call is jax.ffi.ffi_call with a custom_vjp: it may be jitted, mapped with vmap (one call for each) and
    differentiated once, in reverse. Arguments that are no arrays are constants of the trace. What XLA calls is compiled
    when this is first called, and kept beside the operators. RuntimeError without a C++ compiler.
    """
    _register_target()

    def convert(function):
        made = {}

        def call(*args, **names):
            leaves, tree = jax.tree.flatten((args, names))
            arrays = [jnp.asarray(leaf) for leaf in leaves if _is_array(leaf)]
            constants = tuple(None if _is_array(leaf) else leaf for leaf in leaves)
            key = (tree, tuple(map(_name_of_constant, constants)))
            if key not in made:
                made[key] = _Call(function, tree, constants)
            return made[key].compute(*arrays)

        return call

    return Functions(ops, convert)
