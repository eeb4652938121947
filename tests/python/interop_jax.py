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
try:
    aten.cat([x, x])
    raise AssertionError("a list of arrays was taken")
except NotImplementedError as error:
    assert "cat(): lists of arrays" in str(error)
try:
    mine.nothing
    raise AssertionError("an operator that does not exist was found")
except AttributeError as error:
    assert "interopj::nothing" in str(error)
print("agrees")
