"""grad, vjp, jvp, linearize, jacrev, jacfwd, hessian: values beside loops and formulas, nesting, messages; beside PyTorch where it is installed."""

import itertools
import math
import threading

import pytest
import tenon


def vector(lib, *sizes, dtype="float64"):
    count = math.prod(sizes)
    return lib.arange(float(count), dtype=getattr(lib, dtype)).add(0.3).mul(0.7).sin().reshape(sizes)


def equal(lib, one, other, tolerance=1e-9):
    assert one.shape == other.shape, (one.shape, other.shape)
    assert lib.allclose(one, other, rtol=tolerance, atol=tolerance), (one, other)


def differences(lib, function, x, step=1e-6):
    """The Jacobian of a function of one tensor by central differences, [*outputs, *inputs]."""
    columns = []
    for i in range(x.numel()):
        e = lib.zeros(x.numel(), dtype=x.dtype)
        e[i] = step
        e = e.reshape(x.shape)
        columns.append((function(x + e) - function(x - e)) / (2 * step))
    stacked = lib.stack(columns, -1)
    return stacked.reshape(*stacked.shape[:-1], *x.shape)


# ---- grad and vjp ----


def test_grad_of_one_and_of_several_arguments(lib):
    x, y = vector(lib, 3), vector(lib, 3) + 2
    grad = lib.func.grad
    equal(lib, grad(lambda a: (a * a).sum())(x), 2 * x)
    equal(lib, grad(lambda a, b: (a * a * b).sum(), argnums=1)(x, y), x * x)
    equal(lib, grad(lambda a, b: (a * a * b).sum(), argnums=-1)(x, y), x * x)
    one, two = grad(lambda a, b: (a * a * b).sum(), argnums=(1, 0))(x, y)
    equal(lib, one, x * x), equal(lib, two, 2 * x * y)
    assert isinstance(grad(lambda a: a.sum(), argnums=(0,))(x), tuple)


def test_grad_of_trees(lib):
    x = vector(lib, 3)
    found = lib.func.grad(lambda p: (p["a"] * p["b"][0]).sum())({"a": x, "b": [x + 1, x]})
    equal(lib, found["a"], x + 1), equal(lib, found["b"][0], x), equal(lib, found["b"][1], lib.zeros_like(x))


def test_aux_and_value(lib):
    x = vector(lib, 3)
    found, aux = lib.func.grad(lambda a: ((a * a).sum(), {"twice": a * 2}), has_aux=True)(x)
    equal(lib, found, 2 * x), equal(lib, aux["twice"], 2 * x)
    assert not aux["twice"].requires_grad
    found, value = lib.func.grad_and_value(lambda a: (a * a).sum())(x)
    equal(lib, found, 2 * x), equal(lib, value, (x * x).sum())
    found, (value, aux) = lib.func.grad_and_value(lambda a: ((a * a).sum(), a), has_aux=True)(x)
    equal(lib, aux, x)


def test_keyword_arguments_have_no_gradient(lib):
    x = vector(lib, 3)
    equal(lib, lib.func.grad(lambda a, *, scale: (a * scale).sum())(x, scale=x), x)


def test_higher_derivatives(lib):
    x = lib.tensor(0.7, dtype=lib.float64)
    grad = lib.func.grad
    equal(lib, grad(grad(lib.sin))(x), -x.sin())
    equal(lib, grad(grad(grad(lib.sin)))(x), -x.cos())
    # Each derivative is with respect to its own argument.
    equal(lib, grad(lambda a: a * grad(lambda b: a * b)(lib.ones_like(a)))(x), 2 * x)
    equal(lib, grad(lambda a: grad(lambda b: a + b)(a) * a)(x), lib.ones_like(x))


