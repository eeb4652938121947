"""autograd.Functions of users under transforms: the vmap rule, the rule that is made, messages; beside PyTorch where it is installed."""

import pytest
import tenon


def rows(lib, *sizes):
    count = 1
    for size in sizes:
        count *= size
    return lib.arange(float(count), dtype=lib.float64).mul(0.37).sin().reshape(sizes)


def equal(lib, one, other):
    assert one.shape == other.shape and lib.allclose(one, other, rtol=1e-9, atol=1e-9), (one, other)


def make(lib, **members):
    """x * y, whose backward says 10 times the gradient, so that one sees it was called."""

    class Product(lib.autograd.Function):
        @staticmethod
        def forward(x, y):
            return x * y

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(*inputs)

        @staticmethod
        def backward(ctx, grad):
            x, y = ctx.saved_tensors
            return 10 * grad * y, 10 * grad * x

        @staticmethod
        def jvp(ctx, one, two):
            x, y = ctx.saved_tensors
            return 10 * (one * y + x * two)

    for name, value in members.items():
        setattr(Product, name, value)
    return Product


def test_a_rule(lib):
    seen = []

    def rule(info, in_dims, x, y):
        seen.append((info.batch_size, info.randomness, in_dims, tuple(x.shape), tuple(y.shape)))
        if in_dims[0] is not None:
            x = x.movedim(in_dims[0], 0)
        if in_dims[1] is not None:
            y = y.movedim(in_dims[1], 0)
        return Product.apply(x, y), 0

    Product = make(lib, vmap=staticmethod(rule))
    x, y = rows(lib, 4, 3), rows(lib, 3) + 1
    equal(lib, lib.vmap(Product.apply, (0, None))(x, y), x * y)
    equal(lib, lib.vmap(Product.apply, randomness="same")(x, x), x * x)
    assert seen == [(4, "error", (0, None), (4, 3), (3,)), (4, "same", (0, 0), (4, 3), (4, 3))]
    found = lib.vmap(lib.func.grad(lambda a, b: Product.apply(a, b).sum()), (0, None))(x, y)
    equal(lib, found, 10 * y.expand(4, 3))
    z = rows(lib, 2, 4, 3)
    equal(lib, lib.vmap(lib.vmap(Product.apply))(z, z + 1), z * (z + 1))


def test_a_rule_may_give_several_outputs(lib):
    class Both(lib.autograd.Function):
        @staticmethod
        def forward(x):
            return x.sin(), x.cos()

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def backward(ctx, one, two):
            return one + two

        @staticmethod
        def vmap(info, in_dims, x):
            x = x.movedim(in_dims[0], 0)
            return (x.sin(), x.cos().movedim(0, -1)), (0, -1)

    x = rows(lib, 4, 3)
    one, two = lib.vmap(Both.apply)(x)
    equal(lib, one, x.sin()), equal(lib, two, x.cos())


def test_what_is_not_batched_needs_no_rule():
    Product = make(tenon)
    x, y = rows(tenon, 4, 3), rows(tenon, 3)
    equal(tenon, tenon.vmap(lambda a: a + Product.apply(y, y))(x), x + y * y)


def test_the_rule_that_is_made(lib):
    Product = make(lib, generate_vmap_rule=True)
    x, y = rows(lib, 4, 3), rows(lib, 3) + 1
    equal(lib, lib.vmap(Product.apply, (0, None))(x, y), x * y)
    f = lambda a, b: Product.apply(a, b).sum()  # noqa: E731
    found = lib.vmap(lib.func.grad(f, argnums=(0, 1)), (0, None))(x, y)
    equal(lib, found[0], 10 * y.expand(4, 3)), equal(lib, found[1], 10 * x)
    # Outside of vmap what is not batched gets the sum of all rows.
    found = lib.func.grad(lambda a, b: lib.vmap(Product.apply, (0, None))(a, b).sum(), argnums=(0, 1))(x, y)
    equal(lib, found[0], 10 * y.expand(4, 3)), equal(lib, found[1], 10 * x.sum(0))
    found = lib.vmap(lib.vmap(Product.apply, (None, 0)), (0, None))(x, rows(lib, 5, 3))
    equal(lib, found, x.unsqueeze(1) * rows(lib, 5, 3))
    equal(lib, lib.func.jacrev(lambda a: lib.vmap(Product.apply, (0, None))(a, y))(x).sum((0, 1)), 10 * y.expand(4, 3))


