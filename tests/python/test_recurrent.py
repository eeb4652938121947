"""Recurrent layers, decoders and packed sequences against PyTorch's: initial values, state dict keys, results, gradients."""

import copy
import pickle

import pytest
import tenon
from tenon import nn
from tenon.nn.utils import rnn

try:
    import torch
except ImportError:
    torch = None
needs_torch = pytest.mark.skipif(
    torch is None, reason="needs PyTorch: ./tenon setup --oracle, and run with build/venv-oracle"
)

LAYERS = [
    ("RNN", {}, False),
    ("RNN", {"nonlinearity": "relu", "num_layers": 2, "bias": False, "bidirectional": True}, True),
    ("GRU", {"batch_first": True, "num_layers": 2}, True),
    ("GRU", {"bidirectional": True}, False),
    ("LSTM", {"num_layers": 2, "bidirectional": True, "dropout": 0.0}, True),
    ("LSTM", {"proj_size": 2, "batch_first": True}, True),
    ("LSTM", {"bias": False}, False),
]


def of_torch(t):
    return tenon.tensor(t.detach().tolist(), dtype=getattr(tenon, str(t.dtype).rpartition(".")[2])).reshape(
        tuple(t.shape)
    )


def check(mine, other, tolerance=1e-5):
    assert tuple(mine.shape) == tuple(other.shape)
    torch.testing.assert_close(
        torch.tensor(mine.tolist(), dtype=other.dtype).reshape(other.shape),
        other.detach(),
        rtol=tolerance,
        atol=tolerance,
    )


def pair(name, *args, **kwargs):
    tenon.manual_seed(5)
    torch.manual_seed(5)
    ours, theirs = getattr(nn, name)(*args, **kwargs), getattr(torch.nn, name)(*args, **kwargs)
    assert repr(ours) == repr(theirs).replace("NonDynamicallyQuantizableLinear", "Linear")
    assert list(ours.state_dict()) == list(theirs.state_dict())
    for mine, other in zip(ours.state_dict().values(), theirs.state_dict().values()):
        check(mine, other)
    return ours, theirs


def flat(value):
    return [t for v in value for t in flat(v)] if isinstance(value, (tuple, list)) else [value]


def same_gradients(ours, theirs, x, their_x, results, their_results):
    sum((r * (i + 1)).sin().sum() for i, r in enumerate(results)).backward()
    sum((r * (i + 1)).sin().sum() for i, r in enumerate(their_results)).backward()
    check(x.grad, their_x.grad, 1e-4)
    for mine, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        check(mine.grad, other.grad, 1e-4)


@needs_torch
@pytest.mark.parametrize("name, kwargs, given", LAYERS)
@pytest.mark.parametrize("batched", [True, False])
def test_layers_start_compute_and_learn_as_pytorchs(name, kwargs, given, batched):
    ours, theirs = pair(name, 3, 4, **kwargs)
    shape = (5, 2, 3) if batched else (5, 3)
    their_x = torch.randn(shape, requires_grad=True)
    x = of_torch(their_x).requires_grad_()
    start = their_start = None
    if given:
        count = kwargs.get("num_layers", 1) * (2 if kwargs.get("bidirectional") else 1)
        batch = (2 if not kwargs.get("batch_first") else 5,) if batched else ()
        their_start = torch.randn(count, *batch, kwargs.get("proj_size") or 4)
        start = of_torch(their_start)
        if name == "LSTM":
            other = torch.randn(count, *batch, 4)
            start, their_start = (start, of_torch(other)), (their_start, other)
    results, their_results = flat(ours(x, start)), flat(theirs(their_x, their_start))
    for mine, other in zip(results, their_results, strict=True):
        check(mine, other)
    same_gradients(ours, theirs, x, their_x, results, their_results)
    again = pickle.loads(pickle.dumps(copy.deepcopy(ours)))
    assert again(x, start)[0].tolist() == results[0].tolist()