def test_no_grad_inside_and_outside(lib):
    x = vector(lib, 3)
    with lib.no_grad():
        equal(lib, lib.func.grad(lambda a: (a * a).sum())(x), 2 * x)

    def inside(a):
        with lib.no_grad():
            b = a * a
        return (a * b).sum()

    equal(lib, lib.func.grad(inside)(x), x * x)
    with lib.inference_mode():
        equal(lib, lib.func.grad(lambda a: (a * a).sum())(x.clone()), 2 * x)


def test_what_requires_a_gradient_outside_is_recorded(lib):
    x, y = vector(lib, 3), vector(lib, 3).requires_grad_()
    grad = lib.func.grad
    assert not grad(lambda a: (a * a).sum())(x).requires_grad
    assert grad(lambda a: (a * a).sum())(y).requires_grad
    found = grad(lambda a: (a * a * y).sum())(x)
    (second,) = lib.autograd.grad(found.sum(), y)
    equal(lib, second, 2 * x)
    value = lib.func.grad_and_value(lambda a: (a * y).sum())(x)[1]
    assert value.requires_grad
    with lib.no_grad():
        assert not grad(lambda a: (a * a * y).sum())(x).requires_grad
    assert x.grad is None and y.grad is None


def test_detached_and_constant_outputs(lib):
    x = vector(lib, 3)
    equal(lib, lib.func.grad(lambda a: (a.detach() * a).sum())(x), x)
    equal(lib, lib.func.grad(lambda a: lib.ones((), dtype=lib.float64))(x), lib.zeros_like(x))


def test_vjp(lib):
    x, y = vector(lib, 3), vector(lib, 3) + 2
    out, vjp_fn = lib.func.vjp(lambda a, b: (a * b, [a.sum()]), x, y)
    equal(lib, out[0], x * y), equal(lib, out[1][0], x.sum())
    cotangents = (x + 1, [lib.ones((), dtype=x.dtype)])
    for _ in range(2):
        one, two = vjp_fn(cotangents)
        equal(lib, one, (x + 1) * y + 1), equal(lib, two, (x + 1) * x)
    _, vjp_fn, aux = lib.func.vjp(lambda a: (a * a, a + 1), x, has_aux=True)
    equal(lib, aux, x + 1), equal(lib, vjp_fn(x)[0], 2 * x * x)
    equal(lib, lib.vmap(vjp_fn)(lib.eye(3, dtype=x.dtype))[0], lib.diag(2 * x))


# ---- jvp and linearize ----


def test_jvp(lib):
    x, y, v = vector(lib, 3), vector(lib, 3) + 2, vector(lib, 3) - 1
    out, tangent = lib.func.jvp(lambda a: a.sin(), (x,), (v,))
    equal(lib, out, x.sin()), equal(lib, tangent, x.cos() * v)
    out, tangent = lib.func.jvp(lambda a, b: {"p": a * b, "q": a.sum()}, (x, y), (v, x))
    equal(lib, tangent["p"], v * y + x * x), equal(lib, tangent["q"], v.sum())
    out, tangent, aux = lib.func.jvp(lambda a: (a * a, a + 1), (x,), (v,), has_aux=True)
    equal(lib, aux, x + 1), equal(lib, tangent, 2 * x * v)
    equal(lib, lib.func.jvp(lambda a: lib.ones(2), (x,), (v,))[1], lib.zeros(2))
    with pytest.raises(
        RuntimeError, match="The output of f is independent of the inputs. This is not allowed with strict=True"
    ):
        lib.func.jvp(lambda a: lib.ones(2), (x,), (v,), strict=True)


def test_jvps_nest(lib):
    x = lib.tensor(0.7, dtype=lib.float64)
    one = lib.ones_like(x)

    def slope(function):
        return lambda a: lib.func.jvp(function, (a,), (one,))[1]

    equal(lib, slope(slope(lib.sin))(x), -x.sin())
    equal(lib, slope(slope(slope(lib.sin)))(x), -x.cos())
    # Each tangent is that of its own argument.
    equal(lib, slope(lambda a: a * slope(lambda b: a * b)(one))(x), 2 * x)


