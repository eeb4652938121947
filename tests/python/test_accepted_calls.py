"""Calls that PyTorch understands though no signature says so, and what it says of those it does not."""

import pytest


def test_numbers_first(lib):
    x = lib.tensor([4.0, 8.0])
    assert (
        lib.div(1.0, x).tolist() == [0.25, 0.125]
        and lib.add(1, x).tolist() == [5, 9]
        and lib.sub(1, x, alpha=2).tolist() == [-7, -15]
    )
    assert (
        lib.mul(2, x).tolist() == [8, 16]
        and lib.true_divide(8, x).tolist() == [2, 1]
        and lib.floor_divide(9, x).tolist() == [2, 1]
    )
    assert lib.div(9, x, rounding_mode="floor").tolist() == [2, 1] and lib.subtract(1, x).tolist() == [-3, -7]
    assert lib.multiply(2, x).tolist() == [8, 16] and lib.divide(8, x).tolist() == [2, 1]
    assert lib.add(input=1, other=x).tolist() == [5, 9] and lib.add(1, x, out=lib.empty(2)).tolist() == [5, 9]
    assert lib.add(1j, x).dtype is lib.complex64 and lib.mul(1.5, lib.tensor([2])).dtype is lib.float32
    assert lib.add(True, lib.tensor([1], dtype=lib.int32)).dtype is lib.int32
    for bad in (
        lambda: lib.maximum(1, x),
        lambda: lib.eq(1, x),
        lambda: lib.atan2(1.0, x),
        lambda: lib.rsub(1, x),
        lambda: lib.add("a", x),
    ):
        with pytest.raises(TypeError):
            bad()


def test_numbers_alone(lib):
    assert lib.add(1.0, 2.0).item() == 3 and lib.add(1.0, 2.0).dtype is lib.float32
    assert lib.add(1, 2).dtype is lib.int64 and lib.add(1, 2, alpha=3).item() == 7 and lib.mul(2, 3).item() == 6
    assert (
        lib.div(3, 2).item() == 1.5
        and lib.div(3, 2, rounding_mode="floor").item() == 1
        and lib.floor_divide(3, 2).item() == 1
    )


def test_numbers_first_of_bits(lib):
    x = lib.tensor([3, 8], dtype=lib.int32)
    assert (
        lib.bitwise_and(1, x).tolist() == [1, 0]
        and lib.bitwise_or(1, x).tolist() == [3, 9]
        and lib.bitwise_xor(1, x).tolist() == [2, 9]
    )
    assert lib.bitwise_left_shift(1, x).tolist() == [8, 256] and lib.bitwise_right_shift(16, x).tolist() == [2, 0]
    assert lib.bitwise_and(1, x).dtype is lib.int32 and lib.bitwise_and(True, lib.tensor([True])).dtype is lib.bool
    assert lib.bitwise_and(-1, lib.tensor([3], dtype=lib.uint8)).tolist() == [3]
    with pytest.raises(NotImplementedError):
        lib.bitwise_and(1.5, x)


def test_where_with_a_condition_alone(lib):
    rows, columns = lib.where(lib.tensor([[0, 1], [2, 0]]))
    assert rows.tolist() == [0, 1] and columns.tolist() == [1, 0]
    assert [t.tolist() for t in lib.where(condition=lib.tensor(3))] == [[0]] and isinstance(
        lib.where(lib.tensor([True])), tuple
    )


@pytest.mark.filterwarnings("ignore:This overload of")
def test_orders_of_old(lib):
    v, m, b = lib.ones(2), lib.ones(2, 2), lib.ones(1, 2, 2)
    assert (
        lib.addcmul(v, 2, v, v).tolist() == [3, 3]
        and lib.addcdiv(v, 2, v, v).tolist() == [3, 3]
        and v.addcmul(2, v, v).tolist() == [3, 3]
    )
    assert v.clone().addcmul_(2, v, v).tolist() == [3, 3] and lib.addcmul(v, 2, v, v, out=lib.empty(2)).tolist() == [
        3,
        3,
    ]
    assert (
        lib.add(v, 2, v).tolist() == [3, 3]
        and v.clone().sub_(2, v).tolist() == [-1, -1]
        and v.add(2, v).tolist() == [3, 3]
    )
    assert lib.addmm(2, m, 3, m, m).tolist() == [[8, 8]] * 2 and lib.addmm(2, m, m, m).tolist() == [[4, 4]] * 2
    assert m.addmm(2, m, m).tolist() == [[4, 4]] * 2 and m.clone().addmm_(2, 3, m, m).tolist() == [[8, 8]] * 2
    assert lib.addmv(2, v, 3, m, v).tolist() == [8, 8] and lib.addr(2, m, 3, v, v).tolist() == [[5, 5]] * 2
    assert lib.addbmm(2, m, 3, b, b).tolist() == [[8, 8]] * 2 and lib.baddbmm(2, b, 3, b, b).tolist() == [[[8, 8]] * 2]


def test_orders_of_old_are_deprecated():
    import tenon

    with pytest.warns(UserWarning, match="This overload of addcmul is deprecated"):
        tenon.addcmul(tenon.ones(2), 2, tenon.ones(2), tenon.ones(2))