def test_forward_mode_of_the_rule_that_is_made(lib):
    Product = make(lib, generate_vmap_rule=True)
    x, y = rows(lib, 4, 3), rows(lib, 3) + 1
    _, found = lib.func.jvp(lib.vmap(Product.apply, (0, None)), (x, y), (x, y))
    equal(lib, found, 20 * x * y)
    found = lib.vmap(lambda a: lib.func.jvp(lambda b: Product.apply(b, y), (a,), (a,))[1])(x)
    equal(lib, found, 10 * x * y)


def test_transforms_of_a_function_outside_of_vmap(lib):
    Product = make(lib)
    x, y = rows(lib, 3), rows(lib, 3) + 1
    f = lambda a: Product.apply(a, y).sum()  # noqa: E731
    equal(lib, lib.func.grad(f)(x), 10 * y)
    equal(lib, lib.func.vjp(lambda a: Product.apply(a, y), x)[1](x)[0], 10 * x * y)
    equal(lib, lib.func.jvp(lambda a: Product.apply(a, y), (x,), (x,))[1], 10 * x * y)
    equal(
        lib,
        lib.func.grad(lambda a: lib.func.grad(lambda b: Product.apply(b, b).sum())(a).sum())(x),
        20 + lib.zeros(3, dtype=x.dtype),
    )


def test_arguments_that_are_no_tensors(lib):
    class Scaled(lib.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x, scale, others):
            return x * scale + others[0]

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.scale = inputs[1]

        @staticmethod
        def backward(ctx, grad):
            assert ctx.needs_input_grad[0]
            return grad * ctx.scale, None, None

    x, y = rows(lib, 4, 3), rows(lib, 3)
    equal(lib, lib.vmap(lambda a: Scaled.apply(a, 3, [y]))(x), 3 * x + y)
    equal(lib, lib.vmap(lib.func.grad(lambda a: Scaled.apply(a, 3, [y]).sum()))(x), 3 + lib.zeros_like(x))


def test_messages(lib):
    x = rows(lib, 4, 3)
    refused = lambda function, message: pytest.raises(RuntimeError, match=message)  # noqa: E731
    with refused(
        0,
        "You tried to vmap over Product, but it does not have vmap support. Please override and implement the vmap staticmethod",
    ):
        lib.vmap(make(lib).apply)(x, x)
    both = make(lib, generate_vmap_rule=True, vmap=staticmethod(lambda info, in_dims, x, y: (x, 0)))
    with refused(0, "both generate_vmap_rule=True and an overridden vmap staticmethod"):
        lib.vmap(both.apply)(x, x)
    for result, message in (
        (
            x,
            "to have two returns, an output and out_dims with pytree structure compatible with the output. Got a .* instead",
        ),
        ((x, 0, 0), "Got 3 returns instead"),
        ((x, (0, 0)), r"Expected out_dims=\(0, 0\) to be compatible with the structure of `output`"),
    ):
        with refused(0, message):
            lib.vmap(make(lib, vmap=staticmethod(lambda *_, result=result: result)).apply)(x, x)


def test_the_form_with_ctx_first():
    class Square(tenon.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            return 20 * grad * ctx.saved_tensors[0]

    x = rows(tenon, 4, 3)
    equal(tenon, tenon.vmap(Square.apply)(x), x * x)
    equal(tenon, tenon.vmap(tenon.func.grad(lambda a: Square.apply(a).sum()))(x), 20 * x)
    equal(tenon, tenon.func.jacrev(tenon.vmap(Square.apply))(x).sum((2, 3)), 20 * x)
