#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/nn/arg.h"
#include "runtime/nn/cloneable.h"
#include "runtime/nn/enum.h"

namespace tenon::nn {

namespace utils::rnn {
class PackedSequence;
}

namespace detail {

/// Options that RNN, LSTM and GRU share.
struct RNNOptionsBase {
  using rnn_options_base_mode_t =
      std::variant<enumtype::kLSTM, enumtype::kGRU, enumtype::kRNN_TANH, enumtype::kRNN_RELU>;

  RNNOptionsBase(rnn_options_base_mode_t mode, int64_t input_size, int64_t hidden_size)
      : mode_(mode), input_size_(input_size), hidden_size_(hidden_size) {}

  TENON_ARG(rnn_options_base_mode_t, mode);
  TENON_ARG(int64_t, input_size);
  TENON_ARG(int64_t, hidden_size);
  TENON_ARG(int64_t, num_layers) = 1;
  TENON_ARG(bool, bias) = true;
  TENON_ARG(bool, batch_first) = false;
  TENON_ARG(double, dropout) = 0;
  TENON_ARG(bool, bidirectional) = false;
  TENON_ARG(int64_t, proj_size) = 0;
};

}  // namespace detail

/// `batch_first`: input and output are [N, L, features] and not [L, N, features]. `dropout` is
/// applied to the output of each layer but the last.
struct RNNOptions {
  using nonlinearity_t = std::variant<enumtype::kTanh, enumtype::kReLU>;

  RNNOptions(int64_t input_size, int64_t hidden_size)
      : input_size_(input_size), hidden_size_(hidden_size) {}
  TENON_ARG(int64_t, input_size);
  TENON_ARG(int64_t, hidden_size);
  TENON_ARG(int64_t, num_layers) = 1;
  TENON_ARG(nonlinearity_t, nonlinearity) = kTanh;
  TENON_ARG(bool, bias) = true;
  TENON_ARG(bool, batch_first) = false;
  TENON_ARG(double, dropout) = 0;
  TENON_ARG(bool, bidirectional) = false;
};

/// As RNNOptions. The output is projected to `proj_size` features unless that is 0.
struct LSTMOptions {
  LSTMOptions(int64_t input_size, int64_t hidden_size)
      : input_size_(input_size), hidden_size_(hidden_size) {}
  TENON_ARG(int64_t, input_size);
  TENON_ARG(int64_t, hidden_size);
  TENON_ARG(int64_t, num_layers) = 1;
  TENON_ARG(bool, bias) = true;
  TENON_ARG(bool, batch_first) = false;
  TENON_ARG(double, dropout) = 0;
  TENON_ARG(bool, bidirectional) = false;
  TENON_ARG(int64_t, proj_size) = 0;
};

/// As RNNOptions.
struct GRUOptions {
  GRUOptions(int64_t input_size, int64_t hidden_size)
      : input_size_(input_size), hidden_size_(hidden_size) {}
  TENON_ARG(int64_t, input_size);
  TENON_ARG(int64_t, hidden_size);
  TENON_ARG(int64_t, num_layers) = 1;
  TENON_ARG(bool, bias) = true;
  TENON_ARG(bool, batch_first) = false;
  TENON_ARG(double, dropout) = 0;
  TENON_ARG(bool, bidirectional) = false;
};

namespace detail {

/// Base of RNN, LSTM and GRU: num_layers layers of one direction or of both. Each layer and
/// direction has the parameters weight_ih_l{k}{_reverse} [gates * hidden_size, features of its
/// input], weight_hh_..., with `bias` bias_ih_... and bias_hh_..., with `proj_size` weight_hr_....
/// All are uniform in +-1 / sqrt(hidden_size) at first.
template <class Derived>
class TENON_API RNNImplBase : public Cloneable<Derived> {
 public:
  explicit RNNImplBase(const RNNOptionsBase& options);

  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& out) const override;

