"""Operators of one's own in JAX; run by build/venv-oracle's Python (test_interop.py)."""

import os

os.environ["JAX_PLATFORMS"] = "cpu"
import jax
import jax.numpy as jnp
import numpy as np
import tenon
from jax.test_util import check_grads
from tenon.interop import jax as interop

jax.config.update("jax_enable_x64", True)
ops = tenon.load_operators(
    """
- func: interopj::swiglu(Tensor self, Tensor gate, *, Scalar scale=1) -> Tensor
  pointwise: scale * self * gate * sigmoid(gate)
"""
)
mine = interop.register(ops)


def by_jax(x, g, scale=1):
    return scale * x * g * jax.nn.sigmoid(g)


rng = np.random.default_rng(0)
x, g = (jnp.asarray(rng.standard_normal((3, 4))) for _ in range(2))
np.testing.assert_allclose(mine.swiglu(x, g, scale=2), by_jax(x, g, 2), rtol=1e-12)
np.testing.assert_allclose(jax.jit(mine.swiglu)(x, g), by_jax(x, g), rtol=1e-12)
for differentiate in (jax.grad, lambda *a: jax.jit(jax.grad(*a))):
    found = differentiate(lambda x, g: (mine.swiglu(x, g, scale=3) ** 2).sum(), (0, 1))(x, g)
    expected = jax.grad(lambda x, g: (by_jax(x, g, 3) ** 2).sum(), (0, 1))(x, g)
    for ours, theirs in zip(found, expected):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10)
check_grads(mine.swiglu, (x, g), order=1, modes=["rev"])
np.testing.assert_allclose(jax.vmap(mine.swiglu)(x, g), by_jax(x, g), rtol=1e-12)
# A constant beside an array, other dtypes, results of whole numbers, several results.
for dtype in (jnp.float32, jnp.bfloat16, jnp.float16):
    small = mine.swiglu(x.astype(dtype), g.astype(dtype))
    assert small.dtype == dtype
    np.testing.assert_allclose(small.astype(jnp.float64), by_jax(x, g), rtol=0.05, atol=0.05)
aten = interop.register(tenon.ops.aten)
assert aten.argmax(x, 1).tolist() == jnp.argmax(x, 1).tolist()
values, indices = aten.max(x, 1)
assert values.tolist() == x.max(1).tolist() and indices.tolist() == x.argmax(1).tolist()
grad = jax.grad(lambda x: aten.max(x, 1)[0].sum())(x)
assert grad.tolist() == jax.nn.one_hot(x.argmax(1), 4).tolist()
picked = jax.grad(lambda x: aten.index_select(x, 0, jnp.array([0, 0, 2])).sum())(x)
assert picked.tolist() == [[2] * 4, [0] * 4, [1] * 4]
# Lists of arrays, and a gradient that only some of the arrays have.
assert aten.cat([x, g], 1).tolist() == jnp.concatenate([x, g], 1).tolist()
found = jax.jit(jax.grad(lambda x: (aten.cat([g, x]) * jnp.arange(24.0).reshape(6, 4)).sum()))(x)
assert found.tolist() == jnp.arange(12.0, 24.0).reshape(3, 4).tolist()
(pieces,) = jax.grad(lambda x: sum(i * p.sum() for i, p in enumerate(aten.split(x, 1))), (0,))(x)
assert pieces.tolist() == [[i] * 4 for i in range(3)]
# Gradients of the same size, which lie in XLA's memory, each in its own place.
big, other = (jnp.asarray(rng.standard_normal((64, 64))) for _ in range(2))
for ours, theirs in (
    (mine.swiglu, by_jax),
    (aten.add, jnp.add),
    (aten.sub, jnp.subtract),
    (aten.matmul, jnp.matmul),
    (lambda x, g: aten.mul(aten.t(x), g), lambda x, g: x.T * g),
    (lambda x, g: aten.clone(aten.cat([g, x])[0:64]), lambda x, g: g * 1 + x * 0),
):
    for places in (0, 1, (0, 1), (1, 0)):
        found, expected = (
            jax.jit(jax.grad(lambda x, g: (f(x, g) ** 2).sum(), places))(big, other) for f in (ours, theirs)
        )
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-10), found, expected)
# Complex numbers: the gradient of JAX's convention.
z = x + 1j * g
found = jax.grad(lambda z: (aten.mul(z, z) * (2 + 1j)).sum().real)(z)
np.testing.assert_allclose(found, jax.grad(lambda z: (z * z * (2 + 1j)).sum().real)(z), rtol=1e-12)
# XLA calls the operator itself, over its own arrays, which operators that write do not change.
text = jax.jit(mine.swiglu).lower(x, g).as_text()
assert "tenon_call" in text and "callback" not in text
before = x.tolist()
assert aten.mul_(x, 2).tolist() == (2 * x).tolist() and x.tolist() == before
# The same place with other constants, of other types too: each is its own.
assert [aten.add(x, x, alpha=a).tolist() for a in (1, 2, 1)] == [(2 * x).tolist(), (3 * x).tolist(), (2 * x).tolist()]
assert aten.div(x, x, rounding_mode="floor").tolist() == jnp.ones_like(x).tolist()
assert [aten.mul(jnp.arange(3), a).dtype for a in (2, 2.0, True)] == [jnp.int64, jnp.float32, jnp.int64]
assert aten.sum(jnp.zeros((0, 3)), 0).tolist() == [0, 0, 0] and aten.neg(jnp.float64(2)).tolist() == -2
with jax.enable_x64(False):
    narrow = aten.argmax(jnp.arange(6.0).reshape(2, 3), 1)
    assert narrow.dtype == jnp.int32 and narrow.tolist() == [2, 2]
try:
    jax.block_until_ready(jax.jit(lambda x, i: aten.index_select(x, 0, i))(x, jnp.array([7])))
    raise AssertionError("an index out of range was taken")
except jax.errors.JaxRuntimeError as error:
    assert "[index_select] index out of range in self: index 7" in str(error)
try:
    mine.nothing
    raise AssertionError("an operator that does not exist was found")
except AttributeError as error:
    assert "interopj::nothing" in str(error)
print("agrees")
