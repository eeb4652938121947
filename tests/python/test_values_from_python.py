"""Tensors of what Python and numpy have: which dtype they get, which numbers fit, whose memory it is."""

import array
import warnings

import numpy as np
import pytest
import tenon


def test_numpys_scalars_say_what_they_are(lib):
    for value in (
        np.float64(0.1),
        np.complex128(1j),
        np.float32(1),
        np.float16(1),
        np.complex64(1),
        np.int16(3),
        np.uint8(3),
        np.bool_(True),
    ):
        wanted = getattr(lib, value.dtype.name)
        assert lib.tensor(value).dtype is wanted and lib.tensor([value]).dtype is wanted
        assert lib.as_tensor(value).dtype is wanted and lib.asarray([value]).dtype is wanted
    assert lib.tensor([np.float64(0.1)]).item() == 0.1
    assert lib.tensor([1, np.float64(2)]).dtype is lib.float64 and lib.tensor([np.float16(3), 1]).dtype is lib.float16
    assert lib.tensor([np.int64(2**53 + 1), np.float64(1)]).dtype is lib.float64
    assert lib.tensor([lib.tensor(1.0), np.float64(2)]).dtype is lib.float64
    assert lib.tensor(0.1).dtype is lib.float32 and lib.tensor([1j]).dtype is lib.complex64


def test_lists_of_arrays_have_the_arrays_dtype(lib):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        x = lib.tensor([np.full(2, 0.1), np.ones(2)])
    texts = [str(one.message) for one in caught]
    # PyTorch says it once in a process.
    assert lib is not tenon or any("list of numpy.ndarrays is extremely slow" in text for text in texts)
    assert x.dtype is lib.float64 and x.tolist() == [[0.1, 0.1], [1.0, 1.0]]
    assert lib.as_tensor((np.ones(1),)).dtype is lib.float64


def test_batches_of_numpys_numbers_keep_their_dtype(lib):
    collate = lib.utils.data.default_collate
    assert collate([np.float64(0.1), np.float64(2)]).dtype is lib.float64
    assert collate([(np.float32(1), 2.0)] * 2)[0].dtype is lib.float32


def test_equality_with_arrays_is_by_element(lib):
    x = lib.tensor([1.0, 2.0])
    for equal in (x == np.array([1.0, 3.0]), np.array([1.0, 3.0]) == x):
        assert isinstance(equal, lib.Tensor) and equal.tolist() == [True, False]
    assert (x == np.array(1.0)).tolist() == [True, False]
    assert (x == np.array(["a", "b"])) is False and (x == [1.0, 2.0]) is False
    with pytest.raises(RuntimeError, match="must match"):
        x == np.ones(3)


def test_inequality_with_arrays_is_by_element():
    import tenon

    x = tenon.tensor([1.0, 2.0])
    assert (x == np.array([2.0, 1.0])[::-1]).all() and (x == np.arange(4.0).reshape(2, 2).T[1:]).tolist() == [
        [True, False]
    ]
    assert (x != np.array([1.0, 3.0])).tolist() == [False, True] and (np.array([1.0, 3.0]) != x).tolist() == [
        False,
        True,
    ]


@pytest.mark.parametrize(
    "number, dtype",
    [(2**40, "int32"), (300, "uint8"), (-256, "uint8"), (128, "int8"), (40000, "int16"), (70000, "uint16"), (1e20, "int64"),
     (float("inf"), "int64"), (float("nan"), "int32"), (-1.5, "uint8"), (np.int64(300), "uint8"), (np.float64(1e20), "int64")],
)  # fmt: skip
def test_numbers_that_do_not_fit_are_an_error(lib, number, dtype):
    dtype = getattr(lib, dtype)
    with pytest.raises(RuntimeError, match="without overflow"):
        lib.tensor(number, dtype=dtype)
    for make in (lib.tensor, lib.as_tensor, lib.asarray, lambda n, dtype: lib.ones(1, dtype=dtype).new_tensor(n)):
        with pytest.raises(RuntimeError, match="without overflow"):
            make([number], dtype=dtype)


def test_complex_numbers_are_no_real_ones(lib):
    for dtype in (lib.float32, lib.float16, lib.int64):
        for number in (1j, 1 + 0j):
            with pytest.raises(TypeError):
                lib.tensor(number, dtype=dtype)
    assert lib.tensor(1j, dtype=lib.bool).item() is True


def test_integers_beyond_int64(lib):
    assert lib.tensor(2**64, dtype=lib.float64).item() == 2.0**64 and lib.tensor([0.5, 10**21]).tolist() == [
        0.5,
        float(np.float32(10**21)),
    ]
    assert lib.tensor([1j, 2**70]).dtype is lib.complex64 and lib.tensor(2**64, dtype=lib.float16).item() == float(
        "inf"
    )
    assert lib.tensor([2**63 + 1, 2], dtype=lib.uint64).tolist() == [2**63 + 1, 2]
    assert lib.tensor(2**64 - 1, dtype=lib.uint64).item() == 2**64 - 1
    assert lib.tensor((float("nan"), -(2**63) - 1, 0), dtype=lib.bool).tolist() == [True, True, False]
    for bad, dtype in ((2**64, lib.uint64), (-1, lib.uint64), (10**400, lib.float64)):
        with pytest.raises(OverflowError):
            lib.tensor(bad, dtype=dtype)
    for bad in (2**63, [2**63], -(2**63) - 1, [True, 10**21]):
        with pytest.raises(ValueError, match="Overflow"):
            lib.tensor(bad)


