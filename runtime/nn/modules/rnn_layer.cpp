#include "runtime/nn/modules/rnn_layer.h"

#include <cmath>

#include "aten/dispatch/warning.h"
#include "runtime/nn/init.h"
#include "runtime/nn/utils/rnn.h"
#include "tenon/ops/empty.h"
#include "tenon/ops/gru.h"
#include "tenon/ops/index_select.h"
#include "tenon/ops/item.h"
#include "tenon/ops/lstm.h"
#include "tenon/ops/rnn_relu.h"
#include "tenon/ops/rnn_tanh.h"
#include "tenon/ops/select.h"
#include "tenon/ops/zeros.h"

namespace tenon::nn {

using utils::rnn::PackedSequence;

namespace detail {
namespace {

template <class Mode>
bool is(const RNNOptionsBase& options) {
  return std::holds_alternative<Mode>(options.mode());
}

int64_t gates_of(const RNNOptionsBase& options) {
  return is<enumtype::kLSTM>(options) ? 4 : is<enumtype::kGRU>(options) ? 3 : 1;
}

int64_t directions_of(const RNNOptionsBase& options) { return options.bidirectional() ? 2 : 1; }

/// Features of the state h.
int64_t state_size_of(const RNNOptionsBase& options) {
  return options.proj_size() > 0 ? options.proj_size() : options.hidden_size();
}

void check(const RNNOptionsBase& o) {
  const std::string mode = enum_text(o.mode());
  TENON_CHECK_VALUE(0 <= o.dropout() && o.dropout() <= 1, "[", mode,
                    "] dropout should be a number in range [0, 1] representing the probability of "
                    "an element being zeroed, got ",
                    o.dropout());
  TENON_CHECK_VALUE(o.input_size() >= 0 && o.hidden_size() > 0 && o.num_layers() > 0, "[", mode,
                    "] hidden_size and num_layers must be greater than zero, got ", o.hidden_size(),
                    " and ", o.num_layers(), ", and input_size not negative, got ", o.input_size());
  TENON_CHECK_VALUE(0 <= o.proj_size() && o.proj_size() < o.hidden_size(), "[", mode,
                    "] proj_size has to be a positive integer, smaller than hidden_size or zero to "
                    "disable projections, got ",
                    o.proj_size());
  TENON_CHECK_VALUE(o.proj_size() == 0 || is<enumtype::kLSTM>(o), "[", mode,
                    "] proj_size argument is only supported for LSTM, not RNN or GRU");
  if (o.dropout() > 0 && o.num_layers() == 1)
    TENON_WARN("dropout option adds dropout after all but last recurrent layer, so non-zero "
               "dropout expects num_layers greater than 1, but got dropout=",
               o.dropout(), " and num_layers=", o.num_layers());
}

/// An operator with one state, of sequences and of packed ones.
struct Operators {
  std::tuple<Tensor, Tensor> (*of_sequences)(const Tensor& input, const Tensor& hx,
                                             TensorList params, bool has_biases, int64_t num_layers,
                                             double dropout, bool train, bool bidirectional,
                                             bool batch_first);
  std::tuple<Tensor, Tensor> (*of_packed)(const Tensor& data, const Tensor& batch_sizes,
                                          const Tensor& hx, TensorList params, bool has_biases,
                                          int64_t num_layers, double dropout, bool train,
                                          bool bidirectional);
};

Operators operators_of(const RNNOptionsBase& options) {
  if (is<enumtype::kGRU>(options)) return {gru, gru};
  if (is<enumtype::kRNN_TANH>(options)) return {rnn_tanh, rnn_tanh};
  return {rnn_relu, rnn_relu};
}

}  // namespace

template <class Derived>
RNNImplBase<Derived>::RNNImplBase(const RNNOptionsBase& options) : options_base(options) {
  reset();
}

template <class Derived>
void RNNImplBase<Derived>::reset() {
  const RNNOptionsBase& o = options_base;
  check(o);
  flat_weights_names_.clear();
  const int64_t rows = gates_of(o) * o.hidden_size();
  for (int64_t layer = 0; layer < o.num_layers(); ++layer) {
    const int64_t features = layer == 0 ? o.input_size() : state_size_of(o) * directions_of(o);
    for (int64_t direction = 0; direction < directions_of(o); ++direction) {
      const auto add = [&](const char* name, IntArrayRef sizes) {
        flat_weights_names_.push_back(
            tenon::detail::concat(name, "_l", layer, direction == 1 ? "_reverse" : ""));
        this->register_parameter(flat_weights_names_.back(), empty(sizes, TensorOptions()));
      };
      add("weight_ih", {rows, features});
      add("weight_hh", {rows, state_size_of(o)});
      if (o.bias()) {
        add("bias_ih", {rows});
        add("bias_hh", {rows});
      }
      if (o.proj_size() > 0) add("weight_hr", {o.proj_size(), o.hidden_size()});
    }
  }
  reset_parameters();
}

template <class Derived>
void RNNImplBase<Derived>::reset_parameters() {
  const double bound = 1 / std::sqrt(static_cast<double>(options_base.hidden_size()));
  for (const Tensor& weight : this->parameters()) init::uniform_(weight, -bound, bound);
}

template <class Derived>
std::vector<Tensor> RNNImplBase<Derived>::all_weights() const {
  std::vector<Tensor> weights;
  weights.reserve(flat_weights_names_.size());
  for (const std::string& name : flat_weights_names_) weights.push_back(this->parameters_[name]);
  return weights;
}

template <class Derived>
void RNNImplBase<Derived>::pretty_print(std::ostream& out) const {
  const RNNOptionsBase& o = options_base;
  const auto word = [](bool value) { return value ? "true" : "false"; };
  const std::string name = this->name();
  out << name.substr(0, name.size() - 4) << "(input_size=" << o.input_size()
      << ", hidden_size=" << o.hidden_size() << ", num_layers=" << o.num_layers()
      << ", bias=" << word(o.bias()) << ", batch_first=" << word(o.batch_first())
      << ", dropout=" << o.dropout() << ", bidirectional=" << word(o.bidirectional());
  if (o.proj_size() > 0) out << ", proj_size=" << o.proj_size();
  out << ')';
}

template <class Derived>
std::vector<std::vector<int64_t>> RNNImplBase<Derived>::state_sizes(int64_t batch_size) const {
  const int64_t layers = options_base.num_layers() * directions_of(options_base);
  std::vector<std::vector<int64_t>> sizes{{layers, batch_size, state_size_of(options_base)}};
  if (is<enumtype::kLSTM>(options_base))
    sizes.push_back({layers, batch_size, options_base.hidden_size()});
  return sizes;
}

template <class Derived>
std::pair<Tensor, std::vector<Tensor>>
RNNImplBase<Derived>::run(const Tensor& input, std::vector<Tensor> states,
                          const Tensor& batch_sizes, const Tensor& sorted_indices) const {
  const auto& options = static_cast<const Derived&>(*this).options;
  const std::string mode = enum_text(options_base.mode());
  const bool packed = batch_sizes.defined();
  TENON_CHECK(input.dim() == (packed ? 2 : 3), "[", mode, "] input must have ", packed ? 2 : 3,
              " dimensions, got ", input.dim());
  TENON_CHECK(input.size(-1) == options_base.input_size(), "[", mode,
              "] input.size(-1) must be equal to input_size. Expected ", options_base.input_size(),
              ", got ", input.size(-1));
  const auto sizes = state_sizes(packed ? batch_sizes.select(0, 0).template item<int64_t>()
                                        : input.size(options.batch_first() ? 0 : 1));
  if (states.empty()) {
    for (const auto& size : sizes)
      states.push_back(zeros(size, TensorOptions(input.dtype()).device(input.device())));
  } else {
    for (size_t i = 0; i < sizes.size(); ++i) {
      const std::string which = sizes.size() == 1 ? "" : "[" + std::to_string(i) + "]";
      TENON_CHECK(states[i].sizes() == IntArrayRef(sizes[i]), "[", mode, "] Expected hidden", which,
                  " size ", IntArrayRef(sizes[i]), ", got ", states[i].sizes());
      if (sorted_indices.defined()) states[i] = states[i].index_select(1, sorted_indices);
    }
  }

  const std::vector<Tensor> weights = all_weights();
  const bool bias = options_base.bias(), train = this->is_training();
  const bool bidirectional = options_base.bidirectional();
  const int64_t layers = options_base.num_layers();
  const double dropout = options.dropout();
  if (is<enumtype::kLSTM>(options_base)) {
    auto [output, h, c] = packed ? lstm(input, batch_sizes, states, weights, bias, layers, dropout,
                                        train, bidirectional)
                                 : lstm(input, states, weights, bias, layers, dropout, train,
                                        bidirectional, options.batch_first());
    return {output, {h, c}};
  }
  const Operators operators = operators_of(options_base);
  auto [output, h] = packed
                         ? operators.of_packed(input, batch_sizes, states[0], weights, bias, layers,
                                               dropout, train, bidirectional)
                         : operators.of_sequences(input, states[0], weights, bias, layers, dropout,
                                                  train, bidirectional, options.batch_first());
  return {output, {h}};
}

template <class Derived>
std::pair<PackedSequence, std::vector<Tensor>>
RNNImplBase<Derived>::run_packed(const PackedSequence& input, std::vector<Tensor> states) const {
  auto [output, last] =
      run(input.data(), std::move(states), input.batch_sizes(), input.sorted_indices());
  if (input.unsorted_indices().defined()) {
    for (Tensor& state : last) state = state.index_select(1, input.unsorted_indices());
  }
  return {
      PackedSequence(output, input.batch_sizes(), input.sorted_indices(), input.unsorted_indices()),
      last};
}

template class RNNImplBase<RNNImpl>;
template class RNNImplBase<LSTMImpl>;
template class RNNImplBase<GRUImpl>;

}  // namespace detail

namespace {

template <class Options>
detail::RNNOptionsBase base_of(detail::RNNOptionsBase::rnn_options_base_mode_t mode,
                               const Options& options) {
  return detail::RNNOptionsBase(mode, options.input_size(), options.hidden_size())
      .num_layers(options.num_layers())
      .bias(options.bias())
      .batch_first(options.batch_first())
      .dropout(options.dropout())
      .bidirectional(options.bidirectional());
}

detail::RNNOptionsBase::rnn_options_base_mode_t mode_of(const RNNOptions& options) {
  if (std::holds_alternative<enumtype::kTanh>(options.nonlinearity())) return kRNN_TANH;
  return kRNN_RELU;
}

std::vector<Tensor> states_of(const Tensor& hx) {
  return hx.defined() ? std::vector<Tensor>{hx} : std::vector<Tensor>();
}

std::vector<Tensor> states_of(const std::optional<std::tuple<Tensor, Tensor>>& hx) {
  return hx ? std::vector<Tensor>{std::get<0>(*hx), std::get<1>(*hx)} : std::vector<Tensor>();
}

}  // namespace

RNNImpl::RNNImpl(const RNNOptions& options)
    : detail::RNNImplBase<RNNImpl>(base_of(mode_of(options), options)), options(options) {}

std::tuple<Tensor, Tensor> RNNImpl::forward(const Tensor& input, Tensor hx) {
  auto [output, states] = run(input, states_of(hx));
  return {output, states[0]};
}

std::tuple<PackedSequence, Tensor>
RNNImpl::forward_with_packed_input(const PackedSequence& packed_input, Tensor hx) {
  auto [output, states] = run_packed(packed_input, states_of(hx));
  return {output, states[0]};
}

LSTMImpl::LSTMImpl(const LSTMOptions& options)
    : detail::RNNImplBase<LSTMImpl>(base_of(kLSTM, options).proj_size(options.proj_size())),
      options(options) {}

std::tuple<Tensor, std::tuple<Tensor, Tensor>>
LSTMImpl::forward(const Tensor& input, std::optional<std::tuple<Tensor, Tensor>> hx_opt) {
  auto [output, states] = run(input, states_of(hx_opt));
  return {output, {states[0], states[1]}};
}

std::tuple<PackedSequence, std::tuple<Tensor, Tensor>>
LSTMImpl::forward_with_packed_input(const PackedSequence& packed_input,
                                    std::optional<std::tuple<Tensor, Tensor>> hx_opt) {
  auto [output, states] = run_packed(packed_input, states_of(hx_opt));
  return {output, {states[0], states[1]}};
}

GRUImpl::GRUImpl(const GRUOptions& options)
    : detail::RNNImplBase<GRUImpl>(base_of(kGRU, options)), options(options) {}

std::tuple<Tensor, Tensor> GRUImpl::forward(const Tensor& input, Tensor hx) {
  auto [output, states] = run(input, states_of(hx));
  return {output, states[0]};
}

std::tuple<PackedSequence, Tensor>
GRUImpl::forward_with_packed_input(const PackedSequence& packed_input, Tensor hx) {
  auto [output, states] = run_packed(packed_input, states_of(hx));
  return {output, states[0]};
}

}  // namespace tenon::nn