def test_forward_and_reverse_mode_in_any_order(lib):
    x, v = vector(lib, 3), vector(lib, 3) - 1
    f, grad, jvp = (lambda a: (a.sin() * a).sum()), lib.func.grad, lib.func.jvp
    second = 2 * x.cos() - x * x.sin()
    equal(lib, jvp(grad(f), (x,), (v,))[1], second * v)
    equal(lib, grad(lambda a: jvp(f, (a,), (v,))[1])(x), second * v)
    equal(lib, grad(lambda a: lib.func.vjp(grad(f), a)[1](v)[0].sum())(x),
          differences(lib, lambda a: (lib.func.vjp(grad(f), a)[1](v)[0]).sum(), x), 1e-6)  # fmt: skip


def test_linearize(lib):
    x, calls = vector(lib, 3), []

    def function(a, b):
        calls.append(1)
        return a.sin() * b, [b.sum()]

    (out, _), jvp_fn = lib.func.linearize(function, x, x + 1)
    equal(lib, out, x.sin() * (x + 1))
    for v in (x, x * 2):
        tangent, (total,) = jvp_fn(v, x)
        equal(lib, tangent, x.cos() * (x + 1) * v + x.sin() * x), equal(lib, total, x.sum())
    _, jvp_fn = lib.func.linearize(lambda a: a.sin(), x)
    equal(lib, lib.vmap(jvp_fn)(lib.eye(3, dtype=x.dtype)), lib.diag(x.cos()))
    with pytest.raises(RuntimeError, match="doesn't match the shape"):
        jvp_fn(x[:2])
    with pytest.raises(RuntimeError, match="doesn't match the dtype"):
        jvp_fn(x.float())
    with pytest.raises(RuntimeError, match="to have the same argspec as the primals"):
        jvp_fn(x, x)


def test_linearize_calls_the_function_once():
    calls = []
    x = vector(tenon, 3)
    _, jvp_fn = tenon.func.linearize(lambda a: (calls.append(1), a.exp())[1], x)
    for _ in range(3):
        jvp_fn(x)
    assert calls == [1]


# ---- Jacobians ----


def net(lib, x):
    w = vector(lib, 4, x.shape[-1])
    return (w @ x).tanh()


@pytest.mark.parametrize("name", ["jacrev", "jacfwd"])
def test_jacobians(lib, name):
    jac, x = getattr(lib.func, name), vector(lib, 3)
    equal(lib, jac(lambda a: net(lib, a))(x), differences(lib, lambda a: net(lib, a), x), 1e-6)
    y = vector(lib, 2, 3)
    equal(lib, jac(lambda a: a.sin())(y), lib.diag(y.reshape(-1).cos()).reshape(2, 3, 2, 3))
    one, two = jac(lambda a, b: a * b, argnums=(0, 1))(x, y)
    equal(lib, one, lib.stack([lib.diag(row) for row in y])), equal(lib, two.sum((0, 1)), x.expand(2, 3))
    found = jac(lambda p: (p["a"] * 2, [p["b"].sum()]))({"a": x, "b": y})
    equal(lib, found[0]["a"], 2 * lib.eye(3, dtype=x.dtype)), equal(lib, found[1][0]["b"], lib.ones_like(y))
    equal(lib, found[0]["b"], lib.zeros(3, 2, 3, dtype=x.dtype))
    found, aux = jac(lambda a: (a * a, a + 1), has_aux=True)(x)
    equal(lib, aux, x + 1), equal(lib, found, lib.diag(2 * x))
    equal(lib, jac(lambda a: a.sum())(x), lib.ones_like(x))


@pytest.mark.parametrize("chunk_size", [1, 2, 3, 4, 7, None])
def test_jacobians_in_chunks(lib, chunk_size):
    x = vector(lib, 3)
    found = lib.func.jacrev(lambda a: (net(lib, a), a.sum()), chunk_size=chunk_size)(x)
    equal(lib, found[0], lib.func.jacfwd(lambda a: net(lib, a))(x)), equal(lib, found[1], lib.ones_like(x))


