"""Gradients at ties, ends of domains, NaN and infinities, and what gradcheck takes; beside PyTorch where it is installed."""

import math
import warnings

import pytest
import tenon

inf, nan = math.inf, math.nan
CORNERS = [nan, -1.0, 0.0, 0.5, 1.0, 2.0, inf, -inf]
ZERO_OR_NAN = object()


def close(found, expected):
    return found == pytest.approx(expected, nan_ok=True)


def gradient(lib, f, values, dtype="float64"):
    x = lib.tensor(values, dtype=getattr(lib, dtype), requires_grad=True)
    (g,) = lib.autograd.grad(f(lib, x).sum(), x)
    return g.tolist()


def functional(name, *args):
    return lambda lib, x: getattr(lib.nn.functional, name)(x, *args)


@pytest.mark.parametrize(
    "f, expected",
    {
        "clamp": (lambda lib, x: x.clamp(0, 1), [0, 0, 0, 1, 0, 0, 0, 0]),
        "clamp to NaN": (lambda lib, x: x.clamp(nan, 1), [0] * 8),
        "clamp, bounds exchanged": (lambda lib, x: x.clamp(1, 0), [0] * 8),
        "clamp, one bound": (lambda lib, x: x.clamp(0.5, 0.5), [0] * 8),
        "clamp min": (lambda lib, x: x.clamp(min=0), [0, 0, 0, 1, 1, 1, 1, 0]),
        "clamp max": (lambda lib, x: x.clamp(max=1), [0, 1, 1, 1, 0, 0, 0, 1]),
        "clamp_min": (lambda lib, x: x.clamp_min(0), [0, 0, 0, 1, 1, 1, 1, 0]),
        "clamp_max": (lambda lib, x: x.clamp_max(1), [0, 1, 1, 1, 0, 0, 0, 1]),
        "logit": (lambda lib, x: x.logit(), [nan, nan, inf, 4, inf, nan, nan, nan]),
        "logit, eps": (lambda lib, x: x.logit(0.1), [ZERO_OR_NAN, 0, 0, 4, 0, 0, 0, 0]),
        "logit, eps 0": (lambda lib, x: x.logit(0.0), [ZERO_OR_NAN, 0, inf, 4, inf, 0, 0, 0]),
        "logit, eps 0.6": (lambda lib, x: x.logit(0.6), [ZERO_OR_NAN, 0, 0, 0, 0, 0, 0, 0]),
        "hardtanh": (functional("hardtanh"), [0, 0, 1, 1, 0, 0, 0, 0]),
        "relu6": (functional("relu6"), [0, 0, 0, 1, 1, 1, 0, 0]),
        "relu": (functional("relu"), [1, 0, 0, 1, 1, 1, 1, 0]),
        "hardsigmoid": (functional("hardsigmoid"), [0, 1 / 6, 1 / 6, 1 / 6, 1 / 6, 1 / 6, 0, 0]),
        "softshrink": (functional("softshrink"), [0, 1, 0, 0, 1, 1, 1, 1]),
        "threshold": (functional("threshold", 0.5, 3), [1, 0, 0, 0, 1, 1, 1, 0]),
    }.values(),
)
def test_gradients_at_corners(lib, f, expected):
    found = gradient(lib, f, CORNERS)
    if expected[0] is ZERO_OR_NAN:
        # PyTorch's kernel for AVX-512 gives NaN, its others 0.
        expected = [nan if lib is not tenon and math.isnan(found[0]) else 0, *expected[1:]]
    assert close(found, expected)
    # PyTorch's kernels of other types do not all agree with themselves, at the ends of a row.
    if lib is tenon:
        assert close(gradient(tenon, f, CORNERS, "float32"), expected)


def test_values_at_corners(lib):
    x = lib.tensor(CORNERS)
    for f, expected in [
        (lambda x: x.clamp(0, 1), [nan, 0, 0, 0.5, 1, 1, 1, 0]),
        (lambda x: x.clamp(nan, 1), [nan] * 8),
        (lambda x: x.clamp_max(nan), [nan] * 8),
        (lib.nn.functional.relu6, [nan, 0, 0, 0.5, 1, 2, 6, 0]),
        (lib.nn.functional.hardsigmoid, [nan, 1 / 3, 0.5, 7 / 12, 2 / 3, 5 / 6, 1, 0]),
    ]:
        assert close(f(x).tolist(), expected)
    assert lib.tensor([-3, 0, 9]).clamp(0, 6).tolist() == [0, 0, 6]


