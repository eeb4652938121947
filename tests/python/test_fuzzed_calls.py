"""Calls that random ones (fuzzed_calls) found to differ from PyTorch's: classes of errors, and values at corners. `lib` and `m` are
either library."""

import math

import pytest
from test_error_classes import raised

nan, inf = math.nan, math.inf

ERRORS = """
IndexError: m.slice_copy(m.zeros(()), 0, 0, 1)
RuntimeError: m.ops.aten.slice(m.zeros(3), 0, 0, 3, -1)
RuntimeError: m.slice_scatter(m.zeros(3), m.zeros(3), 0, 0, 3, 0)
RuntimeError: m.zeros(3).take(m.tensor([0], dtype=m.int32))
RuntimeError: m.zeros(3).put(m.tensor([0.]), m.zeros(1))
RuntimeError: m.zeros(2, 3).index_copy(0, m.tensor([0.]), m.zeros(1, 3))
RuntimeError: m.zeros(2, 3).index_copy(0, m.tensor([0]), m.zeros(1, 2))
IndexError: m.zeros(2, 3).index_copy(0, m.tensor([2]), m.zeros(1, 3))
IndexError: m.zeros(2, 3).index_copy(0, m.tensor([-1]), m.zeros(1, 3))
IndexError: m.zeros(2, 3).index_copy(0, m.tensor([0]), m.zeros(2, 3))
IndexError: m.zeros(2, 3).index_select(0, m.tensor([[0.]]))
IndexError: m.zeros(2, 3).index_select(7, m.tensor([0.]))
RuntimeError: m.zeros(2, 3).index_select(0, m.tensor([0.]))
IndexError: m.zeros(2, 3).index_fill(7, m.tensor([[0]]), 1)
IndexError: m.zeros(2, 3).index_reduce(0, m.tensor([2, 0]), m.zeros(2, 3), 'mean')
IndexError: m.tensor(1.).index_reduce(0, m.tensor([0, 0]), m.tensor(1.), 'mean')
IndexError: m.zeros(2, 3).scatter(0, m.tensor([[0]]), m.zeros(3))
IndexError: m.zeros(2, 3).scatter(4, m.tensor([[0]]), m.zeros(2, 3), reduce='mean')
IndexError: m.logcumsumexp(m.tensor([1, 2]), 3)
IndexError: m.mode(m.zeros(2, dtype=m.complex64), 4)
IndexError: m.softmax(m.zeros(2), 3, dtype=m.bool)
IndexError: m.argsort(m.zeros(2, dtype=m.complex64), stable=True, dim=3)
IndexError: m.ops.aten.im2col(m.zeros(2, 2), [1, 1], [1, 1], [0, 0], [1, 1])
IndexError: m.ops.aten.avg_pool2d(m.zeros(2, 5), [3, 2])
RuntimeError: m.ops.aten.avg_pool3d(m.zeros(2, 3, 2, 4), [3, 3, 3], [2, 2, 1], [1, 1, 1])
IndexError: m.nanquantile(m.zeros(2, 5), m.tensor([m.nan]), -3)
IndexError: m.grid_sampler(m.tensor(1.), m.zeros(1, 2, 3, 2), 0, 0, False)
IndexError: m.addbmm(m.zeros(2, 4), m.zeros(3, 2, 5), m.zeros(2, 4))
IndexError: m.zeros(2, 2, 2).baddbmm(m.tensor(1.), m.zeros(2, 3, 2))
IndexError: m.instance_norm(m.zeros(3), m.zeros(3), m.zeros(3), None, None, True, 0.1, 1e-5, False)
IndexError: m.repeat_interleave(m.tensor(1.), 3, 0)
IndexError: m.repeat_interleave(m.tensor(1.), m.tensor([2, 1]), 0)
IndexError: m.trapz(m.tensor(1.), m.zeros(1))
IndexError: m.affine_grid_generator(m.zeros(2, 3), [2, 3, 4, 5], True)
IndexError: m.linalg.ldl_solve(m.eye(2), m.tensor([1, 2], dtype=m.int32), m.zeros(2))
IndexError: m.linalg.lu_solve(m.eye(3), m.tensor(1, dtype=m.int32), m.zeros(3, 2))
IndexError: m.rnn_tanh_cell(m.zeros(2, 3), m.zeros(2, 4), m.zeros(4, 3), m.tensor(1.))
RuntimeError: m.rnn_tanh_cell(m.zeros(2, 3), m.zeros(4), m.zeros(4, 3), m.zeros(4, 4))
RuntimeError: m.rnn_tanh_cell(m.zeros(3), m.zeros(2, 4), m.zeros(4, 3), m.zeros(4, 4))
RuntimeError: m.nn.functional.pad(m.zeros(0, 3, 4), [1, 2, 2, 1], mode="replicate")
RuntimeError: m.nn.functional.pad(m.zeros(1, 0, 4, 5), [1, 2, 2, 1], mode="reflect")
IndexError: m.mv(m.tensor(1), m.tensor([1]))
IndexError: m.group_norm(m.tensor(1.), 2)
RuntimeError: m.linalg.ldl_solve(m.eye(2), m.tensor(1, dtype=m.int32), m.eye(2))
RuntimeError: m.nn.functional.scaled_dot_product_attention(m.zeros(2, 1, 4), m.zeros(2, 3, 4), m.zeros(2, 3, 4), m.zeros(3, 3))
IndexError: m.gru_cell(m.zeros(2, 3), m.zeros(2, 5), m.zeros(12, 3), m.zeros(12))
IndexError: m.lstm_cell(m.zeros(2, 3), [m.zeros(2, 4), m.zeros(2, 4)], m.tensor(1.), m.zeros(16, 4))
IndexError: m.ops.aten.cross_entropy_loss(m.zeros(3), m.tensor(2**63 - 2))
RuntimeError: m.lstm_cell(m.ones(2, 3, dtype=m.int64), [m.ones(2, 4, dtype=m.int64)] * 2, m.ones(16, 3, dtype=m.int64), m.ones(16, 4, dtype=m.int64))
NotImplementedError: m.linalg.matrix_norm(m.tensor([[1, 2]]), 2, [0, 9])
NotImplementedError: m.linalg.matrix_norm(m.zeros(2, 2, dtype=m.float16), 2)
NotImplementedError: m.ops.aten.nuclear_norm(m.tensor([[1]]), [0], True)
RuntimeError: m.linalg.norm(m.zeros(2, 3), 3, [1, 9])
RuntimeError: m.linalg.matrix_norm(m.zeros(2, 3), 1j)
NotImplementedError: m.linalg.vecdot(m.tensor([1, 2]), m.tensor([1, 2, 3]))
NotImplementedError: m.linalg.vander(m.zeros(2, 3, dtype=m.float16))
NotImplementedError: m.linalg.lu_solve(m.tensor([[1, 2]], dtype=m.int32), m.tensor([1], dtype=m.int32), m.tensor([[1]], dtype=m.int32))
NotImplementedError: m.repeat_interleave(m.tensor([True]))
NotImplementedError: m.rms_norm(m.ones(2, 4, dtype=m.int64), [4])
RuntimeError: m.linalg.matrix_rank(m.ones(0, 3, dtype=m.int8))
RuntimeError: m.linalg.matrix_rank(m.ones(0, 3, dtype=m.bool), atol=0.1)
RuntimeError: m.linalg.tensorinv(m.tensor(1.), 1)
RuntimeError: m.chain_matmul(m.zeros(2, 3), m.zeros(3))
RuntimeError: m.cdist(m.zeros(3, 4), m.zeros(2, 4, dtype=m.float64), 1.)
RuntimeError: m.cosine_similarity(m.zeros(2, 3), m.zeros(3), eps=-1.)
RuntimeError: m.kl_div(m.zeros(2, dtype=m.complex64), m.zeros(2, dtype=m.complex64), 0)
RuntimeError: m.logsumexp(m.tensor(1), [0, 0])
RuntimeError: m.trapz(m.zeros(3), m.zeros(1))
RuntimeError: m.normal(m.zeros(2), m.zeros(2, dtype=m.complex64))
RuntimeError: m.native_group_norm(m.zeros(2, 4, 3), m.zeros(4, dtype=m.bfloat16), None, 2, 4, 3, 2, 1e-5)
RuntimeError: m.native_group_norm(m.zeros(2, 4, 3, dtype=m.float64), m.zeros(4), None, 2, 4, 3, 2, 1e-5)
RuntimeError: m.ops.aten.binary_cross_entropy(m.tensor([0.5, 2.]), m.tensor([0.5, 1.]))
RuntimeError: m.ops.aten.binary_cross_entropy(m.tensor([0.5, 1.]), m.tensor([0.5, m.nan]))
RuntimeError: m.ops.aten.binary_cross_entropy(m.tensor([-1.], dtype=m.float16), m.tensor([1.], dtype=m.float16))
RuntimeError: m.ops.aten.binary_cross_entropy(m.full((2, 1), 0.5), m.full((2, 3), 0.5))
RuntimeError: m.ops.aten.binary_cross_entropy(m.full((2, 4, 1), 0.5), m.full((2,), 0.5))
RuntimeError: m.ops.aten.binary_cross_entropy_with_logits(m.zeros(3), m.zeros(2, 3), None, m.zeros(3))
RuntimeError: m.ops.aten.soft_margin_loss(m.zeros(1, 3), m.zeros(2, 3))
NotImplementedError: m.ops.aten.soft_margin_loss(m.tensor([True]), m.tensor([True]))
RuntimeError: m.ops.aten.triplet_margin_loss(m.zeros(3, 4), m.zeros(4), m.zeros(3, 4))
RuntimeError: m.ops.aten.nll_loss_nd(m.zeros(2, 3, 4), m.zeros(2, 4, dtype=m.uint8))
ValueError: m.ops.aten.nll_loss(m.zeros(3), m.tensor([0, 1, 2]))
ValueError: m.rms_norm(m.zeros(3), [3, 4])
RuntimeError: m.group_norm(m.zeros(0, 4, 0, 0), 2)
ValueError: m.pixel_shuffle(m.zeros(2, 8, 3, 2), 2**62)
ValueError: m.native_batch_norm(m.zeros(2, 3), None, None, m.zeros(7), None, True, 0.1, 1e-5)
ValueError: m.native_batch_norm(m.zeros(2, 3), m.zeros(7), None, None, None, False, 0.1, 1e-5)
RuntimeError: m.ops.aten.convolution(m.zeros(1, 2, 4, 4), m.zeros(2, 2, 3, 3), None, [1, 1], [1, 1], [1, 1], False, [-3, 0], 1)
RuntimeError: m.ops.aten.ctc_loss.Tensor(m.zeros(5, 2, 4), m.tensor([[1, 2], [1, 1]]), m.tensor([5, 4]), m.tensor([True, True]))
RuntimeError: m.nn.functional.scaled_dot_product_attention(m.zeros(1, 2, 3), m.zeros(1, 2, 3), m.zeros(1, 2, 3), None, 2.)
RuntimeError: m._foreach_add([m.zeros(2)], m.ones(1))
RuntimeError: m._foreach_mul_([m.zeros(2)], m.ones(1))
RuntimeError: m._foreach_div([m.zeros(2)], m.ones(2))
RuntimeError: m._foreach_norm([m.zeros(2)], True)
RuntimeError: m.empty(2, memory_format=m.preserve_format)
RuntimeError: m.zeros(2).resize_([3], memory_format=m.preserve_format)
RuntimeError: m.zeros(2, 3).t().contiguous(memory_format=m.preserve_format)
RuntimeError: m.split_copy(m.zeros(4), 2, out=[m.zeros(0), m.zeros(2)])
TypeError: m.Tensor.float_power_(2, m.tensor([1.]))
TypeError: m.zeros(2).sum(0, keepdim=None)
TypeError: m.zeros(2).max(0, None)
TypeError: m.svd(m.zeros(2, 3), None)
TypeError: m.zeros(2).to(m.float64, non_blocking=None)
""".strip().splitlines()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", ERRORS)
def test_errors_have_the_class(lib, case):
    wanted, found, message = raised(case, lib)
    assert found == wanted, message


