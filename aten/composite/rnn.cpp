#include <algorithm>

#include "tenon/native/gru.h"
#include "tenon/native/gru_cell.h"
#include "tenon/native/lstm.h"
#include "tenon/native/lstm_cell.h"
#include "tenon/native/rnn_relu.h"
#include "tenon/native/rnn_relu_cell.h"
#include "tenon/native/rnn_tanh.h"
#include "tenon/native/rnn_tanh_cell.h"
#include "tenon/ops/_gru_gates.h"
#include "tenon/ops/_lstm_gates.h"
#include "tenon/ops/add.h"
#include "tenon/ops/cat.h"
#include "tenon/ops/dropout.h"
#include "tenon/ops/flatten.h"
#include "tenon/ops/linear.h"
#include "tenon/ops/relu.h"
#include "tenon/ops/split_with_sizes.h"
#include "tenon/ops/stack.h"
#include "tenon/ops/tanh.h"
#include "tenon/ops/to.h"
#include "tenon/ops/transpose.h"

/// Recurrent layers and their cells. A padded batch [L, N, C] is computed like a packed one, [sum
/// of batch sizes, C]: the steps of all sequences one after the other, of which there are fewer
/// once the shorter sequences have ended.
namespace tenon {
namespace {

/// h, and c of an LSTM: [N, hidden size].
using State = std::vector<Tensor>;

struct Weights {
  Tensor w_ih, w_hh;
  std::optional<Tensor> b_ih, b_hh;
  std::optional<Tensor> w_hr;  // of an LSTM with projections
};

/// The state after a step; `gates` is what the input gives: input w_ih^T + b_ih.
using Step = State (*)(const Tensor& gates, const State& state, const Weights& w);

Tensor from_state(const State& state, const Weights& w) { return linear(state[0], w.w_hh, w.b_hh); }

/// The gates, `count` parts of one width. Their gradients are joined at once.
std::vector<Tensor> parts_of(const Tensor& gates, int64_t count) {
  const DimVector widths(static_cast<size_t>(count), gates.size(1) / count);
  return split_with_sizes(gates, widths, 1);
}

State tanh_step(const Tensor& gates, const State& state, const Weights& w) {
  return {tanh(gates + from_state(state, w))};
}

State relu_step(const Tensor& gates, const State& state, const Weights& w) {
  return {relu(gates + from_state(state, w))};
}

/// c = f c + i g, h = o tanh(c) with gates i, f, g, o (Hochreiter and Schmidhuber 1997).
State lstm_step(const Tensor& gates, const State& state, const Weights& w) {
  const Tensor sums = gates + from_state(state, w);
  TENON_CHECK(is_differentiable(sums.scalar_type()),
              "[lstm] result type Float can't be cast to the desired output type ",
              sums.scalar_type());
  const std::vector<Tensor> parts = parts_of(sums, 4);
  const auto [h, c] = _lstm_gates(parts[0], parts[1], parts[2], parts[3], state[1]);
  return {w.w_hr ? linear(h, *w.w_hr) : h, c};
}

/// h = (1 - z) n + z h with gates r, z, n, where r multiplies what n has of the state, its bias
/// included (Cho et al. 2014).
State gru_step(const Tensor& gates, const State& state, const Weights& w) {
  const int64_t width = gates.size(1) / 3;
  const DimVector widths{2 * width, width};
  const std::vector<Tensor> input = split_with_sizes(gates, widths, 1),
                            own = split_with_sizes(from_state(state, w), widths, 1),
                            sums = parts_of(input[0] + own[0], 2);
  return {_gru_gates(sums[0], sums[1], input[1], own[1], state[0])};
}

/// `count` rows of each tensor of a state.
State rows(const State& state, int64_t from, int64_t count) {
  if (count == state[0].size(0)) return state;
  State some;
  for (const Tensor& t : state) some.push_back(t.narrow(0, from, count));
  return some;
}

/// One layer in one direction: its outputs [sum of batch sizes, hidden size], and the last state of
/// every sequence.
std::pair<Tensor, State> run_layer(const Tensor& data, const std::vector<int64_t>& batch_sizes,
                                   const State& start, const Weights& w, Step step, bool reverse) {
  const std::vector<Tensor> gates = split_with_sizes(linear(data, w.w_ih, w.b_ih), batch_sizes, 0);
  const auto steps = static_cast<int64_t>(batch_sizes.size());
  std::vector<Tensor> outputs(batch_sizes.size());
  std::vector<State> ended;  // of sequences, the shortest first
  State state = rows(start, 0, batch_sizes[static_cast<size_t>(reverse ? steps - 1 : 0)]);
  for (int64_t i = 0; i < steps; ++i) {
    const auto t = static_cast<size_t>(reverse ? steps - 1 - i : i);
    const int64_t batch = batch_sizes[t], before = state[0].size(0);
    if (batch < before) {
      ended.push_back(rows(state, batch, before - batch));
      state = rows(state, 0, batch);
    } else if (batch > before) {
      const State more = rows(start, before, batch - before);
      for (size_t k = 0; k < state.size(); ++k) state[k] = cat({state[k], more[k]}, 0);
    }
    state = step(gates[t], state, w);
    outputs[t] = state[0];
  }
  for (size_t k = 0; k < state.size() && !ended.empty(); ++k) {
    std::vector<Tensor> parts{state[k]};
    for (auto e = ended.rbegin(); e != ended.rend(); ++e) parts.push_back((*e)[k]);
    state[k] = cat(parts, 0);
  }
  return {cat(outputs, 0), state};
}

struct Settings {
  const char* op;
  Step step;
  int64_t gates;  // in a row of w_ih for each hidden element
  bool has_biases;
  int64_t num_layers;
  double dropout;
  bool train, bidirectional;
};

void check_defined(const char* op, const char* name, TensorList tensors) {
  for (size_t i = 0; i < tensors.size(); ++i) {
    TENON_CHECK(tensors[i].defined(), "[", op, "] expected tensors in ", name,
                ", got an undefined one at ", i);
  }
}

/// A row of w_ih and w_hh for each gate of each hidden element; what w_hh sees is the hidden state,
/// or its projection. Of a single gate w_ih may have one row, which serves all elements. Biases
/// are broadcast. A missing dimension is an IndexError, as PyTorch's.
void check_weights(const char* op, int64_t gates, const Weights& w) {
  const int64_t rows = w.w_ih.size(0), own_rows = w.w_hh.size(0), hidden = w.w_hh.size(1);
  w.w_ih.size(1);
  TENON_CHECK(w.w_ih.dim() == 2 && w.w_hh.dim() == 2 && rows % gates == 0 &&
                  (own_rows == rows || (gates == 1 && rows == 1)) &&
                  (w.w_hr || std::max(rows, own_rows) == gates * hidden),
              "[", op, "] weights must be [", gates, " hidden, input] and [", gates,
              " hidden, hidden], got ", w.w_ih.sizes(), " and ", w.w_hh.sizes());
  TENON_CHECK(!w.w_hr || (w.w_hr->dim() == 2 && w.w_hr->size(0) == w.w_hh.size(1) &&
                          w.w_hr->size(1) == w.w_ih.size(0) / gates),
              "[", op, "] projections must be [", w.w_hh.size(1), ", ", w.w_ih.size(0) / gates,
              "], got ", w.w_hr ? w.w_hr->sizes() : IntArrayRef());
}

/// The weights of each layer and direction, in the order in which they are used.
std::vector<Weights> weights_of(const Settings& s, TensorList params, bool projected) {
  check_defined(s.op, "params", params);
  const size_t each = 2 + (s.has_biases ? 2 : 0) + (projected ? 1 : 0);
  const size_t directions = s.bidirectional ? 2 : 1, count = params.size() / each;
  TENON_CHECK(s.num_layers > 0, "[", s.op, "] num_layers must be positive, got ", s.num_layers);
  TENON_CHECK(count * each == params.size() && count % directions == 0 &&
                  count / directions == static_cast<size_t>(s.num_layers),
              "[", s.op, "] expected ", each, " parameters for each of ", s.num_layers,
              " layers in ", directions, " directions, got ", params.size());
  std::vector<Weights> all;
  for (size_t i = 0; i < count; ++i) {
    const Tensor* p = params.data() + i * each;
    Weights w{p[0], p[1], std::nullopt, std::nullopt, std::nullopt};
    if (s.has_biases) w.b_ih = p[2], w.b_hh = p[3];
    if (projected) w.w_hr = p[each - 1];
    check_weights(s.op, s.gates, w);
    all.push_back(std::move(w));
  }
  const IntArrayRef hidden = all[0].w_hh.sizes();
  for (size_t i = 0; i < count; ++i) {
    const int64_t inputs =
        i < directions ? all[0].w_ih.size(1) : static_cast<int64_t>(directions) * hidden[1];
    TENON_CHECK(all[i].w_ih.size(1) == inputs && all[i].w_hh.size(1) == hidden[1], "[", s.op,
                "] the weights of layer ", i / directions, " must be ",
                IntArrayRef({hidden[0], inputs}), " and ", hidden, ", got ", all[i].w_ih.sizes(),
                " and ", all[i].w_hh.sizes());
  }
  return all;
}

/// data [sum of batch sizes, C], states [layers times directions, N, hidden size]: the outputs of
/// the last layer and the last states.
std::pair<Tensor, State> run(const Settings& s, Tensor data,
                             const std::vector<int64_t>& batch_sizes, TensorList hx,
                             TensorList params) {
  check_defined(s.op, "hx", hx);
  for (const Tensor& h : hx) h.size(2);  // IndexError of fewer dimensions, as PyTorch's
  const bool projected =
      hx.size() == 2 && hx[0].dim() == 3 && hx[1].dim() == 3 && hx[0].size(2) != hx[1].size(2);
  const std::vector<Weights> weights = weights_of(s, params, projected);
  const int64_t directions = s.bidirectional ? 2 : 1, count = s.num_layers * directions;
  TENON_CHECK(!batch_sizes.empty(), "[", s.op,
              "] Expected sequence length to be larger than 0 in RNN");
  TENON_CHECK(data.size(-1) == weights[0].w_ih.size(1), "[", s.op,
              "] input.size(-1) must be equal to input_size. Expected ", weights[0].w_ih.size(1),
              ", got ", data.size(-1));
  for (const Tensor& h : hx) {
    const bool is_c = &h != hx.data();
    const int64_t hidden = is_c ? weights[0].w_ih.size(0) / s.gates : weights[0].w_hh.size(1);
    TENON_CHECK(h.dim() == 3 && h.size(0) == count && h.size(1) == batch_sizes[0] &&
                    h.size(2) == hidden,
                "[", s.op, "] Expected hidden", hx.size() == 2 ? (is_c ? "[1]" : "[0]") : "",
                " size (", count, ", ", batch_sizes[0], ", ", hidden, "), got ", h.sizes());
    TENON_CHECK(h.scalar_type() == data.scalar_type(), "[", s.op,
                "] Input and hidden tensors are not the same dtype, got ", data.scalar_type(),
                " and ", h.scalar_type());
  }
  std::vector<std::vector<Tensor>> last(hx.size());
  for (int64_t layer = 0; layer < s.num_layers; ++layer) {
    std::vector<Tensor> outputs;
    for (int64_t direction = 0; direction < directions; ++direction) {
      const int64_t i = layer * directions + direction;
      State start;
      for (const Tensor& h : hx) start.push_back(h.select(0, i));
      auto [output, state] = run_layer(data, batch_sizes, start, weights[static_cast<size_t>(i)],
                                       s.step, direction == 1);
      outputs.push_back(std::move(output));
      for (size_t k = 0; k < state.size(); ++k) last[k].push_back(state[k]);
    }
    data = directions == 2 ? cat(outputs, 1) : outputs[0];
    if (s.train && s.dropout > 0 && layer + 1 < s.num_layers)
      data = tenon::dropout(data, s.dropout, s.train);
  }
  State states;
  for (const auto& each : last) states.push_back(stack(each, 0));
  return {data, states};
}

/// The same of [L, N, C], or [N, L, C] where the batch is first.
std::pair<Tensor, State> run_padded(const Settings& s, const Tensor& input, bool batch_first,
                                    TensorList hx, TensorList params) {
  TENON_CHECK(input.dim() == 3, "[", s.op, "] Expected input of 3 dimensions, got ", input.sizes());
  const Tensor x = batch_first ? input.transpose(0, 1) : input;
  const int64_t steps = x.size(0), batch = x.size(1);
  auto [data, states] =
      run(s, x.flatten(0, 1), std::vector<int64_t>(static_cast<size_t>(steps), batch), hx, params);
  data = data.reshape({steps, batch, data.size(1)});
  return {batch_first ? data.transpose(0, 1) : data, states};
}

/// The same of a packed sequence, whose batch sizes do not grow.
std::pair<Tensor, State> run_packed(const Settings& s, const Tensor& data,
                                    const Tensor& batch_sizes, TensorList hx, TensorList params) {
  TENON_CHECK(data.dim() == 2, "[", s.op, "] Expected packed data of 2 dimensions, got ",
              data.sizes());
  TENON_CHECK(batch_sizes.dim() == 1 && batch_sizes.scalar_type() == kLong &&
                  batch_sizes.device() == kCPU,
              "[", s.op, "] batch_sizes must be int64 numbers of one dimension on the CPU, got ",
              batch_sizes.scalar_type(), " ", batch_sizes.sizes());
  const Tensor list = batch_sizes.resolve_neg().contiguous();
  const auto* p = list.const_data_ptr<int64_t>();
  const std::vector<int64_t> sizes(p, p + list.numel());
  int64_t sum = 0;
  for (size_t t = 0; t < sizes.size(); ++t) {
    TENON_CHECK(sizes[t] > 0 && (t == 0 || sizes[t] <= sizes[t - 1]), "[", s.op,
                "] batch_sizes must be positive and must not grow, got ", sizes[t], " at step ", t);
    sum += sizes[t];
  }
  TENON_CHECK(sum <= data.size(0), "[", s.op,
              "] batch_sizes must add up to no more than the rows of data, got ", sum, " and ",
              data.size(0));
  return run(s, sum == data.size(0) ? data : data.narrow(0, 0, sum), sizes, hx, params);
}

void check_states(const char* op, TensorList hx) {
  TENON_CHECK(hx.size() == 2, "[", op, "] expects two hidden states, got ", hx.size());
  check_defined(op, "hx", hx);
}

/// One step of one layer.
State cell(const char* op, Step step, int64_t gates, const Tensor& input, const State& hx,
           const Weights& w) {
  check_weights(op, gates, w);
  TENON_CHECK(input.dim() == 2, "[", op, "] Expected 2D input (batch x feature), but got ",
              input.dim(), "D input");
  TENON_CHECK(w.w_ih.size(0) == gates * w.w_hh.size(1), "[", op, "] weight_ih first dim must be ",
              gates, " * hidden_size = ", gates * w.w_hh.size(1), ", but got ", w.w_ih.size(0));
  TENON_CHECK(input.size(1) == w.w_ih.size(1), "[", op, "] input has inconsistent input_size: got ",
              input.size(1), " expected ", w.w_ih.size(1));
  for (const Tensor& h : hx) {
    TENON_CHECK(h.dim() == 2, "[", op, "] Expected 2D hidden", &h - hx.data(),
                " (batch x hidden_size), but got ", h.dim(), "D tensor");
    TENON_CHECK(h.size(0) == input.size(0) && h.size(1) == w.w_hh.size(1), "[", op,
                "] hidden state must be [", input.size(0), ", ", w.w_hh.size(1), "], got ",
                h.sizes());
  }
  return step(linear(input, w.w_ih, w.b_ih), hx, w);
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> native::lstm_input(const Tensor& input, TensorList hx,
                                                      TensorList params, bool has_biases,
                                                      int64_t num_layers, double dropout,
                                                      bool train, bool bidirectional,
                                                      bool batch_first) {
  check_states("lstm", hx);
  const auto [output, states] =
      run_padded({"lstm", lstm_step, 4, has_biases, num_layers, dropout, train, bidirectional},
                 input, batch_first, hx, params);
  return {output, states[0], states[1]};
}

std::tuple<Tensor, Tensor, Tensor> native::lstm_data(const Tensor& data, const Tensor& batch_sizes,
                                                     TensorList hx, TensorList params,
                                                     bool has_biases, int64_t num_layers,
                                                     double dropout, bool train,
                                                     bool bidirectional) {
  check_states("lstm", hx);
  const auto [output, states] =
      run_packed({"lstm", lstm_step, 4, has_biases, num_layers, dropout, train, bidirectional},
                 data, batch_sizes, hx, params);
  return {output, states[0], states[1]};
}

std::tuple<Tensor, Tensor> native::gru_input(const Tensor& input, const Tensor& hx,
                                             TensorList params, bool has_biases, int64_t num_layers,
                                             double dropout, bool train, bool bidirectional,
                                             bool batch_first) {
  const auto [output, states] =
      run_padded({"gru", gru_step, 3, has_biases, num_layers, dropout, train, bidirectional}, input,
                 batch_first, hx, params);
  return {output, states[0]};
}

std::tuple<Tensor, Tensor> native::gru_data(const Tensor& data, const Tensor& batch_sizes,
                                            const Tensor& hx, TensorList params, bool has_biases,
                                            int64_t num_layers, double dropout, bool train,
                                            bool bidirectional) {
  const auto [output, states] =
      run_packed({"gru", gru_step, 3, has_biases, num_layers, dropout, train, bidirectional}, data,
                 batch_sizes, hx, params);
  return {output, states[0]};
}

std::tuple<Tensor, Tensor> native::rnn_tanh_input(const Tensor& input, const Tensor& hx,
                                                  TensorList params, bool has_biases,
                                                  int64_t num_layers, double dropout, bool train,
                                                  bool bidirectional, bool batch_first) {
  const auto [output, states] =
      run_padded({"rnn_tanh", tanh_step, 1, has_biases, num_layers, dropout, train, bidirectional},
                 input, batch_first, hx, params);
  return {output, states[0]};
}

std::tuple<Tensor, Tensor> native::rnn_tanh_data(const Tensor& data, const Tensor& batch_sizes,
                                                 const Tensor& hx, TensorList params,
                                                 bool has_biases, int64_t num_layers,
                                                 double dropout, bool train, bool bidirectional) {
  const auto [output, states] =
      run_packed({"rnn_tanh", tanh_step, 1, has_biases, num_layers, dropout, train, bidirectional},
                 data, batch_sizes, hx, params);
  return {output, states[0]};
}

std::tuple<Tensor, Tensor> native::rnn_relu_input(const Tensor& input, const Tensor& hx,
                                                  TensorList params, bool has_biases,
                                                  int64_t num_layers, double dropout, bool train,
                                                  bool bidirectional, bool batch_first) {
  const auto [output, states] =
      run_padded({"rnn_relu", relu_step, 1, has_biases, num_layers, dropout, train, bidirectional},
                 input, batch_first, hx, params);
  return {output, states[0]};
}

std::tuple<Tensor, Tensor> native::rnn_relu_data(const Tensor& data, const Tensor& batch_sizes,
                                                 const Tensor& hx, TensorList params,
                                                 bool has_biases, int64_t num_layers,
                                                 double dropout, bool train, bool bidirectional) {
  const auto [output, states] =
      run_packed({"rnn_relu", relu_step, 1, has_biases, num_layers, dropout, train, bidirectional},
                 data, batch_sizes, hx, params);
  return {output, states[0]};
}

std::tuple<Tensor, Tensor> native::lstm_cell(const Tensor& input, TensorList hx, const Tensor& w_ih,
                                             const Tensor& w_hh, const std::optional<Tensor>& b_ih,
                                             const std::optional<Tensor>& b_hh) {
  check_states("lstm_cell", hx);
  const State state = cell("lstm_cell", lstm_step, 4, input, {hx[0], hx[1]},
                           {w_ih, w_hh, b_ih, b_hh, std::nullopt});
  return {state[0], state[1]};
}

Tensor native::gru_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih,
                        const Tensor& w_hh, const std::optional<Tensor>& b_ih,
                        const std::optional<Tensor>& b_hh) {
  return cell("gru_cell", gru_step, 3, input, {hx}, {w_ih, w_hh, b_ih, b_hh, std::nullopt})[0];
}

Tensor native::rnn_tanh_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih,
                             const Tensor& w_hh, const std::optional<Tensor>& b_ih,
                             const std::optional<Tensor>& b_hh) {
  return cell("rnn_tanh_cell", tanh_step, 1, input, {hx},
              {w_ih, w_hh, b_ih, b_hh, std::nullopt})[0];
}

Tensor native::rnn_relu_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih,
                             const Tensor& w_hh, const std::optional<Tensor>& b_ih,
                             const std::optional<Tensor>& b_hh) {
  return cell("rnn_relu_cell", relu_step, 1, input, {hx},
              {w_ih, w_hh, b_ih, b_hh, std::nullopt})[0];
}

}  // namespace tenon
