"""Numbers beside tensors of narrow dtypes: an operand becomes a value of the promoted dtype first, as if it were an element."""

import pytest

HALF = ["float16", "bfloat16"]


@pytest.mark.parametrize("name", HALF)
def test_a_half_tensor_is_equal_to_the_number_it_was_made_of(lib, name):
    dtype = getattr(lib, name)
    x = lib.full((3,), 0.1, dtype=dtype)
    assert (x == 0.1).all() and (0.1 == x).all() and not (x != 0.1).any()
    assert (x <= 0.1).all() and (x >= 0.1).all() and not (x < 0.1).any() and not (x > 0.1).any()
    assert lib.isin(x, 0.1).all() and x.eq(0.1).all() and lib.eq(x, lib.tensor(0.1)).all()
    assert x.clone().ge_(0.1).all() and 0.1 in x
    assert (x.expand(2, 3) == 0.1).all() and (x[::2] == 0.1).all()


@pytest.mark.parametrize("name", HALF)
def test_half_operands_are_rounded(lib, name):
    dtype = getattr(lib, name)
    x = lib.full((3,), 0.1, dtype=dtype)
    zeros = [0.0] * 3
    assert (x - 0.1).tolist() == zeros and (0.1 - x).tolist() == zeros and (x + -0.1).tolist() == zeros
    assert (x % 0.1).tolist() == zeros and lib.fmod(x, 0.1).tolist() == zeros and (0.1 % x).tolist() == zeros
    assert (0.1 // x).tolist() == [1.0] * 3
    assert (x - lib.tensor(0.1)).tolist() == zeros and lib.remainder(x, lib.tensor(0.1)).tolist() == zeros
    assert x.clone().sub_(0.1).tolist() == zeros and x.clone().requires_grad_().sub(0.1).tolist() == zeros
    assert lib.nn.functional.hardshrink(x, 0.1).tolist() == zeros
    assert lib.nn.functional.softshrink(x, 0.1).tolist() == zeros


def test_the_gradient_of_hardshrink_is_of_the_rounded_threshold(lib):
    x = lib.full((2,), 0.1, dtype=lib.bfloat16, requires_grad=True)
    lib.nn.functional.hardshrink(x, 0.1).sum().backward()
    assert x.grad.tolist() == [0.0, 0.0]


def test_factors_keep_their_precision(lib):
    # 70000 is beyond float16, and 1e-7 below its normal numbers.
    h = lib.tensor([0.25, 0.5], dtype=lib.float16)
    assert (h * 70000).tolist() == [17504.0, 35008.0] and (70000 * h).tolist() == [17504.0, 35008.0]
    assert (h * lib.tensor(70000.0)).tolist() == [17504.0, 35008.0]
    recorded = h.clone().requires_grad_()
    assert (recorded * 70000).tolist() == [17504.0, 35008.0] and (70000 * recorded).tolist() == [17504.0, 35008.0]
    assert (h / 70000).tolist() == [3.5762786865234375e-06, 7.152557373046875e-06]
    assert (h + 70000).tolist() == [float("inf")] * 2 and (h // 70000).tolist() == [0.0, 0.0]


def test_parameters_keep_their_precision(lib):
    x = lib.tensor([-1.0, -3.0], dtype=lib.bfloat16)
    wanted = (x.float() * 0.3).bfloat16()
    assert lib.nn.functional.leaky_relu(x, 0.3).equal(wanted)
    assert lib.addcmul(lib.zeros_like(x), x, lib.ones_like(x), value=0.3).equal(wanted)


def test_integers_wrap_in_the_tensors_dtype(lib):
    u = lib.tensor([0, 1, 254, 255], dtype=lib.uint8)
    assert (u < -1).tolist() == [True, True, True, False] and (u == -1).tolist() == [False, False, False, True]
    assert (u < 300).tolist() == [True, True, False, False] and lib.isin(u, -1).tolist() == [False, False, False, True]
    assert (u < lib.tensor(-1)).tolist() == [True, True, True, False]
    assert (u // -1).tolist() == [0, 0, 0, 1] and u.clone().floor_divide_(-1).tolist() == [0, 0, 0, 1]
    assert (u % -3).tolist() == [0, 1, 1, 2] and lib.fmod(u, 300).tolist() == [0, 1, 34, 35]
    assert (-3 // u[1:]).tolist() == [253, 0, 0] and (300 % u[1:]).tolist() == [0, 44, 44]
    assert (u + 300).tolist() == [44, 45, 42, 43] and (u >> -1).tolist() == [0, 0, 0, 0]
    assert lib.nn.functional.threshold(u, -1, 3).tolist() == [3, 3, 3, 3]
    assert lib.nn.functional.threshold(u, 3, -1).tolist() == [255, 255, 254, 255]
    assert lib.where(u > 1, u, -1).tolist() == [255, 255, 254, 255]
    assert (300 ** u[:2]).tolist() == [1, 44]


def test_integers_of_other_dtypes_wrap(lib):
    i = lib.tensor([0, 1, 2], dtype=lib.int32)
    assert (i == 2**40).tolist() == [True, False, False] and (i < 2**31).tolist() == [False] * 3
    assert (i + 2**40).tolist() == [0, 1, 2]
    b = lib.tensor([0, 1, 2], dtype=lib.int8)
    assert (b < 200).tolist() == [False] * 3 and (b < -200).tolist() == [True] * 3
    # A fraction makes a floating-point operation of it.
    assert (b < 2.5).tolist() == [True] * 3 and (b < 1e10).tolist() == [True] * 3


def test_bounds_are_compared_as_they_are(lib):
    u = lib.tensor([0, 1, 254, 255], dtype=lib.uint8)
    assert u.clamp(-1, 3).tolist() == [0, 1, 3, 3] and u.clamp(3, 300).tolist() == [3, 3, 254, 255]
    assert u.clamp_min(-1).tolist() == u.tolist() and u.clamp_max(300).tolist() == u.tolist()
    hardtanh = lib.nn.functional.hardtanh
    assert hardtanh(u, -1, 300).tolist() == u.tolist()
    assert hardtanh(lib.tensor([0, 127, -128], dtype=lib.int8), -1, 1e9).tolist() == [0, 127, -1]


@pytest.mark.parametrize("number, dtype", [(300, "uint8"), (-256, "uint8"), (128, "int8"), (2**40, "int32")])
def test_numbers_that_are_stored_or_parameters_must_fit(lib, number, dtype):
    x = lib.ones(2, dtype=getattr(lib, dtype))
    yes = lib.tensor([True, False])
    for call in (
        lambda: lib.where(yes, number, x),
        lambda: lib.where(yes, x, number),
        lambda: x.masked_fill(yes, number),
        lambda: lib.nn.functional.threshold(x, number, 3),
        lambda: lib.add(x, x, alpha=number),
    ):
        with pytest.raises(RuntimeError, match="without overflow"):
            call()


def test_an_exponent_must_fit(lib):
    with pytest.raises(RuntimeError, match="without overflow"):
        lib.ones(2, dtype=lib.int8) ** 300


def test_bool_to_the_power_of_bool(lib):
    x = lib.tensor([True, False])
    assert (x**True).tolist() == [True, False] and (x**False).tolist() == [True, True]
    assert (x**True).dtype is lib.bool and (x**2).dtype is lib.int64 and (2**x).tolist() == [2, 1]
    with pytest.raises(NotImplementedError):
        x**x