def test_hessians(lib):
    x, y = vector(lib, 3), vector(lib, 2)
    f = lambda a: net(lib, a).square().sum()  # noqa: E731
    wanted = differences(lib, lib.func.grad(f), x)
    equal(lib, lib.func.hessian(f)(x), wanted, 1e-6)
    for outer in ("jacrev", "jacfwd"):
        for inner in ("jacrev", "jacfwd"):
            found = getattr(lib.func, outer)(getattr(lib.func, inner)(f))(x)
            equal(lib, found, wanted, 1e-6)
    blocks = lib.func.hessian(lambda a, b: (a.sum() ** 2 * b).sum(), argnums=(0, 1))(x, y)
    equal(lib, blocks[0][0], (2 * y.sum()).expand(3, 3)), equal(lib, blocks[0][1], (2 * x.sum()).expand(3, 2))
    equal(lib, blocks[1][1], lib.zeros(2, 2, dtype=x.dtype))


@pytest.mark.parametrize("names", list(itertools.product(["jacrev", "jacfwd"], repeat=3)), ids="-".join)
def test_third_derivatives(lib, names):
    x = vector(lib, 2)
    f = lambda a: (a.sin() * a.sum()).sum()  # noqa: E731
    for name in names:
        f = getattr(lib.func, name)(f)
    wanted = differences(lib, lib.func.hessian(lambda a: (a.sin() * a.sum()).sum()), x)
    equal(lib, f(x), wanted, 1e-6)


def test_derivatives_of_every_row(lib):
    x = vector(lib, 5, 3)
    f = lambda a: net(lib, a).square().sum()  # noqa: E731
    for transform in (lib.func.grad, lib.func.jacrev, lib.func.jacfwd, lib.func.hessian):
        equal(lib, lib.vmap(transform(f))(x), lib.stack([transform(f)(row) for row in x]))
    for transform in (lib.func.jacrev, lib.func.jacfwd):
        g = transform(lambda a: (net(lib, a), a.sin() * a.sum()))
        for one, other in zip(lib.vmap(g)(x), zip(*(g(row) for row in x), strict=True), strict=True):
            equal(lib, one, lib.stack(other))
    y = vector(lib, 2, 5, 3)
    h = lib.func.jacrev(lambda a: a.sin() * a.sum())
    equal(lib, lib.vmap(lib.vmap(h), 1, 1)(y), lib.stack([lib.stack([h(a) for a in b]) for b in y]))
    v = vector(lib, 5, 3) + 1
    found = lib.vmap(lambda a, b: lib.func.jvp(f, (a,), (b,))[1])(x, v)
    equal(lib, found, lib.stack([lib.func.jvp(f, (a,), (b,))[1] for a, b in zip(x, v, strict=True)]))


def test_linearize_of_every_row():
    x = vector(tenon, 5, 3)
    found = tenon.vmap(lambda a: tenon.func.linearize(tenon.sin, a)[1](a))(x)
    equal(tenon, found, x.cos() * x)


def test_derivatives_of_a_batch(lib):
    x = vector(lib, 5, 3)
    f = lambda a: lib.vmap(lambda b: (b.sin() * b.sum()).sum())(a).sum()  # noqa: E731
    equal(lib, lib.func.grad(f)(x), differences(lib, f, x), 1e-6)
    equal(lib, lib.func.hessian(f)(x), differences(lib, lib.func.grad(f), x), 1e-6)


def test_a_batch_of_directions_of_one_point(lib):
    x, v = vector(lib, 3), vector(lib, 4, 3)
    f = lambda a: net(lib, a)  # noqa: E731
    found = lib.vmap(lambda b: lib.func.jvp(f, (x,), (b,))[1])(v)
    equal(lib, found, v @ lib.func.jacrev(f)(x).T)