def test_names_that_may_be_none(lib):
    assert not lib.zeros(2, requires_grad=None, pin_memory=None).requires_grad
    assert lib.arange(2, requires_grad=None).tolist() == [0, 1]


def test_choices_of_many(lib):
    x = lib.tensor([1, 2, 3, 4])
    assert lib.combinations(x, 3).tolist() == [[1, 2, 3], [1, 2, 4], [1, 3, 4], [2, 3, 4]]
    assert lib.combinations(x[:2], 3).shape == (0, 3) and lib.combinations(x[:0], 2, True).shape == (0, 2)
    assert lib.combinations(x[:2], 3, True).tolist() == [[1, 1, 1], [1, 1, 2], [1, 2, 2], [2, 2, 2]]
    assert lib.combinations(x, 4).tolist() == [[1, 2, 3, 4]] and lib.combinations(x, 0).shape == (0,)


def test_counts_of_slices(lib):
    x = lib.tensor([[3, 1], [3, 1], [2, 2]])
    for flags in ((True, False), (False, True), (False, False)):
        values, inverse, counts = lib.ops.aten.unique_consecutive(x, *flags, 0)
        assert values.tolist() == [[3, 1], [2, 2]] and inverse.tolist() == [0, 0, 1] and counts.tolist() == [2, 1]
        values, inverse, counts = lib.ops.aten.unique_dim(x, 0, True, *flags)
        assert values.tolist() == [[2, 2], [3, 1]] and inverse.tolist() == [1, 1, 0] and counts.tolist() == [1, 2]
    # Of a vector they are asked for.
    _, inverse, counts = lib.ops.aten.unique_consecutive(lib.tensor([3, 1, 1]), False, True, 0)
    assert inverse.numel() == 0 and counts.tolist() == [1, 2]


