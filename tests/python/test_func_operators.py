"""Operators of one's own under transforms: the rule follows from the entry, nothing runs row by row."""

import os

import pytest
import tenon
from tenon.func import grad, hessian, jacrev, jvp, vmap

OPERATORS = """
- func: mapped::swiglu(Tensor self, Tensor gate, *, Scalar scale=1) -> Tensor
  variants: function
  pointwise: scale * self * gate * sigmoid(gate)
- func: mapped::spread(Tensor self, int dim=-1, bool keepdim=False) -> Tensor
  variants: function
  over: dim
  rowwise: max(self) - mean(self)
- func: mapped::both(Tensor self, Tensor gate) -> Tensor
  variants: function
  composite: spread(swiglu(self, gate), -1, true) * self
"""


@pytest.fixture(scope="module")
def ops(tmp_path_factory):
    os.environ["TENON_CACHE_DIR"] = str(tmp_path_factory.mktemp("cache"))
    yield tenon.load_operators(OPERATORS)
    del os.environ["TENON_CACHE_DIR"]


def rows(*sizes):
    count = 1
    for size in sizes:
        count *= size
    return tenon.arange(float(count), dtype=tenon.float64).mul(0.37).sin().reshape(sizes)


def equal(one, other):
    assert one.shape == other.shape and tenon.allclose(one, other, rtol=1e-9, atol=1e-9), (one, other)


def test_every_place_of_the_batch(ops, capfd):
    x, y = rows(4, 2, 3), rows(4, 2, 3) + 1
    for function in (ops.swiglu, ops.both, lambda a, b: ops.spread(a * b, 0)):
        wanted = tenon.stack([function(a, b) for a, b in zip(x, y, strict=True)])
        equal(vmap(function)(x, y), wanted)
        equal(vmap(function, (1, -1))(x.movedim(0, 1), y.movedim(0, -1)), wanted)
        equal(vmap(function, (0, None))(x, y[0]), tenon.stack([function(a, y[0]) for a in x]))
        equal(vmap(function, (None, 0))(x[0], y), tenon.stack([function(x[0], b) for b in y]))
        nested = vmap(vmap(function, (None, 0)), (0, None))(x, y)
        equal(nested, tenon.stack([tenon.stack([function(a, b) for b in y]) for a in x]))
    assert capfd.readouterr().err == ""


def test_derivatives(ops, capfd):
    x, y = rows(4, 3), rows(4, 3) + 1
    for function in (ops.swiglu, ops.both):
        total = lambda a, b, function=function: function(a, b).square().sum()
        per_row = tenon.stack([grad(total)(a, b) for a, b in zip(x, y, strict=True)])
        equal(vmap(grad(total))(x, y), per_row)
        leaf = x.clone().requires_grad_()
        vmap(total)(leaf, y).sum().backward()
        equal(leaf.grad, per_row)
        equal(vmap(jacrev(function))(x, y), tenon.stack([jacrev(function)(a, b) for a, b in zip(x, y, strict=True)]))
        equal(vmap(hessian(total))(x, y), tenon.stack([hessian(total)(a, b) for a, b in zip(x, y, strict=True)]))
        along = lambda a, b, total=total: jvp(total, (a, b), (b, a))[1]
        equal(vmap(along)(x, y), tenon.stack([along(a, b) for a, b in zip(x, y, strict=True)]))
        assert grad(total)(x[0], y[0]).abs().max() > 0.01  # so that zeros would be noticed
    assert capfd.readouterr().err == ""
