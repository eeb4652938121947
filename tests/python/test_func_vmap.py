"""vmap: places of the batch, trees, messages, chunks, random numbers, levels, printing; beside PyTorch where it is installed."""

import functools
import re

import pytest
import tenon


def batch(lib, *sizes):
    count = 1
    for size in sizes:
        count *= size
    return lib.arange(float(count)).mul(0.37).sin().reshape(sizes)


def equal(lib, one, other):
    assert one.shape == other.shape, (one.shape, other.shape)
    assert lib.allclose(one, other, rtol=1e-5, atol=1e-6, equal_nan=True), (one, other)


def looped(lib, function, *args, dim=0):
    """The function of each row of all arguments."""
    rows = [function(*(arg.select(dim, i) for arg in args)) for i in range(args[0].shape[dim])]
    return lib.stack(rows)


# ---- where the batch is ----


def test_one_place_for_all_arguments(lib):
    x, y = batch(lib, 4, 3), batch(lib, 4, 3) + 1
    equal(lib, lib.vmap(lib.dot)(x, y), (x * y).sum(1))
    equal(lib, lib.vmap(lib.dot, in_dims=1)(x.T, y.T), (x * y).sum(1))
    equal(lib, lib.vmap(lib.dot, -1)(x.T, y.T), (x * y).sum(1))


def test_a_place_for_each_argument(lib):
    x, y = batch(lib, 4, 3), batch(lib, 3)
    equal(lib, lib.vmap(lib.dot, (0, None))(x, y), x @ y)
    equal(lib, lib.vmap(lib.mv, (None, 1))(batch(lib, 2, 3), x.T), x @ batch(lib, 2, 3).T)


def test_trees_of_arguments(lib):
    x = batch(lib, 4, 3)

    def function(a, rest):
        return a + rest["b"][0] * rest["c"]

    rest = {"b": (x + 1,), "c": batch(lib, 3)}
    equal(lib, lib.vmap(function, (0, {"b": 0, "c": None}))(x, rest), x + (x + 1) * batch(lib, 3))
    equal(lib, lib.vmap(function, (None, {"b": (0,), "c": None}))(x[0], rest), x[0] + (x + 1) * batch(lib, 3))


def test_keyword_arguments_are_not_batched(lib):
    x = batch(lib, 4, 3)
    equal(lib, lib.vmap(lambda a, *, scale: (a * scale).sum())(x, scale=x), lib.stack([(row * x).sum() for row in x]))


def test_places_in_the_outputs(lib):
    x = batch(lib, 4, 2, 3)
    for place in (0, 1, 2, -1, -2, -3):
        equal(lib, lib.vmap(lib.sin, out_dims=place)(x), x.sin().movedim(0, place))


def test_trees_of_outputs(lib):
    x = batch(lib, 4, 3)
    one, (two, three) = lib.vmap(lambda a: (a, [a * 2, a.sum()]), out_dims=(1, 0))(x)
    equal(lib, one, x.T), equal(lib, two, x * 2), equal(lib, three, x.sum(1))
    found = lib.vmap(lambda a: {"p": a, "q": (a, "text")}, out_dims={"p": 0, "q": (1, None)})(x)
    equal(lib, found["p"], x), equal(lib, found["q"][0], x.T)
    assert found["q"][1] == "text"
    assert lib.vmap(lambda a: (a, None), out_dims=(0, None))(x)[1] is None


def test_what_an_operator_returns_is_a_tree(lib):
    x = batch(lib, 4, 3)
    found = lib.vmap(lambda a: a.max(0))(x)
    equal(lib, found.values, x.max(1).values)
    assert found.indices.tolist() == x.max(1).indices.tolist() and type(found).__name__ == "max"


def test_outputs_without_a_batch_are_repeated(lib):
    x = batch(lib, 4, 3)
    equal(lib, lib.vmap(lambda a: lib.ones(2))(x), lib.ones(4, 2))
    equal(lib, lib.vmap(lambda a: lib.ones(2), out_dims=1)(x), lib.ones(2, 4))
    equal(lib, lib.vmap(lambda a: lib.ones(2), out_dims=None)(x), lib.ones(2))