def test_histograms_of_half_types(lib):
    x = (lib.arange(40.0).sin() * 2).round(decimals=2)
    for dtype in (lib.float16, lib.bfloat16):
        counts, edges = lib.histogram(x.to(dtype), 5, range=(-1.0, 1.5))
        assert counts.dtype == edges.dtype == dtype and counts.tolist() == [4, 2, 3, 4, 4]


def test_repeats_of_small_integers(lib):
    for dtype in (lib.uint8, lib.int8, lib.int16, lib.int32, lib.int64):
        repeats = lib.tensor([2, 0, 1], dtype=dtype)
        places = lib.repeat_interleave(repeats)
        assert places.tolist() == [0, 0, 2] and places.dtype == dtype
        assert lib.repeat_interleave(lib.tensor([5.0, 6.0, 7.0]), repeats).tolist() == [5, 5, 7]


def test_pivots_of_other_integers(lib):
    LD = lib.tensor([[2.0, 0.0], [0.5, 3.0]])
    wanted = lib.linalg.ldl_solve(LD, lib.tensor([1, 2], dtype=lib.int32), lib.ones(2, 1)).tolist()
    for dtype in (lib.int64, lib.int16):
        assert lib.linalg.ldl_solve(LD, lib.tensor([1, 2], dtype=dtype), lib.ones(2, 1)).tolist() == wanted