@needs_torch
@pytest.mark.parametrize(
    "name, kwargs", [("LSTM", {"num_layers": 2, "bidirectional": True}), ("GRU", {"bidirectional": True}), ("RNN", {})]
)
@pytest.mark.parametrize("lengths, ordered", [([4, 2, 1], True), ([1, 4, 2], False)])
def test_packed_sequences(name, kwargs, lengths, ordered):
    ours, theirs = pair(name, 3, 4, **kwargs)
    their_x = torch.randn(4, 3, 3, requires_grad=True)
    x = of_torch(their_x).requires_grad_()
    packed = rnn.pack_padded_sequence(x, lengths, enforce_sorted=ordered)
    their_packed = torch.nn.utils.rnn.pack_padded_sequence(their_x, torch.tensor(lengths), enforce_sorted=ordered)
    check(packed.data, their_packed.data)
    assert packed.batch_sizes.tolist() == their_packed.batch_sizes.tolist()
    out, last = ours(packed)
    their_out, their_last = theirs(their_packed)
    padded, found = rnn.pad_packed_sequence(out, padding_value=-1.0, total_length=5)
    their_padded, _ = torch.nn.utils.rnn.pad_packed_sequence(their_out, padding_value=-1.0, total_length=5)
    assert found.tolist() == lengths
    results, their_results = [padded, *flat(last)], [their_padded, *flat(their_last)]
    for mine, other in zip(results, their_results, strict=True):
        check(mine, other)
    same_gradients(ours, theirs, x, their_x, results, their_results)


@needs_torch
@pytest.mark.parametrize("name", ["RNNCell", "GRUCell", "LSTMCell"])
@pytest.mark.parametrize("shape", [(2, 3), (3,)])
def test_cells(name, shape):
    ours, theirs = pair(name, 3, 4)
    their_x = torch.randn(shape, requires_grad=True)
    x = of_torch(their_x).requires_grad_()
    state, their_state = ours(x), theirs(their_x)
    results, their_results = flat(ours(x, state)), flat(theirs(their_x, their_state))
    for mine, other in zip(results, their_results, strict=True):
        check(mine, other)
    same_gradients(ours, theirs, x, their_x, results, their_results)


@needs_torch
@pytest.mark.parametrize("kwargs", [{}, {"batch_first": True, "norm_first": True, "activation": "gelu"}])
def test_decoders(kwargs):
    tenon.manual_seed(5)
    torch.manual_seed(5)
    layer, their_layer = pair("TransformerDecoderLayer", 8, 2, 16, dropout=0.0, **kwargs)
    ours, theirs = (
        nn.TransformerDecoder(layer, 2, nn.LayerNorm(8)),
        torch.nn.TransformerDecoder(their_layer, 2, torch.nn.LayerNorm(8)),
    )
    assert repr(ours) == repr(theirs).replace("NonDynamicallyQuantizableLinear", "Linear")
    their_x, memory = torch.randn(3, 3, 8, requires_grad=True), torch.randn(3, 3, 8)
    x = of_torch(their_x).requires_grad_()
    mask, their_mask = (
        nn.Transformer.generate_square_subsequent_mask(3),
        torch.nn.Transformer.generate_square_subsequent_mask(3),
    )
    check(mask, their_mask)
    result, their_result = ours(x, of_torch(memory), tgt_mask=mask), theirs(their_x, memory, tgt_mask=their_mask)
    check(result, their_result)
    same_gradients(ours, theirs, x, their_x, [result], [their_result])


@needs_torch
def test_a_whole_transformer():
    ours, theirs = pair("Transformer", 8, 2, 1, 1, 16, dropout=0.0, batch_first=True)
    src, their_x = torch.randn(2, 4, 8), torch.randn(2, 3, 8, requires_grad=True)
    x = of_torch(their_x).requires_grad_()
    result, their_result = ours(of_torch(src), x), theirs(src, their_x)
    check(result, their_result)
    same_gradients(ours, theirs, x, their_x, [result], [their_result])
    with pytest.raises(RuntimeError, match="batch number"):
        ours(of_torch(src[:1]), x)


