"""Tensors: making, reading, printing, indexing, operators."""

import copy
import gc
import hashlib
import pickle
import weakref

import numpy as np
import pytest
import tenon


def test_values_and_types_from_python():
    t = tenon.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert t.dtype is tenon.float32 and t.shape == (2, 2) and t.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert tenon.tensor([1, 2]).dtype is tenon.int64
    assert tenon.tensor([True, False]).dtype is tenon.bool
    assert tenon.tensor([1, 2.5]).dtype is tenon.float32
    assert tenon.tensor([1, 1j]).dtype is tenon.complex64
    assert tenon.tensor(7).item() == 7 and tenon.tensor(7).dim() == 0
    assert tenon.tensor([[], []]).shape == (2, 0)
    assert tenon.tensor([tenon.tensor(1), 2]).tolist() == [1, 2]
    assert tenon.tensor(data=[1.0], dtype=tenon.float64).dtype is tenon.float64


@pytest.mark.parametrize(
    "data, error",
    [
        ([[1, 2], [3]], ValueError),
        ([1, "a"], TypeError),
        ("abc", TypeError),
        ([1, [2]], ValueError),
        ([[1], 2], TypeError),
    ],
)
def test_ragged_or_foreign_data_is_an_error(data, error):
    with pytest.raises(error):
        tenon.tensor(data)


@pytest.mark.parametrize(
    "make, text",
    [
        (lambda: tenon.tensor([[1.0, 2.0], [3.0, 4.5]]), "tensor([[1.0000, 2.0000],\n        [3.0000, 4.5000]])"),
        (lambda: tenon.tensor([1, 20]), "tensor([ 1, 20])"),
        (lambda: tenon.tensor([1.0], dtype=tenon.float64), "tensor([1.], dtype=tenon.float64)"),
        (lambda: tenon.tensor(True), "tensor(True)"),
        (lambda: tenon.ones(2, requires_grad=True), "tensor([1., 1.], requires_grad=True)"),
        (lambda: tenon.ones(2, requires_grad=True) + 1, "tensor([2., 2.], grad_fn=<AddBackward0>)"),
        (lambda: tenon.zeros(2, 3).shape, "tenon.Size([2, 3])"),
        (lambda: tenon.device("cuda", 1), "device(type='cuda', index=1)"),
        (lambda: tenon.channels_last, "tenon.channels_last"),
    ],
)
def test_repr(make, text):
    assert repr(make()) == text