  /// Does nothing: operators read the weights where they are.
  void flatten_parameters() {}
  /// All parameters, layer by layer.
  std::vector<Tensor> all_weights() const;

  RNNOptionsBase options_base;

 protected:
  /// The output of the last layer and the last states; of LSTM two states, h and c. The states are
  /// zeros unless given. `batch_sizes` and `sorted_indices` are those of a PackedSequence, or
  /// undefined.
  std::pair<Tensor, std::vector<Tensor>> run(const Tensor& input, std::vector<Tensor> states,
                                             const Tensor& batch_sizes = {},
                                             const Tensor& sorted_indices = {}) const;
  std::pair<utils::rnn::PackedSequence, std::vector<Tensor>>
  run_packed(const utils::rnn::PackedSequence& input, std::vector<Tensor> states) const;

 private:
  /// Sizes of the states h and c, the first of which is that of RNN and GRU.
  std::vector<std::vector<int64_t>> state_sizes(int64_t batch_size) const;

  std::vector<std::string> flat_weights_names_;
};

}  // namespace detail

/// h = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu, for each x of a sequence. forward() takes the
/// input [L, N, input_size] and the first states [layers * directions, N, hidden_size], zeros by
/// default; it gives the outputs [L, N, directions * hidden_size] and the last states.
class TENON_API RNNImpl : public detail::RNNImplBase<RNNImpl> {
 public:
  RNNImpl(int64_t input_size, int64_t hidden_size) : RNNImpl(RNNOptions(input_size, hidden_size)) {}
  explicit RNNImpl(const RNNOptions& options);

  std::tuple<Tensor, Tensor> forward(const Tensor& input, Tensor hx = {});
  std::tuple<utils::rnn::PackedSequence, Tensor>
  forward_with_packed_input(const utils::rnn::PackedSequence& packed_input, Tensor hx = {});

  RNNOptions options;

 protected:
  TENON_FORWARD_DEFAULTS({1, AnyValue(Tensor())})
};
TENON_MODULE(RNN);

/// Long short-term memory: Hochreiter and Schmidhuber (1997). As RNN, with pairs (h, c) of states.
/// With `proj_size` h and the outputs have that many features.
class TENON_API LSTMImpl : public detail::RNNImplBase<LSTMImpl> {
 public:
  LSTMImpl(int64_t input_size, int64_t hidden_size)
      : LSTMImpl(LSTMOptions(input_size, hidden_size)) {}
  explicit LSTMImpl(const LSTMOptions& options);

  std::tuple<Tensor, std::tuple<Tensor, Tensor>>
  forward(const Tensor& input, std::optional<std::tuple<Tensor, Tensor>> hx_opt = {});
  std::tuple<utils::rnn::PackedSequence, std::tuple<Tensor, Tensor>>
  forward_with_packed_input(const utils::rnn::PackedSequence& packed_input,
                            std::optional<std::tuple<Tensor, Tensor>> hx_opt = {});

  LSTMOptions options;

 protected:
  TENON_FORWARD_DEFAULTS({1, AnyValue(std::optional<std::tuple<Tensor, Tensor>>())})
};
TENON_MODULE(LSTM);

/// Gated recurrent units: Cho et al. (2014). As RNN.
class TENON_API GRUImpl : public detail::RNNImplBase<GRUImpl> {
 public:
  GRUImpl(int64_t input_size, int64_t hidden_size) : GRUImpl(GRUOptions(input_size, hidden_size)) {}
  explicit GRUImpl(const GRUOptions& options);

  std::tuple<Tensor, Tensor> forward(const Tensor& input, Tensor hx = {});
  std::tuple<utils::rnn::PackedSequence, Tensor>
  forward_with_packed_input(const utils::rnn::PackedSequence& packed_input, Tensor hx = {});

  GRUOptions options;

 protected:
  TENON_FORWARD_DEFAULTS({1, AnyValue(Tensor())})
};
TENON_MODULE(GRU);

}  // namespace tenon::nn
