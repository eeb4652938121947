"""Where a tensor's memory is, functions of Python over its elements, and the types that were there before dtypes."""

import pickle

import pytest


def ramp(lib):
    return lib.arange(6.0).view(2, 3)


def test_apply_and_map_replace_the_elements(lib):
    x = ramp(lib)
    assert x.t().apply_(lambda v: v * v).tolist() == [[0, 9], [1, 16], [4, 25]]
    assert x.map_(lib.tensor([1.0, 2.0, 3.0]), lambda a, b: a - b).tolist() == [[-1, -1, 1], [8, 14, 22]]
    assert lib.arange(3).map2_(lib.tensor(2), lib.tensor([1, 0, 1]), lambda s, a, b: s * a + b).tolist() == [1, 2, 5]
    assert lib.empty(0).apply_(lambda v: v).tolist() == []
    assert lib.tensor([True, False]).apply_(lambda v: not v).tolist() == [False, True]


def test_apply_and_map_say_what_they_require(lib):
    x = ramp(lib)
    with pytest.raises(RuntimeError, match=r"Can't call apply_\(\) on Variable that requires grad"):
        x.clone().requires_grad_().apply_(abs)
    with pytest.raises(TypeError, match=r"map_: expected \w+.FloatTensor for 'other' \(got \w+.LongTensor\)"):
        x.map_(lib.arange(3), max)
    with pytest.raises(RuntimeError, match="must match the existing size"):
        x.map_(lib.ones(4), max)


def test_dim_order(lib):
    x = lib.empty(2, 3, 4, 5)
    assert x.dim_order() == (0, 1, 2, 3)
    assert x.to(memory_format=lib.channels_last).dim_order() == (0, 2, 3, 1)
    assert x.transpose(0, 3).dim_order() == (3, 1, 2, 0)
    assert x.transpose(0, 3).dim_order(ambiguity_check=True) == (3, 1, 2, 0)
    assert lib.tensor(1).dim_order() == ()
    with pytest.raises(RuntimeError, match="does not have unique dim order"):
        lib.ones(1, 1).dim_order(ambiguity_check=True)


def test_set_shows_other_memory(lib):
    x, y = ramp(lib), lib.empty(0)
    assert y.set_(x) is y and y.data_ptr() == x.data_ptr() and y.shape == x.shape
    assert y.set_(x.storage(), 1, (2, 2), (1, 2)).tolist() == [[1, 3], [2, 4]]
    assert y.set_(x.untyped_storage()).tolist() == [0, 1, 2, 3, 4, 5]
    assert y.set_(x.storage(), 2, (2, 1)).tolist() == [[2], [3]]
    y[0] = 9
    assert x[0, 2] == 9
    assert y.set_().shape == (0,)
    with pytest.raises(RuntimeError, match="Could not set tensor of type"):
        y.set_(lib.ones(2, dtype=lib.int64))
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        lib.ones(2, requires_grad=True).set_(x)


def test_types_make_and_recognise_tensors(lib):
    assert lib.FloatTensor(2, 3).shape == lib.FloatTensor(lib.Size((2, 3))).shape == (2, 3)
    assert lib.LongTensor([1, 2]).dtype == lib.int64 and lib.FloatTensor((2, 3)).tolist() == [2, 3]
    assert lib.FloatTensor().shape == (0,)
    x = lib.ones(2)
    assert lib.FloatTensor(x).data_ptr() == x.data_ptr()
    assert isinstance(x, lib.FloatTensor) and not isinstance(x, lib.LongTensor) and not isinstance(1, lib.FloatTensor)
    assert x.type(lib.DoubleTensor).dtype == lib.float64 and lib.HalfTensor.dtype == lib.float16
    assert x.new(2, 2).shape == (2, 2) and x.long().new([1, 2]).dtype == lib.int64
    assert pickle.loads(pickle.dumps(lib.ByteTensor)) is lib.ByteTensor
    for wrong, error in {3.5: "must be a sequence", "a": "invalid data type 'str'", None: "must be a sequence"}.items():
        with pytest.raises(TypeError, match=error):
            lib.FloatTensor(wrong)
    with pytest.raises(TypeError):
        lib.LongTensor(x)
    with pytest.raises(AttributeError):
        lib.NoSuchTensor


def test_the_default_tensor_type_is_the_default_dtype(lib):
    try:
        lib.set_default_tensor_type(lib.DoubleTensor)
        assert lib.ones(1).dtype == lib.float64
        lib.set_default_tensor_type(f"{lib.__name__}.FloatTensor")
        assert lib.ones(1).dtype == lib.float32
        for wrong in (lib.LongTensor, lib.float32):
            with pytest.raises(TypeError, match="only floating-point types are supported"):
                lib.set_default_tensor_type(wrong)
    finally:
        lib.set_default_dtype(lib.float32)


def test_typed_storages(lib):
    x = ramp(lib)
    storage = x.storage()
    assert isinstance(storage, lib.FloatStorage) and not isinstance(storage, lib.LongStorage)
    assert lib.is_storage(storage) and lib.is_storage(x.untyped_storage()) and not lib.is_storage(x)
    assert list(storage) == [0, 1, 2, 3, 4, 5] and len(storage) == 6 and storage[2] == 2
    assert lib.FloatStorage([1, 2.5]).tolist() == [1, 2.5] and len(lib.LongStorage(3)) == 3
    assert storage.type(lib.LongStorage).tolist() == [0, 1, 2, 3, 4, 5] if lib.__name__ == "tenon" else True
    copied = storage.clone()
    copied.fill_(7)
    assert x[0, 1] == 1 and copied.tolist() == [7] * 6
    assert storage.copy_(copied) is storage and x.tolist() == [[7] * 3] * 2
    assert pickle.loads(pickle.dumps(storage)).tolist() == [7] * 6
    assert x.storage_type() is lib.FloatStorage


def test_small_questions(lib):
    x = ramp(lib)
    assert x.get_device() == -1 and x.is_same_size(x + 1) and not x.is_same_size(x.t())
    assert (x.is_conj(), x.is_neg(), x.is_pinned(), x.is_distributed(), lib.is_inference(x)) == (False,) * 5
    assert x.const_data_ptr() == x.data_ptr()


def test_switches(lib):
    assert lib.get_float32_matmul_precision() == "highest" and lib.is_warn_always_enabled() is False
    lib.set_deterministic_debug_mode("warn")
    try:
        assert lib.get_deterministic_debug_mode() == 1 and lib.are_deterministic_algorithms_enabled()
        lib.set_deterministic_debug_mode(2)
        assert lib.get_deterministic_debug_mode() == 2 and not lib.is_deterministic_algorithms_warn_only_enabled()
    finally:
        lib.set_deterministic_debug_mode("default")
    assert lib.get_deterministic_debug_mode() == 0
    with pytest.raises(RuntimeError, match="expected 0, 1, or 2, but got 5"):
        lib.set_deterministic_debug_mode(5)
    with pytest.raises(RuntimeError, match="expects a bool, but got int"):
        lib.set_warn_always(1)
