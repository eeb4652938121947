"""Recurrent layers and their cells."""

import math

import tenon
from tenon.nn import init
from tenon.nn.modules.module import Module
from tenon.nn.parameter import options_of, parameter
from tenon.nn.utils.rnn import PackedSequence

_GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}


def _uniform(module):
    bound = 1 / math.sqrt(module.hidden_size) if module.hidden_size > 0 else 0
    for weight in module.parameters():
        init.uniform_(weight, -bound, bound)


class RNNBase(Module):
    """num_layers layers, each of one direction or of both, over sequences [L, N, input_size], with batch_first [N, L, input_size],
    without N of one sequence, or a PackedSequence. Gives the outputs of the last layer and the last state of each layer and
    direction, [layers times directions, N, hidden_size]."""

    def __init__(
        self,
        mode,
        input_size,
        hidden_size,
        num_layers=1,
        bias=True,
        batch_first=False,
        dropout=0.0,
        bidirectional=False,
        proj_size=0,
        device=None,
        dtype=None,
    ):
        super().__init__()
        if isinstance(dropout, bool) or not 0 <= dropout <= 1:
            raise ValueError(
                "dropout should be a number in range [0, 1] representing the probability of an element being zeroed"
            )
        if hidden_size <= 0:
            raise ValueError(f"hidden_size must be greater than zero, got {hidden_size}")
        if num_layers <= 0:
            raise ValueError(f"num_layers must be greater than zero, got {num_layers}")
        if not 0 <= proj_size < hidden_size:
            raise ValueError(
                f"proj_size has to be a non-negative integer smaller than hidden_size, got {proj_size} and {hidden_size}"
            )
        self.mode, self.input_size, self.hidden_size, self.num_layers, self.bias = (
            mode,
            input_size,
            hidden_size,
            num_layers,
            bias,
        )
        self.batch_first, self.dropout, self.bidirectional, self.proj_size = (
            batch_first,
            float(dropout),
            bidirectional,
            proj_size,
        )
        options, rows, seen = options_of(device, dtype), _GATES[mode] * hidden_size, proj_size or hidden_size
        self._names = []
        for layer in range(num_layers):
            for suffix in ("", "_reverse")[: self._directions]:
                shapes = {
                    "weight_ih": (rows, seen * self._directions if layer else input_size),
                    "weight_hh": (rows, seen),
                }
                if bias:
                    shapes.update(bias_ih=(rows,), bias_hh=(rows,))
                if proj_size:
                    shapes["weight_hr"] = (proj_size, hidden_size)
                for name, shape in shapes.items():
                    self._names.append(f"{name}_l{layer}{suffix}")
                    self.register_parameter(self._names[-1], parameter(shape, options))
        self.reset_parameters()

    @property
    def _directions(self):
        return 2 if self.bidirectional else 1

    @property
    def all_weights(self):
        each = 2 + 2 * bool(self.bias) + bool(self.proj_size)
        return [[getattr(self, name) for name in self._names[i : i + each]] for i in range(0, len(self._names), each)]

    def reset_parameters(self):
        _uniform(self)

    def flatten_parameters(self):
        """Nothing: weights are read where they lie."""

    def _states(self, hx):
        """The states that forward() was given, as a tuple."""
        return (hx,)

    def _run(self, function, input, hx):
        name, packed = type(self).__name__, isinstance(input, PackedSequence)
        data = input.data if packed else input
        if not packed and data.dim() not in (2, 3):
            raise ValueError(f"{name}: Expected input to be 2D or 3D, got {data.dim()}D instead")
        if data.shape[-1] != self.input_size:
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {data.shape[-1]}"
            )
        batched = packed or data.dim() == 3
        if not batched:
            data = data.unsqueeze(0 if self.batch_first else 1)
        batch = int(input.batch_sizes[0]) if packed else data.shape[0 if self.batch_first else 1]
        widths = [self.proj_size or self.hidden_size] + [self.hidden_size] * (self.mode == "LSTM")
        if hx is None:
            states = [
                tenon.zeros(self.num_layers * self._directions, batch, width, dtype=data.dtype, device=data.device)
                for width in widths
            ]
        else:
            states = self._states(hx)
            if any(h.dim() != (3 if batched else 2) for h in states):
                raise RuntimeError(
                    f"For {'batched 3-D' if batched else 'unbatched 2-D'} input, hx should also be {3 if batched else 2}-D but got "
                    f"{', '.join(f'{h.dim()}-D' for h in states)} tensor"
                )
            if not batched:
                states = [h.unsqueeze(1) for h in states]
            for i, (h, width) in enumerate(zip(states, widths)):
                wanted = (self.num_layers * self._directions, batch, width)
                if tuple(h.shape) != wanted:
                    which = f"hidden[{i}]" if len(widths) > 1 else "hidden"
                    raise RuntimeError(f"Expected {which} size {wanted}, got {list(h.shape)}")
            if packed and input.sorted_indices is not None:
                states = [h.index_select(1, input.sorted_indices) for h in states]
        weights = [getattr(self, name) for name in self._names]
        given = list(states) if self.mode == "LSTM" else states[0]
        settings = (weights, self.bias, self.num_layers, self.dropout, self.training, self.bidirectional)
        if packed:
            output, *last = function(data, input.batch_sizes, given, *settings)
            output = PackedSequence(output, *input[1:])
            if input.unsorted_indices is not None:
                last = [h.index_select(1, input.unsorted_indices) for h in last]
        else:
            output, *last = function(data, given, *settings, self.batch_first)
        if not batched:
            output, last = output.squeeze(0 if self.batch_first else 1), [h.squeeze(1) for h in last]
        return output, tuple(last) if len(last) > 1 else last[0]

    def extra_repr(self):
        text = f"{self.input_size}, {self.hidden_size}"
        for name, usual in (
            ("proj_size", 0),
            ("num_layers", 1),
            ("bias", True),
            ("batch_first", False),
            ("dropout", 0),
            ("bidirectional", False),
        ):
            if getattr(self, name) != usual:
                text += f", {name}={getattr(self, name)}"
        return text