@pytest.mark.parametrize(
    "values, median, nanmedian",
    [
        ([5.0, 5.0, 5.0], [1 / 3] * 3, [1 / 3] * 3),
        ([2.0, 2.0, 1.0], [0.5, 0.5, 0], [0.5, 0.5, 0]),
        ([1.0, 2.0, 2.0, 3.0], [0, 0.5, 0.5, 0], [0, 0.5, 0.5, 0]),
        ([1.0, 2.0, 3.0, 4.0], [0, 1, 0, 0], [0, 1, 0, 0]),
        ([nan, nan, 1.0], [0.5, 0.5, 0], [0, 0, 1]),
        ([nan, nan], [0.5, 0.5], [0.5, 0.5]),
        ([[3.0, 3.0], [3.0, 4.0]], [[1 / 3, 1 / 3], [1 / 3, 0]], [[1 / 3, 1 / 3], [1 / 3, 0]]),
        ([], [], []),
        (3.0, 1, 1),
    ],
)
def test_equal_elements_share_the_gradient_of_the_median(lib, values, median, nanmedian):
    for name, expected in [("median", median), ("nanmedian", nanmedian)]:
        found = lib.tensor(gradient(lib, lambda lib, x, name=name: getattr(lib, name)(x), values)).reshape(-1).tolist()
        assert close(found, lib.tensor(expected).reshape(-1).tolist())


def test_median_in_forward_mode_and_twice(lib):
    fwd = lib.autograd.forward_ad
    with fwd.dual_level():
        x = fwd.make_dual(lib.tensor([2.0, 2.0, 1.0]), lib.tensor([4.0, 6.0, 100.0]))
        assert fwd.unpack_dual(x.median()).tangent.item() == 5 and fwd.unpack_dual(x.nanmedian()).tangent.item() == 5
    x = lib.tensor([3.0, 1.0, 2.0], dtype=lib.float64, requires_grad=True)
    assert lib.autograd.gradgradcheck(lambda x: x.median() * x.nanmedian(), x)
    assert lib.tensor([3, 1, 2]).median() == 2 and lib.ones(2, requires_grad=True).median().requires_grad


@pytest.mark.parametrize(
    "values, jacobian",
    [
        ([inf, inf, 1.0], [[nan, 0, 0], [nan, nan, 0], [nan, nan, 0]]),
        ([1.0, inf, inf, 2.0], [[1, 0, 0, 0], [0, nan, 0, 0], [0, nan, nan, 0], [0, nan, nan, 0]]),
        ([inf, -inf, 1.0], [[nan, 0, 0], [nan, 0, 0], [nan, 0, 0]]),
        ([-inf, -inf, 1.0], [[nan, 0, 0], [nan, nan, 0], [0, 0, 1]]),
        ([1.0, -inf], [[1, 0], [1, 0]]),
        ([1.0, 2.0, 3.0], [[1, 0, 0], [0.26894142, 0.73105858, 0], [0.09003057, 0.24472847, 0.66524096]]),
        ([500.0, -500.0, 1000.0], [[1, 0, 0], [1, 0, 0], [0, 0, 1]]),
    ],
)
def test_logcumsumexp_beside_infinities(values, jacobian):
    """Where PyTorch has NaN for elements that do not count, as well, here are zeros."""
    x = tenon.tensor(values, dtype=tenon.float64, requires_grad=True)
    y = x.logcumsumexp(0)
    for i, row in enumerate(jacobian):
        (g,) = tenon.autograd.grad(y[i], x, retain_graph=True)
        assert close(g.tolist(), row)


def test_derivatives_of_logcumsumexp(lib):
    x = lib.tensor([[0.3, -1.0, 2.0, 0.5, 0.1], [1.0, 1.0, -3.0, 0.7, 4.0]], dtype=lib.float64, requires_grad=True)
    for dim in (0, 1):
        assert lib.autograd.gradcheck(lambda x, dim=dim: x.logcumsumexp(dim), x, check_forward_ad=True)
        assert lib.autograd.gradgradcheck(lambda x, dim=dim: x.logcumsumexp(dim), x)
    half = [100.0, 100.5, 99.0]
    expected = gradient(lib, lambda lib, x: x.logcumsumexp(0), half)
    assert gradient(tenon, lambda lib, x: x.logcumsumexp(0), half, "float16") == pytest.approx(expected, abs=2e-3)
    assert (
        gradient(lib, lambda lib, x: x.logcumsumexp(0), 3.0) == 1
        and gradient(lib, lambda lib, x: x.logcumsumexp(0), []) == []
    )


@pytest.mark.parametrize(
    "p, values, first, second",
    [
        (1.5, [2.0, -1.0, 0.0], [0.90401345, -0.63923401, 0], [0.17709885, 0.35419770, nan]),
        (1.5, [1.0, 2.0], [0.63923401, 0.90401345], [0.11806590, -0.05903295]),
        (0.5, [2.0, -1.0, 0.0], [1.70710678, -2.41421356, 0], [-0.53033009, -1.06066017, nan]),
        (3, [2.0, -1.0, 0.0], [0.92448170, -0.23112042, 0], [0.30816057, 0.61632113, 0]),
        (3, [0.0, 0.0], [0, 0], [0, 0]),
        (4, [0.0, 0.0], [0, 0], [0, 0]),
        (-1, [1.0, 2.0], [0.44444444, 0.11111111], [-0.14814815, 0.07407407]),
    ],
)
def test_second_derivatives_of_norms(lib, p, values, first, second):
    x = lib.tensor(values, dtype=lib.float64, requires_grad=True)
    (g,) = lib.autograd.grad(lib.linalg.vector_norm(x, p), x, create_graph=True)
    assert close(g.tolist(), first)
    (h,) = lib.autograd.grad(g.sum(), x)
    assert close(h.tolist(), second)