def test_operators_with_numbers_on_either_side():
    x = tenon.tensor([4.0, 9.0])
    assert (x + 1).tolist() == [5, 10] and (1 + x).tolist() == [5, 10]
    assert (x - 1).tolist() == [3, 8] and (1 - x).tolist() == [-3, -8]
    assert (x / 2).tolist() == [2, 4.5] and (36 / x).tolist() == [9, 4]
    assert (x // 2).tolist() == [2, 4] and (19 // x).tolist() == [4, 2]
    assert (x % 5).tolist() == [4, 4] and (10 % x).tolist() == [2, 1]
    assert (x**0.5).tolist() == [2, 3] and (2 ** tenon.tensor([1.0, 3.0])).tolist() == [2, 8]
    assert (-x).tolist() == [-4, -9] and abs(-x).tolist() == [4, 9] and (+x) is x
    n = tenon.tensor([6, 5])
    assert (n & 3).tolist() == [2, 1] and (n | 1).tolist() == [7, 5] and (n ^ 1).tolist() == [7, 4]
    assert (n << 1).tolist() == [12, 10] and (n >> 1).tolist() == [3, 2] and (1 << n).tolist() == [64, 32]
    assert (x > 5).tolist() == [False, True] and (5 < x).tolist() == [False, True]
    assert (x == 4).tolist() == [True, False] and (x != x).tolist() == [False, False]
    assert (x == None) is False and (x != None) is True  # noqa: E711
    with pytest.raises(TypeError):
        x + "a"


def test_results_keep_the_numbers_out_of_type_promotion():
    i = tenon.tensor([1], dtype=tenon.int8)
    assert (i + 1).dtype is tenon.int8 and (i + 1.0).dtype is tenon.float32 and (i / 1).dtype is tenon.float32
    assert (19 // i).dtype is tenon.int8
    assert (tenon.ones(1, dtype=tenon.float16) * np.float64(2)).dtype is tenon.float16


def test_in_place_operators_give_the_same_object():
    x = y = tenon.tensor([1.0, 2.0])
    version = x._version
    x += 1
    x *= tenon.tensor([2.0, 3.0])
    x -= 1
    x /= 2
    assert x is y and y.tolist() == [1.5, 4.0] and x._version == version + 4


def test_conversions_to_numbers():
    assert bool(tenon.tensor(1.0)) is True and int(tenon.tensor(3.7)) == 3 and float(tenon.tensor(2)) == 2.0
    assert [10, 20, 30][tenon.tensor(1)] == 20 and complex(tenon.tensor(2j)) == 2j
    assert f"{tenon.tensor(3.14159):.2f}" == "3.14" and len(tenon.zeros(4, 2)) == 4
    with pytest.raises(RuntimeError, match="ambiguous|more than one"):
        bool(tenon.ones(2))
    with pytest.raises(TypeError):
        [1][tenon.tensor(0.0)]
    with pytest.raises(TypeError, match="0-d tensor"):
        len(tenon.tensor(1))
    with pytest.raises(TypeError, match="0-d tensor"):
        iter(tenon.tensor(1))
    assert [row.tolist() for row in tenon.tensor([[1], [2]])] == [[1], [2]] and 2 in tenon.arange(3)


def test_indexing_agrees_with_numpy():
    array = np.arange(60).reshape(3, 4, 5)
    tensor = tenon.from_numpy(array)
    rows, mask = np.array([2, 0]), array[:, :, 0] % 3 == 0
    for index in [
        0, -1, slice(1, None), (slice(None), 2), (1, 2, 3), (..., 0), (None, 1), (slice(None, None, 2), ..., slice(1, 3)),
        rows, (rows, rows), (slice(None), rows, 1), mask, (rows[:, None], rows), [0, 2], (0, [1, 3]), array > 30,
        slice(100, 200), (Ellipsis,), (),
    ]:  # fmt: skip
        ours = index
        assert tensor[ours].tolist() == array[index].tolist(), index
        a, t = array.copy(), tenon.from_numpy(array.copy())
        a[index], t[ours] = 7, 7
        assert t.tolist() == a.tolist(), index
    target = tenon.zeros(2, 3)
    target[:, 1] = tenon.tensor([1.0, 2.0])
    target[0] = [5, 6, 7]
    assert target.tolist() == [[5, 6, 7], [0, 2, 0]]
    for bad, error in [
        (3, IndexError),
        ((0, 0, 0, 0), IndexError),
        ("a", IndexError),
        (slice(None, None, -1), ValueError),
    ]:
        with pytest.raises(error):
            tensor[bad]


def test_one_object_for_one_tensor():
    x = tenon.ones(2, requires_grad=True)
    (x * x).sum().backward()
    assert x.grad is x.grad and x.requires_grad_() is x and x.to(tenon.float32) is x
    assert (x[0])._base is x
    out = tenon.empty(2)
    assert tenon.add(x.detach(), 1, out=out) is out and out.tolist() == [2, 2]
    number = id(x.grad)
    x.grad.note = 1
    assert id(x.grad) != 0 and number != 0


def test_attributes_weak_references_and_cycles():
    x = tenon.ones(2)
    x.name = "x"
    x.self = x
    gone = []
    weakref.finalize(x, gone.append, 1)
    del x
    gc.collect()
    assert gone == [1]


def test_copies_and_pickles():
    x = tenon.randn(2, 3, requires_grad=True)
    for y in (copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert y.tolist() == x.tolist() and y.requires_grad and y.data_ptr() != x.data_ptr()
    assert copy.copy(x).data_ptr() == x.data_ptr()
    half = tenon.tensor([1.5, -2.0], dtype=tenon.bfloat16)
    assert pickle.loads(pickle.dumps(half)).dtype is tenon.bfloat16
    for value in (tenon.float32, tenon.strided, tenon.channels_last):
        assert pickle.loads(pickle.dumps(value)) is value and copy.deepcopy(value) is value
    for value in (tenon.Size([2, 3]), tenon.device("cuda:1")):
        assert pickle.loads(pickle.dumps(value)) == value
    with pytest.raises(RuntimeError, match="graph leaves"):
        copy.deepcopy(x * 2)


def test_subclasses():
    class Mine(tenon.Tensor):
        def total(self):
            return self.sum().item()

    x = tenon.Tensor._make_subclass(Mine, tenon.ones(3), True)
    assert type(x) is Mine and x.is_leaf and x.requires_grad and x.total() == 3
    x.note = [1]
    y = copy.deepcopy(x)
    assert type(y) is Mine and y.note == [1] and y.note is not x.note
    (x * 2).sum().backward()
    assert x.grad.tolist() == [2, 2, 2]


def test_numpy_both_ways_without_copies():
    array = np.arange(6.0).reshape(2, 3)
    for tensor in (tenon.from_numpy(array), tenon.from_dlpack(array), tenon.as_tensor(array)):
        tensor[0, 0] += 1
        assert tensor.dtype is tenon.float64 and np.shares_memory(tensor.numpy(), array)
    assert array[0, 0] == 3
    x = tenon.arange(4)
    assert np.shares_memory(np.from_dlpack(x), x.numpy()) and np.shares_memory(np.asarray(x), x.numpy())
    y = x.numpy()
    del x
    gc.collect()
    assert y.tolist() == [0, 1, 2, 3]  # the array keeps the memory
    assert tenon.from_numpy(array.T).stride() == (1, 3)
    assert tenon.tensor(np.float32(2)).dtype is tenon.float32
    for dtype in (np.bool_, np.uint8, np.int16, np.float16, np.complex64):
        assert tenon.from_numpy(np.zeros(2, dtype)).numpy().dtype == dtype
    with pytest.raises(ValueError, match="stride"):
        tenon.from_numpy(array[::-1])
    with pytest.raises(TypeError):
        tenon.from_numpy(np.array(["a"]))
    with pytest.raises(RuntimeError, match="requires grad"):
        tenon.ones(1, requires_grad=True).numpy()
    with pytest.raises(TypeError, match="BFloat16"):
        tenon.ones(1, dtype=tenon.bfloat16).numpy()


def test_buffer_protocol():
    x = tenon.arange(6, dtype=tenon.int32).reshape(2, 3)
    view = memoryview(x)
    assert (view.shape, view.strides, view.format, view.itemsize, view.readonly) == ((2, 3), (12, 4), "i", 4, False)
    assert view.tolist() == x.tolist() and bytes(x) == x.numpy().tobytes()
    view[1, 2] = 9
    assert x[1, 2] == 9
    turned = memoryview(x.t())
    assert turned.tolist() == x.t().tolist() and turned.f_contiguous and not turned.c_contiguous
    assert memoryview(x[:, 1:]).tolist() == x[:, 1:].tolist()
    with pytest.raises(BufferError, match="not contiguous"):
        hashlib.sha256(x.t())
    for dtype in (tenon.bool, tenon.uint8, tenon.int64, tenon.float16, tenon.float64, tenon.complex64):
        t = tenon.ones(2, 2, dtype=dtype)
        array = np.array(memoryview(t))
        assert array.dtype == t.numpy().dtype and (array == t.numpy()).all()
        assert np.asarray(t).dtype == t.numpy().dtype and np.shares_memory(np.asarray(t), t.numpy())
    assert memoryview(tenon.tensor(2.5)).tolist() == 2.5 and memoryview(tenon.ones(0, 3)).nbytes == 0
    # The memory stays what it is as long as there is a view, and as long as the view needs it.
    with pytest.raises(RuntimeError, match="share"):
        x.resize_(100, 100)
    view.release()
    kept = memoryview(tenon.full((1000,), 7.0))
    assert set(kept.tolist()) == {7.0}
    for bad, why in (
        (tenon.ones(1, requires_grad=True), "requires grad"),
        (tenon.ones(1, dtype=tenon.bfloat16), "BFloat16"),
        (tenon.ones(1, device="meta"), "meta"),
    ):
        with pytest.raises(BufferError, match=why):
            memoryview(bad)
    with pytest.raises(TypeError, match="expected np.ndarray"):
        tenon.from_numpy(x)


def test_frombuffer():
    data = bytearray(b"\x01\x00\x02\x00\x03\x00")
    t = tenon.frombuffer(data, dtype=tenon.int16, count=2, offset=2)
    t[0] = 9
    assert t.tolist() == [9, 3] and data[2] == 9
    with pytest.raises(ValueError):
        tenon.frombuffer(data, dtype=tenon.int32)


def test_the_class_called():
    assert tenon.Tensor().shape == (0,) and tenon.Tensor(2, 3).shape == (2, 3)
    assert tenon.Tensor([1, 2]).dtype is tenon.float32 and tenon.Tensor([1, 2]).tolist() == [1, 2]

    class Mine(tenon.Tensor):
        pass

    assert type(Mine([1.0])) is Mine and (Mine([1.0]) + 1).tolist() == [2]
    for wrong in ((2, "a"), ([1.0], 2), ("a",), (object(),)):
        with pytest.raises(TypeError):
            tenon.Tensor(*wrong)
    with pytest.raises(TypeError):
        tenon.Tensor(data=1)
    with pytest.raises(TypeError):
        object.__new__(tenon.Tensor)


def test_named_results():
    result = tenon.tensor([[1.0, 3.0], [4.0, 2.0]]).max(dim=1)
    values, indices = result
    assert result.values is values and indices.tolist() == [1, 0]
    assert repr(result) == "tenon.return_types.max(\nvalues=tensor([3., 4.]),\nindices=tensor([1, 0]))"
    out = (tenon.empty(0), tenon.empty(0, dtype=tenon.int64))
    pooled = tenon._C._nn.max_pool2d_with_indices(tenon.tensor([[[[1.0, 3.0], [4.0, 2.0]]]]), 2, out=out)
    assert pooled is out and out[0].item() == 4 and out[1].item() == 2


def test_dtypes_and_their_limits():
    assert tenon.float is tenon.float32 and tenon.long is tenon.int64 and tenon.half.itemsize == 2
    assert tenon.finfo(tenon.float16).max == 65504 and tenon.iinfo(tenon.int8).min == -128
    assert tenon.finfo(tenon.float32).eps == np.finfo(np.float32).eps
    assert tenon.finfo(tenon.float64).tiny == np.finfo(np.float64).tiny
    assert tenon.promote_types(tenon.int8, tenon.float16) is tenon.float16
    with pytest.raises(TypeError):
        tenon.finfo(tenon.int8)


def test_random_numbers_are_pytorchs():
    tenon.manual_seed(0)
    # torch.manual_seed(0); torch.randn(3)
    assert repr(tenon.randn(3)) == "tensor([ 1.5410, -0.2934, -2.1788])"
    generator = tenon.Generator().manual_seed(0)
    first = tenon.randn(3, generator=generator).tolist()
    state = tenon.get_rng_state()
    with tenon.random.fork_rng():
        tenon.randn(5)
    assert tenon.get_rng_state().tolist() == state.tolist()
    assert first == tenon.randn(3, generator=generator.manual_seed(0)).tolist()