def test_targets_of_fewer_dimensions(lib):
    loss = lib.ops.aten.binary_cross_entropy
    p, t = lib.rand(2, 4, 1), lib.rand(4)
    assert lib.allclose(loss(p, t, None, 0), loss(p.squeeze(-1), t.expand(2, 4), None, 0).unsqueeze(-1))


def test_shapes_of_nothing(lib):
    functional = lib.nn.functional
    assert functional.pixel_unshuffle(lib.zeros(2, 2, 4, 0), 2).shape == (2, 2, 4, 0)
    assert functional.pixel_shuffle(lib.zeros(2, 8, 4, 0), 2).shape == (2, 2, 8, 0)
    assert lib.ops.aten.binary_cross_entropy(lib.zeros(2, 0), lib.zeros(0)).isnan()
    assert lib.triu_indices(2**62, 4).tolist() == [[0, 0, 0, 0, 1, 1, 1, 2, 2, 3], [0, 1, 2, 3, 1, 2, 3, 2, 3, 3]]


def test_dtypes_of_normalised_rows(lib):
    for own in (lib.float16, lib.float32):
        for weight in (lib.float16, lib.float32, lib.float64):
            assert lib.rms_norm(lib.ones(2, 4, dtype=own), [4], lib.ones(4, dtype=weight)).dtype == own