def test_shapes_are_those_of_a_row(lib):
    seen = []

    def function(a):
        seen.append((tuple(a.shape), a.dim(), a.numel(), len(a), a.size(-1)))
        return a.reshape(-1)[: a.numel() // 2]

    x = batch(lib, 4, 2, 3)
    equal(lib, lib.vmap(function)(x), x.reshape(4, 6)[:, :3])
    assert seen == [((2, 3), 2, 6, 2, 3)]


def test_an_empty_batch(lib):
    assert tuple(lib.vmap(lib.sin)(lib.ones(0, 3)).shape) == (0, 3)


# ---- messages ----

SPEC = r"TreeSpec\(tuple, None, \[\*,\n  \*\]\)"
REFUSED = [
    (lambda lib, x: lib.vmap(lib.sin)(3), ValueError,
     r"vmap\(sin, in_dims=0, ...\)\(<inputs>\): Got in_dim=0 for an input but the input is of type <class 'int'>. We cannot vmap "
     "over non-Tensor arguments, please use None as the respective in_dim"),
    (lambda lib, x: lib.vmap(lib.sin, in_dims=2)(x), ValueError,
     "Got in_dim=2 for some input, but that input is a Tensor of dimensionality 2 so expected in_dim to satisfy -2 <= in_dim < 2."),
    (lambda lib, x: lib.vmap(lib.sin, in_dims=[0])(x), ValueError,
     r"expected `in_dims` to be int or a \(potentially nested\) tuple matching the structure of inputs, got: <class 'list'>."),
    (lambda lib, x: lib.vmap(lib.sin, in_dims=(0, 0))(x), ValueError,
     rf"in_dims is not compatible with the structure of `inputs`. in_dims has structure {SPEC} but inputs has structure "),
    (lambda lib, x: lib.vmap(lib.sin, in_dims=(1.0,))(x), ValueError,
     "Got in_dim=1.0 for an input but in_dim must be either an integer dimension or None."),
    (lambda lib, x: lib.vmap(lib.sin)(), ValueError, r"vmap\(sin\)\(<inputs>\): got no inputs. Maybe you forgot to add inputs"),
    (lambda lib, x: lib.vmap(lib.sin, in_dims=(None,))(x), ValueError, "vmap: Expected at least one Tensor to vmap over"),
    (lambda lib, x: lib.vmap(lib.add)(x, lib.ones(3)), ValueError,
     r"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes \[2, 3\] for the mapped dimension"),
    (lambda lib, x: lib.vmap(lib.sin, out_dims=2)(x), IndexError,
     r"Dimension out of range \(expected to be in range of \[-2, 1\], but got 2\)"),
    (lambda lib, x: lib.vmap(lib.sin, out_dims="a")(x), ValueError,
     r"vmap\(sin, ..., out_dims=a\): `out_dims` must be an int, None or a python collection of ints representing where in the "
     "outputs the vmapped dimension should appear."),
    (lambda lib, x: lib.vmap(lib.sin, out_dims=None)(x), ValueError,
     r"vmap\(sin, ...\): `sin` can not return a BatchedTensor when out_dim is None"),
    (lambda lib, x: lib.vmap(lib.sin, out_dims=(0, 0))(x), ValueError,
     rf"out_dims is not compatible with the structure of `outputs`. out_dims has structure {SPEC} but outputs has structure \*."),
    (lambda lib, x: lib.vmap(lambda a: "text")(x), ValueError,
     r"vmap\(<lambda>, ...\): `<lambda>` must only return Tensors, got type <class 'str'>. Did you mean to set out_dims= to None"),
    (lambda lib, x: lib.vmap(functools.partial(lib.sin))(3), ValueError, r"vmap\(functools.partial\(sin, ...\), in_dims=0"),
    (lambda lib, x: lib.vmap(lib.sin, randomness="x")(x), RuntimeError,
     "Only allowed values for randomness are 'error', 'different', or 'same'. Got x"),
    (lambda lib, x: lib.vmap(lib.sin, chunk_size=0), ValueError,
     r"vmap: chunk_size should be None or greater than 0. \(got 0\)"),
    (lambda lib, x: lib.vmap(lambda a: a.sum().item())(x), RuntimeError, r"vmap: It looks like you're .*calling .item\(\)"),
    (lambda lib, x: lib.vmap(lambda a: float(a.sum()))(x), RuntimeError, r"vmap: It looks like you're .*calling .item\(\)"),
    (lambda lib, x: lib.vmap(lambda a: a if a.sum() > 0 else -a)(x), RuntimeError, "in some data-dependent control flow"),
    (lambda lib, x: lib.vmap(lambda a: lib.randn(3) + a)(x), RuntimeError,
     "called random operation .*while in randomness error mode. Please either use the 'same' or 'different' randomness flags"),
    (lambda lib, x: lib.vmap(lambda a: a.backward())(x), RuntimeError, "backward"),
]  # fmt: skip


@pytest.mark.parametrize("case", range(len(REFUSED)))
def test_messages(lib, case):
    call, error, message = REFUSED[case]
    with pytest.raises(error, match=message):
        call(lib, batch(lib, 2, 3))


@pytest.mark.parametrize(
    "function",
    [
        lambda lib, a: a.nonzero(),
        lambda lib, a: a[a > 0],
        lambda lib, a: a.unique(),
        lambda lib, a: a.masked_select(a > 0),
        lambda lib, a: a.tolist(),
        lambda lib, a: a.numpy(),
        lambda lib, a: a.data_ptr(),
        lambda lib, a: lib.equal(a, a),
        lambda lib, a: lib.allclose(a, a),
        lambda lib, a: a.untyped_storage(),
        lambda lib, a: lib.sin(a, out=lib.empty(3)),
        lambda lib, a: lib.ones(3).add_(a),
        lambda lib, a: __import__("copy").deepcopy(a),
        lambda lib, a: __import__("pickle").dumps(a),
        lambda lib, a: a.sum().requires_grad_().backward(),
    ],
)
def test_what_no_batch_can_do_is_an_error(lib, function):
    with pytest.raises((RuntimeError, NotImplementedError)):
        lib.vmap(lambda a: function(lib, a))(batch(lib, 2, 3))
    equal(lib, lib.vmap(lib.sin)(batch(lib, 2, 3)), batch(lib, 2, 3).sin())  # no level is left


def test_a_change_of_what_is_not_batched_says_which_tensor():
    with pytest.raises(
        RuntimeError, match=r"\[add_?\w*\] changes 'self' in place, which is not batched, with 'other', which is"
    ):
        tenon.vmap(lambda a: tenon.ones(3).add_(a))(batch(tenon, 2, 3))


def test_changes_in_place_of_batched_tensors(lib):
    x, y = batch(lib, 4, 3), batch(lib, 4)

    def function(a, b):
        a = a.clone()
        a[1] = b
        a.mul_(2)
        a[:1].add_(a[2])
        return a

    equal(lib, lib.vmap(function)(x, y), looped(lib, function, x, y))
    kept = x.clone()
    lib.vmap(lambda a: a.mul_(2))(kept)
    equal(lib, kept, x * 2)


def test_positions_that_are_batched(lib):
    x, i = batch(lib, 4, 3), lib.tensor([0, 2, 1, 2])
    rows = lib.arange(4)
    equal(lib, lib.vmap(lambda a, k: a[k])(x, i), x[rows, i])
    equal(lib, lib.vmap(lambda k: x[k])(i), x[i])
    equal(lib, lib.vmap(lambda a, k: a[..., k])(batch(lib, 4, 2, 3), i), batch(lib, 4, 2, 3)[rows, :, i])

    def function(a, k):
        a = a.clone()
        a[k] = 9
        return a

    wanted = x.clone()
    wanted[rows, i] = 9
    equal(lib, lib.vmap(function)(x, i), wanted)


def test_a_tensor_of_a_level_that_has_ended_is_an_error(lib):
    kept = []
    lib.vmap(lambda a: (kept.append(a), a)[1])(batch(lib, 2, 3))
    with pytest.raises(RuntimeError, match="escaped|vmap that has ended"):
        kept[0] + 1


# ---- chunks and random numbers ----


@pytest.mark.parametrize("chunk_size", [1, 2, 3, 5, 9, None])
def test_chunks(lib, chunk_size):
    x, y = batch(lib, 5, 3), batch(lib, 3)
    sizes = []

    def function(a, b):
        sizes.append(1)
        return a * b, {"sum": a.sum()}

    found, sums = lib.vmap(function, (0, None), (1, {"sum": 0}), chunk_size=chunk_size)(x, y)
    equal(lib, found, (x * y).T), equal(lib, sums["sum"], x.sum(1))
    assert len(sizes) == (1 if chunk_size is None else -(-5 // chunk_size))


def test_random_numbers_of_rows(lib):
    x = lib.zeros(4, 3)
    lib.manual_seed(1)
    different = lib.vmap(lambda a: a + lib.randn(3), randomness="different")(x)
    assert len({tuple(row) for row in different.tolist()}) == 4
    same = lib.vmap(lambda a: a + lib.randn(3), randomness="same")(x)
    assert len({tuple(row) for row in same.tolist()}) == 1
    lib.manual_seed(1)
    one = lib.randn(3)
    lib.manual_seed(1)
    equal(lib, lib.vmap(lambda a: a + lib.randn(3), randomness="same")(x), one.expand(4, 3))


def test_random_numbers_of_chunks(lib):
    x = lib.zeros(6, 3)
    lib.manual_seed(1)
    found = lib.vmap(lambda a: a + lib.rand(3), randomness="same", chunk_size=2)(x)
    assert len({tuple(row) for row in found.tolist()}) == 1
    found = lib.vmap(lambda a: a + lib.rand(3), randomness="different", chunk_size=2)(x)
    assert len({tuple(row) for row in found.tolist()}) == 6


def test_dropout_drops_other_elements_in_each_row(lib):
    x = lib.ones(8, 64)
    found = lib.vmap(lambda a: lib.nn.functional.dropout(a, 0.5), randomness="different")(x)
    assert len({tuple(row) for row in found.tolist()}) == 8
    assert set(found.unique().tolist()) == {0.0, 2.0}


# ---- levels ----


def test_levels_nest(lib):
    x, y = batch(lib, 4, 3), batch(lib, 5, 3)
    equal(lib, lib.vmap(lib.vmap(lib.dot, (None, 0)), (0, None))(x, y), x @ y.T)
    equal(lib, lib.vmap(lib.vmap(lib.dot, (None, 0)), (0, None), out_dims=1)(x, y), y @ x.T)
    z = batch(lib, 2, 3, 4)
    equal(lib, lib.vmap(lib.vmap(lib.vmap(lib.sin)))(z), z.sin())
    equal(lib, lib.vmap(lib.vmap(lambda a: a.cumsum(0), 1), 1)(z), z.permute(1, 2, 0).cumsum(2))


def test_tensors_of_outer_levels_are_seen(lib):
    x, y = batch(lib, 4, 3), batch(lib, 5, 3)

    def inner(a):
        return lib.vmap(lambda b: (a * b).sum() + a[0])(y)

    equal(lib, lib.vmap(inner)(x), x @ y.T + x[:, :1])


def test_gradients_through_vmap(lib):
    x = batch(lib, 4, 3).requires_grad_()
    weight = batch(lib, 3).requires_grad_()
    found = lib.vmap(lambda a: (a * weight).sin().sum())(x)
    wanted = (x * weight).sin().sum(1)
    equal(lib, found.detach(), wanted.detach())
    grads = lib.autograd.grad(found.sum(), (x, weight))
    for one, other in zip(grads, lib.autograd.grad(wanted.sum(), (x, weight)), strict=True):
        equal(lib, one, other)


def test_modules_and_bound_methods_are_functions(lib):
    layer = lib.nn.Linear(3, 2)
    x = batch(lib, 4, 3)
    equal(lib, lib.vmap(layer)(x).detach(), layer(x).detach())
    equal(lib, lib.vmap(layer.forward)(x).detach(), layer(x).detach())


# ---- printing ----


def test_printing(lib):
    texts = []

    def function(a):
        texts.append(str(a))
        return a

    lib.vmap(function)(lib.arange(4.0).reshape(2, 2))
    lib.vmap(lib.vmap(function))(lib.arange(4.0).reshape(2, 2))
    assert texts[0] == "BatchedTensor(lvl=1, bdim=0, value=\n    tensor([[0., 1.],\n            [2., 3.]])\n)"
    inner = "    BatchedTensor(lvl=1, bdim=0, value=\n        tensor([[0., 1.],\n                [2., 3.]])\n    )"
    assert texts[1] == f"BatchedTensor(lvl=2, bdim=0, value=\n{inner}\n)"


def test_a_look_at_the_values(lib):
    seen = []

    def function(a):
        seen.append(lib.func.debug_unwrap(a))
        seen.append(lib.func.debug_unwrap(a, recurse=False))
        return a

    x = lib.arange(6.0).reshape(2, 3)
    lib.vmap(lib.vmap(function))(x)
    assert lib.equal(seen[0], x) and re.match("BatchedTensor", repr(seen[1]))


def test_solves_that_broadcast():
    """Dimensions before the matrices broadcast, whichever operand has the batch."""
    tenon.manual_seed(0)
    eye = tenon.eye(3, dtype=tenon.float64)
    several = tenon.randn(5, 3, 3, dtype=tenon.float64).triu() + 3 * eye
    one, right = several[0], tenon.randn(2, 3, 4, dtype=tenon.float64)

    def triangular(a, b):
        return tenon.linalg.solve_triangular(a, b, upper=True)

    def from_the_right(a, b):
        return tenon.linalg.solve_triangular(a, b.mT, upper=True, left=False)

    def cholesky(a, b):
        return tenon.cholesky_solve(b, a, upper=True)

    def factors(a, b):
        return tenon.linalg.lu_solve(*tenon.linalg.lu_factor(a), b)

    for solve in (triangular, from_the_right, cholesky, factors):
        for a, b, dims in (
            (several, right, (None, 0)),
            (several, right, (0, None)),
            (one, tenon.randn(2, 6, 3, 4, dtype=tenon.float64), (None, 0)),
            (several[:2], tenon.randn(2, 6, 3, 4, dtype=tenon.float64), (0, 0)),
            (several[:2], right, (0, 0)),
        ):
            rows = [
                solve(*(x if dim is None else x[i] for x, dim in zip((a, b), dims, strict=True)))
                for i in range(2 if dims[1] == 0 else 5)
            ]
            assert tenon.allclose(tenon.vmap(solve, in_dims=dims)(a, b), tenon.stack(rows)), (solve.__name__, dims)