@needs_torch
@pytest.mark.parametrize(
    "kwargs", [{"add_bias_kv": True}, {"add_zero_attn": True}, {"add_bias_kv": True, "add_zero_attn": True, "kdim": 5}]
)
def test_attention_to_keys_that_no_sequence_has(kwargs):
    ours, theirs = pair("MultiheadAttention", 8, 2, **kwargs)
    their_x, key, value = (
        torch.randn(3, 2, 8, requires_grad=True),
        torch.randn(4, 2, kwargs.get("kdim", 8)),
        torch.randn(4, 2, 8),
    )
    x, padding = (
        of_torch(their_x).requires_grad_(),
        torch.tensor([[False, True, False, False], [False, False, False, True]]),
    )
    results = ours(x, of_torch(key), of_torch(value), key_padding_mask=of_torch(padding))
    their_results = theirs(their_x, key, value, key_padding_mask=padding)
    for mine, other in zip(results, their_results, strict=True):
        check(mine, other)
    same_gradients(ours, theirs, x, their_x, results, their_results)


def test_arguments_that_do_not_fit():
    with pytest.raises(ValueError, match="proj_size"):
        nn.LSTM(3, 4, proj_size=4)
    with pytest.raises(ValueError, match="nonlinearity"):
        nn.RNN(3, 4, nonlinearity="sin")
    layer = nn.GRU(3, 4)
    with pytest.raises(RuntimeError, match=r"Expected hidden size \(1, 2, 4\), got \[1, 3, 4\]"):
        layer(tenon.zeros(5, 2, 3), tenon.zeros(1, 3, 4))
    with pytest.raises(RuntimeError, match="Expected 3, got 5"):
        layer(tenon.zeros(5, 2, 5))
    with pytest.raises(RuntimeError, match="decreasing order"):
        rnn.pack_padded_sequence(tenon.zeros(4, 2, 3), [1, 2])
    with pytest.raises(RuntimeError, match=r"\[lstm\] expected 4 parameters for each of 1 layers"):
        tenon.lstm(
            tenon.zeros(2, 1, 3), [tenon.zeros(1, 1, 4)] * 2, [tenon.zeros(16, 3)], True, 1, 0.0, False, False, False
        )


def test_sequences_of_different_lengths():
    parts = [tenon.tensor([1.0, 2.0, 3.0]), tenon.tensor([4.0])]
    assert rnn.pad_sequence(parts, batch_first=True, padding_value=9).tolist() == [[1, 2, 3], [4, 9, 9]]
    assert rnn.pad_sequence(parts, padding_side="left").tolist() == [[1, 0], [2, 0], [3, 4]]
    packed = rnn.pack_sequence(parts)
    assert packed.data.tolist() == [1, 4, 2, 3] and packed.batch_sizes.tolist() == [2, 1, 1]
    assert [t.tolist() for t in rnn.unpack_sequence(packed)] == [[1, 2, 3], [4]]


def _recurrent(name, hx, params, has_biases=True, num_layers=1, bidirectional=False, packed=False):
    data = tenon.ones(3, 2, 4)
    settings = (has_biases, num_layers, 0.0, False, bidirectional)
    if packed:
        return getattr(tenon, name)(data.flatten(0, 1), tenon.tensor([2, 2, 2]), hx, params, *settings)
    return getattr(tenon, name)(data, hx, params, *settings, False)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(("name", "gates"), [("lstm", 4), ("gru", 3), ("rnn_tanh", 1), ("rnn_relu", 1)])
def test_malformed_lists_are_errors(name, gates, packed):
    def tensors(*sizes):
        return [tenon.ones(s) for s in sizes]

    state = tenon.zeros(1, 2, 5)
    good = tensors((5 * gates, 4), (5 * gates, 5), (5 * gates,), (5 * gates,))
    states = (lambda h: [h, h]) if name == "lstm" else (lambda h: h)
    assert _recurrent(name, states(state), good, packed=packed)[0].shape == ((6, 5) if packed else (3, 2, 5))
    wrong_states = [states(tenon.ones(s)) for s in ((), (5,), (2, 5), (1, 1, 2, 5), (2, 2, 5), (1, 3, 5), (1, 2, 4))]
    if name == "lstm":
        wrong_states += [
            [],
            [state],
            [state] * 3,
            tensors((), (5,)),
            tensors((2, 5), (1, 2, 5)),
            tensors((1, 2, 5), (1, 2)),
        ]
    for hx in wrong_states:
        for params in (good, []):
            for layers in (1, 2, 1 << 62, (1 << 63) - 1):
                for bidirectional in (False, True):
                    with pytest.raises((RuntimeError, IndexError)):
                        _recurrent(name, hx, params, num_layers=layers, bidirectional=bidirectional, packed=packed)
    for layers in (0, -1, 1 << 62, -(1 << 62)):
        for bidirectional in (False, True):
            for params in ([], good):
                with pytest.raises((RuntimeError, IndexError)):
                    _recurrent(
                        name, states(state), params, num_layers=layers, bidirectional=bidirectional, packed=packed
                    )
    for place, wrong in (
        (0, ()),
        (0, (20,)),
        (0, (5 * gates, 3)),
        (0, (5 * gates + 1, 4)),
        (1, ()),
        (1, (5 * gates, 6)),
        (1, (5 * gates,)),
        (3, (5 * gates + 1,)),
    ):
        with pytest.raises((RuntimeError, IndexError)):
            _recurrent(
                name, states(state), [tenon.ones(wrong) if i == place else t for i, t in enumerate(good)], packed=packed
            )
    with pytest.raises(RuntimeError, match="layer 1"):
        second = tensors((5 * gates, 4), (5 * gates, 5), (5 * gates,), (5 * gates,))
        _recurrent(name, states(tenon.zeros(2, 2, 5)), good + second, num_layers=2, packed=packed)