class RNN(RNNBase):
    """h = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu."""

    def __init__(
        self,
        input_size,
        hidden_size,
        num_layers=1,
        nonlinearity="tanh",
        bias=True,
        batch_first=False,
        dropout=0.0,
        bidirectional=False,
        device=None,
        dtype=None,
    ):
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        super().__init__(
            f"RNN_{nonlinearity.upper()}",
            input_size,
            hidden_size,
            num_layers,
            bias,
            batch_first,
            dropout,
            bidirectional,
            device=device,
            dtype=dtype,
        )
        self.nonlinearity = nonlinearity

    def forward(self, input, hx=None):
        return self._run(tenon.rnn_tanh if self.nonlinearity == "tanh" else tenon.rnn_relu, input, hx)


class GRU(RNNBase):
    """Gated recurrent units (Cho et al. 2014)."""

    def __init__(
        self,
        input_size,
        hidden_size,
        num_layers=1,
        bias=True,
        batch_first=False,
        dropout=0.0,
        bidirectional=False,
        device=None,
        dtype=None,
    ):
        super().__init__(
            "GRU",
            input_size,
            hidden_size,
            num_layers,
            bias,
            batch_first,
            dropout,
            bidirectional,
            device=device,
            dtype=dtype,
        )

    def forward(self, input, hx=None):
        return self._run(tenon.gru, input, hx)


class LSTM(RNNBase):
    """Long short-term memory (Hochreiter and Schmidhuber 1997): the state is a pair (h, c); with proj_size h is a projection."""

    def __init__(
        self,
        input_size,
        hidden_size,
        num_layers=1,
        bias=True,
        batch_first=False,
        dropout=0.0,
        bidirectional=False,
        proj_size=0,
        device=None,
        dtype=None,
    ):
        super().__init__(
            "LSTM",
            input_size,
            hidden_size,
            num_layers,
            bias,
            batch_first,
            dropout,
            bidirectional,
            proj_size,
            device,
            dtype,
        )

    def _states(self, hx):
        return tuple(hx)

    def forward(self, input, hx=None):
        return self._run(tenon.lstm, input, hx)


class RNNCellBase(Module):
    def __init__(self, input_size, hidden_size, bias, num_chunks, device=None, dtype=None):
        super().__init__()
        options = options_of(device, dtype)
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        rows = num_chunks * hidden_size
        self.weight_ih, self.weight_hh = parameter((rows, input_size), options), parameter((rows, hidden_size), options)
        self.register_parameter("bias_ih", parameter((rows,), options) if bias else None)
        self.register_parameter("bias_hh", parameter((rows,), options) if bias else None)
        self.reset_parameters()

    def reset_parameters(self):
        _uniform(self)

    def _run(self, function, input, states):
        """One step of [N, input_size], or of [input_size]; states: one or two, or None for zeros."""
        if input.dim() not in (1, 2):
            raise ValueError(f"{type(self).__name__}: Expected input to be 1D or 2D, got {input.dim()}D instead")
        batched = input.dim() == 2
        x = input if batched else input.unsqueeze(0)
        count = 2 if isinstance(self, LSTMCell) else 1
        if states is None:
            states = [tenon.zeros(x.shape[0], self.hidden_size, dtype=x.dtype, device=x.device)] * count
        elif not batched:
            states = [h.unsqueeze(0) for h in states]
        found = function(
            x, list(states) if count == 2 else states[0], self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh
        )
        found = (found,) if count == 1 else tuple(found)
        found = found if batched else tuple(h.squeeze(0) for h in found)
        return found if count == 2 else found[0]

    def extra_repr(self):
        text = f"{self.input_size}, {self.hidden_size}"
        if not self.bias:
            text += f", bias={self.bias}"
        if getattr(self, "nonlinearity", "tanh") != "tanh":
            text += f", nonlinearity={self.nonlinearity}"
        return text


class RNNCell(RNNCellBase):
    def __init__(self, input_size, hidden_size, bias=True, nonlinearity="tanh", device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input, hx=None):
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        return self._run(
            tenon.rnn_tanh_cell if self.nonlinearity == "tanh" else tenon.rnn_relu_cell,
            input,
            hx if hx is None else (hx,),
        )


class GRUCell(RNNCellBase):
    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input, hx=None):
        return self._run(tenon.gru_cell, input, hx if hx is None else (hx,))


class LSTMCell(RNNCellBase):
    """The state is a pair (h, c)."""

    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input, hx=None):
        return self._run(tenon.lstm_cell, input, hx)