def test_threads_have_levels_of_their_own():
    x = vector(tenon, 5, 3)
    f = lambda a: net(tenon, a).square().sum()  # noqa: E731
    wanted, wrong = tenon.stack([tenon.func.hessian(f)(row) for row in x]), []

    def work():
        for _ in range(5):
            if not tenon.allclose(tenon.vmap(tenon.func.hessian(f))(x), wanted):
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


# ---- messages ----

REFUSED = [
    (lambda f, x: f.grad(lambda a: a)(x), RuntimeError,
     r"grad_and_value\(f\)\(\*args\): Expected f\(\*args\) to return a scalar Tensor, got tensor with 2 dims. Maybe you wanted"),
    (lambda f, x: f.grad(lambda a: 3)(x), RuntimeError, r"Expected f\(\*args\) to return a Tensor, got <class 'int'>"),
    (lambda f, x: f.grad(lambda a: a.sum())(3), ValueError, "Thing passed to transform API must be Tensor, got <class 'int'>"),
    (lambda f, x: f.grad(lambda a: a.sum(), argnums=1)(x), RuntimeError, "Got argnum=1, but only 1 positional inputs"),
    (lambda f, x: f.grad(lambda a: a.sum(), argnums=())(x), RuntimeError, "argnums must be non-empty"),
    (lambda f, x: f.grad(lambda a: a.sum(), argnums=(0, 0))(x), RuntimeError, r"argnums elements must be unique, got \(0, 0\)"),
    (lambda f, x: f.grad(lambda a: a.sum(), argnums="a")(x), RuntimeError, "argnums must be int or Tuple"),
    (lambda f, x: f.grad(lambda a: a.sum(), has_aux=True)(x), RuntimeError,
     r"output of function f should be a tuple: \(output, aux\) if has_aux is True"),
    (lambda f, x: f.grad(lambda a: (a.sum(), 5), has_aux=True)(x), RuntimeError, "Expected tensors, got unsupported type"),
    (lambda f, x: f.grad(lambda a: a.sum())(x.long()), RuntimeError, "can require gradients"),
    (lambda f, x: f.vjp(lambda a: (a, 2), x), RuntimeError,
     r"vjp\(f, \*primals\): expected f\(\*primals\) to return only tensors, got unsupported type <class 'int'>"),
    (lambda f, x: f.vjp(lambda a: None, x), RuntimeError, r"non-empty output \(got output = \[None\]\)"),
    (lambda f, x: f.vjp(lambda a: a.long(), x), RuntimeError,
     r"vjp\(f, ...\): All outputs of f must be floating-point or complex Tensors, got Tensor with dtype \w+.int64"),
    (lambda f, x: f.vjp(lambda a: a, x)[1]((x, x)), RuntimeError,
     r"Expected pytree structure of cotangents to be the same as pytree structure of outputs to the function. cotangents: \(\*, "
     r"\*\), primal output: \*"),
    (lambda f, x: f.vjp(lambda a: a, x)[1](x[0]), RuntimeError, "Mismatch in shape"),
    (lambda f, x: f.jvp(lambda a: a, x, x), RuntimeError, r"Expected primals to be a tuple. E.g. it should be valid to call"),
    (lambda f, x: f.jvp(lambda a: a, (x,), (x, x)), RuntimeError,
     "Expected primals and tangents to have the same python structure. For example, if primals is a tuple of 3 tensors"),
    (lambda f, x: f.jvp(lambda a: a, (x,), (x[0],)), RuntimeError,
     "Trying to set a forward gradient that has a different size than that of the original Tensor"),
    (lambda f, x: f.jvp(lambda a: a, (3,), (3,)), RuntimeError, "Expected primals to only contain Tensors, got <class 'int'>"),
    (lambda f, x: f.jvp(lambda a: a, (), ()), RuntimeError, "Expected primals to contain at least one Tensor."),
    (lambda f, x: f.jvp(lambda a: 3, (x,), (x,)), RuntimeError, "to return only tensors, got unsupported type <class 'int'>"),
    (lambda f, x: f.jacrev(lambda a: a)(x * 1j), RuntimeError,
     "jacrev: Expected all inputs to be real but received complex tensor at flattened input idx: 0"),
    (lambda f, x: f.jacfwd(lambda a: a * 1j)(x), RuntimeError,
     "jacfwd: Expected all outputs to be real but received complex tensor at flattened input idx: 0"),
    (lambda f, x: f.jacrev(lambda a: a, chunk_size=0), ValueError, "jacrev: `chunk_size` should be greater than 0."),
    (lambda f, x: f.functionalize(lambda a: a, remove="x"), RuntimeError, "received invalid argument for remove=x"),
]  # fmt: skip