def test_norms_of_rows_are_apart(lib):
    x = lib.tensor([[2.0, -1.0], [0.0, 0.0]], dtype=lib.float64, requires_grad=True)
    (g,) = lib.autograd.grad(lib.linalg.vector_norm(x, 3, 1).sum(), x, create_graph=True)
    assert g[1].tolist() == [0, 0] and g[0].tolist() == pytest.approx([0.92448170, -0.23112042])
    assert lib.autograd.grad(g.sum(), x)[0].isfinite().all()


def test_gradients_of_large_norms():
    x = tenon.tensor([2e100, -1e100], dtype=tenon.float64, requires_grad=True)
    for create_graph in (False, True):
        (g,) = tenon.autograd.grad(tenon.linalg.vector_norm(x, 3), x, create_graph=create_graph)
        assert g.tolist() == pytest.approx([0.92448170, -0.23112042])


def test_renormalizing_an_embedding_leaves_its_tangent(lib):
    fwd = lib.autograd.forward_ad
    with fwd.dual_level():
        weight = fwd.make_dual(lib.tensor([[3.0, 4.0], [6.0, 8.0]]), lib.tensor([[1.0, 2.0], [3.0, 4.0]]))
        rows = fwd.unpack_dual(lib.nn.functional.embedding(lib.tensor([0, 1]), weight, max_norm=1.0))
        assert rows.primal.tolist()[0] == pytest.approx([0.6, 0.8], abs=1e-5) and rows.tangent.tolist() == [
            [1, 2],
            [3, 4],
        ]
        assert fwd.unpack_dual(weight).tangent.tolist() == [[1, 2], [3, 4]]


def test_tangents_of_views_that_are_made_without_recording(lib):
    fwd = lib.autograd.forward_ad
    for requires_grad in (True, False):
        with fwd.dual_level():
            a = fwd.make_dual(lib.ones(1, requires_grad=requires_grad), lib.full((1,), 3.0))
            with lib.no_grad():
                v = a.view(1)
                w = a[:1]
            for f, expected in [
                (lambda: v, 3), (lambda: v * 1, 3), (lambda: v + a, 6), (lambda: a - v.sin(), 3 - 3 * math.cos(1)), (lambda: -w, -3),
                (lambda: lib.where(v > 0, v, a), 3), (lambda: v.relu() * w, 6), (lambda: v.sum(), 3), (lambda: lib.cat([v, a])[:1], 3),
                (lambda: (v * 2).mul_(w), 12), (lambda: lib.addcmul(a, v, w), 9),
            ]:  # fmt: skip
                result = f()
                assert fwd.unpack_dual(result).tangent.item() == pytest.approx(expected)
                assert result.requires_grad == requires_grad


def test_interpolate_runs_backward_twice(lib):
    for mode, shape in [
        ("bilinear", (1, 1, 3, 3)),
        ("linear", (1, 1, 3)),
        ("bicubic", (1, 1, 3, 3)),
        ("nearest", (1, 1, 3)),
        ("trilinear", (1, 1, 2, 2, 2)),
    ]:
        x = lib.ones(*shape, requires_grad=True)
        y = lib.nn.functional.interpolate(x, scale_factor=2, mode=mode).sum()
        y.backward()
        y.backward()  # it is linear: nothing is kept
        assert x.grad.sum().item() == pytest.approx(2 * y.item())
    x = lib.ones(1, 1, 2, 2, 2, requires_grad=True)
    y = lib.nn.functional.adaptive_avg_pool3d(x, 1).sum()
    y.backward(retain_graph=True)
    y.backward()


def test_gradcheck_of_results_and_of_little_precision(lib):
    autograd = lib.autograd
    x = lib.tensor([0.5, 1.5], dtype=lib.float64, requires_grad=True)
    options = {"check_forward_ad": True}
    assert autograd.gradcheck(lambda t: t * t.sin(), x * 2, **options) and autograd.gradgradcheck(
        lambda t: t * t.sin(), x * 2
    )
    assert autograd.gradcheck(lambda t: t * t.sin(), (x * 2)[:1], fast_mode=True)
    wrong = type(
        "Wrong",
        (autograd.Function,),
        {"forward": staticmethod(lambda ctx, x: x * 2), "backward": staticmethod(lambda ctx, g: g)},
    )
    assert not autograd.gradcheck(wrong.apply, x * 2, raise_exception=False)
    for dtype in (lib.float32, lib.complex64):
        y = lib.tensor([0.5, 1.5], dtype=dtype, requires_grad=True)
        with pytest.warns(
            UserWarning, match="Input #0 requires gradient and is not a double precision floating point or complex"
        ):
            assert autograd.gradcheck(lambda t: t * t, y, eps=1e-2, atol=1e-2, rtol=1e-2)
        with pytest.warns(UserWarning):
            assert not autograd.gradcheck(wrong.apply, y, eps=1e-2, atol=1e-2, rtol=1e-2, raise_exception=False)
        assert y.tolist() == [0.5, 1.5]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert autograd.gradcheck(lambda t, u: t * u, (x, lib.ones(2)))