def test_type_by_name(lib):
    x = lib.ones(2)
    for name, dtype in (
        ("FloatTensor", "float32"),
        ("LongTensor", "int64"),
        ("BFloat16Tensor", "bfloat16"),
        ("Tensor", "float32"),
    ):
        assert x.type("torch." + name).dtype is getattr(lib, dtype)
    assert x.type(lib.float64).dtype is lib.float64 and x.type(x.double().type()).dtype is lib.float64
    for bad in ("foo", "torch.foo", "float", float):
        with pytest.raises(ValueError, match="invalid type"):
            x.type(bad)
    with pytest.raises(TypeError, match="must be a type, str, or dtype"):
        x.type(3)


def test_sizes_are_of_integers(lib):
    size = lib.Size(lib.tensor([1, 2]))
    assert (
        repr(size).endswith("Size([1, 2])") and all(type(n) is int for n in size) and type(lib.Size([True])[0]) is int
    )
    for bad in ([1.5], ["a"]):
        with pytest.raises(TypeError, match="takes an iterable of 'int'"):
            lib.Size(bad)
    for made in (size + (3,), (3,) + size, size * 2, size[1:]):
        assert type(made) is lib.Size
    with pytest.raises(TypeError):
        size + ("a",)
    with pytest.raises(TypeError):
        size + [3]


def test_the_only_element_of_none(lib):
    for convert in (complex, float, int):
        with pytest.raises(ValueError, match="only one element tensors"):
            convert(lib.empty(0))
    assert complex(lib.ones(1, dtype=lib.int64)) == 1


def test_attributes_cannot_be_deleted(lib):
    x = lib.ones(2)
    with pytest.raises(RuntimeError, match="Deleting tensor data is not allowed"):
        del x.data
    with pytest.raises(RuntimeError, match="must be a bool"):
        del x.requires_grad
    with pytest.raises(TypeError, match="has to be a tensor, but got int"):
        x.data = 3


def test_streams_of_dlpack(lib):
    for bad in (object(), "a"):
        with pytest.raises(TypeError, match="stream must be"):
            lib.ones(2).__dlpack__(stream=bad)
    with pytest.raises(AssertionError, match="None on cpu"):
        lib.ones(2).__dlpack__(stream=1)
    lib.ones(2).__dlpack__(stream=-1)


def test_what_arguments_must_be(lib):
    x = lib.ones(1, requires_grad=True)
    for error, text, call in (
        (ValueError, "invalid literal", lambda: lib.manual_seed("a")),
        (ValueError, "Overflow", lambda: lib.manual_seed(2**64)),
        (TypeError, "ByteTensor, but got int", lambda: lib.set_rng_state(3)),
        (TypeError, "must be a .*ByteTensor", lambda: lib.set_rng_state(lib.ones(2))),
        (RuntimeError, "expected a long, but got str", lambda: lib.Generator().manual_seed("a")),
        (TypeError, "must be bool, not str", lambda: lib.set_grad_enabled("a")),
        (TypeError, "must be bool, not str", lambda: lib.autograd.set_detect_anomaly("a")),
        (TypeError, "gradients can be either Tensors or None, but got str", lambda: x.sum().backward("a")),
        (RuntimeError, "have to be Tensors or GradientEdges, but got int", lambda: x.sum().backward(inputs=[3])),
        (TypeError, "not iterable", lambda: lib.autograd.grad(x.sum(), 3)),
        (RuntimeError, "Tensor", lambda: lib.autograd.graph.increment_version(3)),
        (RuntimeError, "capsule", lambda: lib.from_dlpack(3)),
    ):
        with pytest.raises(error, match=text):
            call()
    assert lib.manual_seed(1.5).initial_seed() == 1 and lib.autograd.forward_ad.unpack_dual(3) == (3, None)


def test_numbers_in_texts(lib):
    x = lib.tensor(2.5)
    assert f"{x}" == "2.5" and f"{x:.2f}" == "2.50" and f"{lib.tensor(3)}" == "3" and f"{lib.tensor(True)}" == "True"
    assert f"{x.requires_grad_() * 2}" == "5.0" and str(lib.tensor(2.5)) == "tensor(2.5000)"
    assert f"{lib.ones(1)}" == "tensor([1.])" and f"{lib.nn.Parameter(lib.tensor(2.5))}" == repr(
        lib.nn.Parameter(lib.tensor(2.5))
    )
    assert f"{lib.ones((), device='meta')}" == "tensor(..., device='meta', size=())"
    with pytest.raises(TypeError):
        f"{lib.ones(2):.2f}"


def test_numbers_of_complex_tensors(lib):
    assert int(lib.tensor(3 + 0j)) == 3 and float(lib.tensor(-2.5 + 0j)) == -2.5
    for convert in (int, float):
        with pytest.raises(RuntimeError, match="without overflow"):
            convert(lib.tensor(3 + 1j))


def test_variable(lib):
    assert isinstance(lib.ones(1), lib.autograd.Variable) and lib.autograd.Variable is not None