def test_types_that_are_only_stored_convert(lib):
    for name in ("uint16", "uint32", "uint64", "float8_e5m2", "float8_e4m3fn", "float8_e5m2fnuz", "float8_e4m3fnuz"):
        stored = lib.tensor([[0, 1], [3, 100]], dtype=lib.float64).t().to(getattr(lib, name))
        expected = [[0, 3], [1, 100 if name[0] == "u" else 96]]
        assert stored.to(lib.int32).tolist() == expected and stored.to(lib.float16).tolist() == expected
        assert (
            stored.to(lib.bool).tolist() == [[False, True], [True, True]]
            and stored.to(lib.uint64).to(lib.complex64)[1, 0].item() == 1
        )
    assert lib.tensor([-1, -1.5]).to(lib.uint16).tolist() == [65535, 65535] and lib.tensor([2.0**63]).to(
        lib.uint64
    ).tolist() == [2**63]
    assert lib.tensor([-1]).to(lib.uint64).to(lib.float64).tolist() == [2.0**64]


def test_embeddings_are_renormalized(lib):
    rows = lib.nn.Embedding.from_pretrained(lib.tensor([[3.0, 4.0], [30.0, 40.0]]), max_norm=1.0)
    assert np.allclose(rows(lib.tensor([0])).tolist(), [[0.6, 0.8]]) and rows.weight[1].tolist() == [30, 40]
    assert repr(rows) == "Embedding(2, 2, max_norm=1.0)" and rows.norm_type == 2


def test_what_fits_is_converted(lib):
    assert (
        lib.tensor([-1, -255], dtype=lib.uint8).tolist() == [255, 1]
        and lib.tensor(-1, dtype=lib.uint16).item() == 65535
    )
    assert (
        lib.tensor([1.9, -1.9], dtype=lib.int32).tolist() == [1, -1]
        and lib.tensor(255.5, dtype=lib.uint8).item() == 255
    )
    assert lib.tensor([0.3, 2.0], dtype=lib.float8_e5m2).to(lib.float32).tolist() == [0.3125, 2.0]
    assert (
        lib.tensor(1e300, dtype=lib.float32).item() == float("inf")
        and lib.tensor(0.3, dtype=lib.float8_e5m2).item() == 0.3125
    )
    assert (
        lib.tensor([1, 65535], dtype=lib.uint16).tolist() == [1, 65535] and lib.tensor(7, dtype=lib.uint32).item() == 7
    )


def test_asarray_shares_the_memory_of_buffers(lib):
    for wrapped in (lambda a: a, memoryview):
        numbers = array.array("f", [1, 2])
        x = lib.asarray(wrapped(numbers))
        x[0] = 65
        assert x.dtype is lib.float32 and numbers[0] == 65
        lib.asarray(wrapped(numbers), copy=True)[1] = 9
        assert numbers[1] == 2
    assert lib.asarray(array.array("i", [1, 2])).dtype is lib.int32
    text = bytearray(b"abc")
    lib.asarray(text, dtype=lib.uint8)[0] = 65
    assert text == b"Abc"
    assert lib.asarray(memoryview(array.array("f", [1, 2])), dtype=lib.int32).tolist() == [0x3F800000, 0x40000000]


def test_asarray_of_dlpacks_capsules(lib):
    x = lib.ones(2)
    y = lib.asarray(x.__dlpack__())
    y[0] = 5
    assert x.tolist() == [5, 1] and lib.asarray(x.__dlpack__(), dtype=lib.float64).dtype is lib.float64


def test_asarray_never_copies_where_copies_are_forbidden(lib):
    for bad, dtype in (([1, 2], None), (1.5, None), (np.ones(2), lib.float32), (lib.ones(2), lib.float64)):
        with pytest.raises(ValueError, match="can't alias"):
            lib.asarray(bad, dtype=dtype, copy=False)
    x = lib.ones(2)
    assert lib.asarray(x, copy=False) is x and lib.asarray(x, copy=True) is not x
    assert (
        lib.asarray(np.ones(2), requires_grad=True).requires_grad
        and not lib.asarray(lib.ones(2, requires_grad=True), requires_grad=False).requires_grad
    )


def test_arrays_of_tensors_that_require_grad(lib):
    x = lib.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="requires grad"):
        x.numpy()
    with lib.no_grad():
        assert x.numpy().tolist() == [1, 1] and np.asarray(x).tolist() == [1, 1]