def test_malformed_projections_are_errors():
    hx = [tenon.zeros(1, 2, 3), tenon.zeros(1, 2, 5)]
    good = [tenon.ones(20, 4), tenon.ones(20, 3), tenon.ones(3, 5)]
    assert _recurrent("lstm", hx, good, has_biases=False)[0].shape == (3, 2, 3)
    for wrong in ((), (5,), (5, 3), (3, 4), (1, 3, 5)):
        with pytest.raises(RuntimeError, match="projections must be"):
            _recurrent("lstm", hx, [*good[:2], tenon.ones(wrong)], has_biases=False)


@pytest.mark.parametrize(
    ("name", "gates"), [("lstm_cell", 4), ("gru_cell", 3), ("rnn_tanh_cell", 1), ("rnn_relu_cell", 1)]
)
def test_malformed_cells_are_errors(name, gates):
    cell, state = getattr(tenon, name), tenon.zeros(2, 5)
    states = (lambda h: [h, h]) if name == "lstm_cell" else (lambda h: h)
    good = [tenon.ones(5 * gates, 4), tenon.ones(5 * gates, 5), tenon.ones(5 * gates), tenon.ones(5 * gates)]
    cell(tenon.ones(2, 4), states(state), *good)
    for x in ((), (4,), (2, 3), (1, 2, 4)):
        with pytest.raises((RuntimeError, IndexError)):
            cell(tenon.ones(x), states(state), *good)
    for h in ((), (5,), (2, 4), (3, 5), (1, 2, 5)):
        with pytest.raises((RuntimeError, IndexError)):
            cell(tenon.ones(2, 4), states(tenon.ones(h)), *good)
    for place, wrong in (
        (0, ()),
        (0, (5 * gates,)),
        (0, (5 * gates + 1, 4)),
        (1, ()),
        (1, (5 * gates, 6)),
        (3, (5 * gates + 1,)),
    ):
        with pytest.raises((RuntimeError, IndexError)):
            cell(tenon.ones(2, 4), states(state), *[tenon.ones(wrong) if i == place else t for i, t in enumerate(good)])
    if name == "lstm_cell":
        for wrong in ([], [state], [state] * 3):
            with pytest.raises((RuntimeError, IndexError)):
                cell(tenon.ones(2, 4), wrong, *good)


def test_packed_sequences_are_cast(lib):
    rnn = lib.nn.utils.rnn
    packed = rnn.pack_padded_sequence(lib.arange(6.0).view(3, 2, 1), [3, 2])
    assert packed.cpu() is packed and packed.float() is packed and not packed.is_pinned()
    for name in ("double", "half", "long", "int", "short", "char", "byte"):
        cast = getattr(packed, name)()
        assert cast.data.dtype == getattr(packed.data, name)().dtype and cast.batch_sizes is packed.batch_sizes
    with pytest.raises(RuntimeError, match="Cannot pack empty tensors"):
        rnn.pack_padded_sequence(lib.ones(0, 1, 2), [0])
    with pytest.raises(RuntimeError, match="Expected iterable for input sequences"):
        rnn.pad_sequence(5)