def test_results_have_their_own_memory(lib):
    x = lib.ones(2, 6, 3)
    shuffled = lib.channel_shuffle(x, 1)
    shuffled.zero_()
    assert x.sum().item() == 36


def test_recurrent_weights_of_one_row(lib):
    data, sizes, hx = lib.ones(6, 3), lib.tensor([2, 2, 1]), lib.ones(2, 2, 4)
    wide, narrow, own = lib.full((4, 3), 0.1), lib.full((1, 3), 0.1), lib.full((4, 4), 0.1)
    # Dropout of no training is not looked at; rows after the last step are not read.
    run = lambda *params: lib.rnn_tanh(data, sizes, hx, [*params, own, own], False, 2, 3.0, False, False)  # noqa: E731
    output, last = run(narrow, own)
    wanted, wanted_last = run(wide, own)
    assert output.shape == (5, 4) and lib.allclose(output, wanted) and lib.allclose(last, wanted_last)
    x, h = lib.ones(2, 3), lib.ones(2, 4)
    one, all_ = (lib.rnn_tanh_cell(x, h, wide, own, lib.full(n, 0.1), None) for n in ((1,), (4,)))
    assert lib.allclose(one, all_)
    with pytest.raises(RuntimeError):
        lib.rnn_tanh_cell(x, h, narrow, own)


def gradient(lib, f, values):
    x = lib.tensor(values, dtype=lib.complex128 if isinstance(values[0], complex) else lib.float64, requires_grad=True)
    (g,) = lib.autograd.grad(f(x).sum().real if x.is_complex() else f(x).sum(), x)
    return (g + 0).tolist()


def test_gradients(lib):
    assert gradient(lib, lambda x: lib.sgn(x), [nan, 0.0, 2.0]) == [0, 0, 0]
    assert gradient(lib, lambda x: lib.nan_to_num(x), [complex(inf, 1), 1 + 1j]) == [0, 1]
    assert gradient(lib, lambda x: lib.special.i1e(x), [1e-310, 0.0]) == pytest.approx([0.5, 0.5])
    # Variances of fewer elements than the correction.
    assert gradient(lib, lambda x: lib.var(x, 0, correction=4), [1.0, 2.0, 6.0]) == pytest.approx([4, 2, -6])
    assert gradient(lib, lambda x: lib.std(x, 0, correction=4), [1.0, 2.0, 6.0]) == [0, 0, 0]
    assert lib.ops.aten.logit_backward(lib.tensor([-1.0]), lib.tensor([-0.0]), None).item() == -inf


def test_strides_of_results(lib):
    x = lib.ones(3, 2).t()
    assert lib.isin(x, 3).stride() == (3, 1)
    assert lib.frexp(x).mantissa.stride() == lib.frexp(x).exponent.stride() == (1, 2)
    assert lib.renorm(x, 2, 0, 0.5).stride() == (3, 1)


def test_out_of_sorted_places(lib):
    out = lib.empty(0, dtype=lib.int64)
    assert lib.argsort(lib.tensor([3.0, 1.0, 2.0]), stable=True, out=out) is out and out.tolist() == [1, 2, 0]
    parts = [lib.zeros(2), lib.zeros(2)]
    assert lib.split_copy(lib.arange(4.0), 2, out=parts) is None
    assert [t.tolist() for t in parts] == [[0, 1], [2, 3]]