@pytest.mark.parametrize("case", range(len(REFUSED)))
def test_messages(lib, case):
    call, error, message = REFUSED[case]
    with pytest.raises(error, match=message):
        call(lib.func, vector(lib, 2, 3))


def test_functionalize_computes_the_same(lib):
    x = vector(lib, 3)

    def function(a):
        b = a.clone()
        b[0] = 2
        b.mul_(3)
        return b

    for remove in ("mutations", "mutations_and_views"):
        equal(lib, lib.func.functionalize(function, remove=remove)(x), function(x))


# ---- autograd's own functions ----


def test_vectorized_jacobians_take_one_pass(lib):
    x, passes = vector(lib, 3), []

    def function(a):
        b = a.sin()
        if b.requires_grad:
            b.register_hook(lambda grad: passes.append(1))
        return b * a.sum(), b.sum()

    functional = lib.autograd.functional
    wanted = functional.jacobian(function, x)
    passes.clear()
    found = functional.jacobian(function, x, vectorize=True)
    assert passes == [1]
    for one, other in zip(found, wanted, strict=True):
        equal(lib, one, other)
    for one, other in zip(
        functional.jacobian(function, x, vectorize=True, strategy="forward-mode"), wanted, strict=True
    ):
        equal(lib, one, other)


def test_vectorized_jacobians_of_several_inputs(lib):
    x, y = vector(lib, 3), vector(lib, 2, 3) + 2
    functional = lib.autograd.functional

    def function(a, b):
        return a * b, a.sum(), lib.ones(2, dtype=a.dtype)

    for strategy in ("reverse-mode", "forward-mode"):
        found = functional.jacobian(function, (x, y), vectorize=True, strategy=strategy)
        for row, wanted in zip(found, functional.jacobian(function, (x, y)), strict=True):
            for one, other in zip(row, wanted, strict=True):
                equal(lib, one, other)
    z = x.clone().requires_grad_()
    (jac,) = functional.jacobian(lambda a: (a**3,), z, vectorize=True, create_graph=True)
    equal(lib, lib.autograd.grad(jac.sum(), z)[0], 6 * x)


def test_vectorized_hessians(lib):
    x, y = vector(lib, 3), vector(lib, 3) + 2
    functional = lib.autograd.functional
    f = lambda a, b: (a**3 * b).sum()  # noqa: E731
    for strategy in ("reverse-mode", "forward-mode"):
        found = functional.hessian(f, (x, y), vectorize=True, outer_jacobian_strategy=strategy)
        for row, wanted in zip(found, functional.hessian(f, (x, y)), strict=True):
            for one, other in zip(row, wanted, strict=True):
                equal(lib, one, other)
    with pytest.raises(RuntimeError, match="should contain a single element"):
        functional.hessian(lambda a: a, x, vectorize=True)


def test_gradients_of_several_cotangents_take_one_pass(lib):
    x, passes = vector(lib, 3).requires_grad_(), []
    b = x.sin()
    b.register_hook(lambda grad: passes.append(1))
    (found,) = lib.autograd.grad(b * x, x, lib.eye(3, dtype=x.dtype), is_grads_batched=True)
    equal(lib, found, lib.diag(x.detach().cos() * x.detach() + x.detach().sin()))
    assert passes == [1]
