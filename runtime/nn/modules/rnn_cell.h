#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <variant>

#include "runtime/nn/arg.h"
#include "runtime/nn/cloneable.h"
#include "runtime/nn/enum.h"

namespace tenon::nn {

namespace detail {

/// Options that RNNCell, LSTMCell and GRUCell share. `num_chunks` is the number of gates.
struct RNNCellOptionsBase {
  RNNCellOptionsBase(int64_t input_size, int64_t hidden_size, bool bias, int64_t num_chunks)
      : input_size_(input_size), hidden_size_(hidden_size), bias_(bias), num_chunks_(num_chunks) {}
  TENON_ARG(int64_t, input_size);
  TENON_ARG(int64_t, hidden_size);
  TENON_ARG(bool, bias);
  TENON_ARG(int64_t, num_chunks);
};

}  // namespace detail

struct RNNCellOptions {
  using nonlinearity_t = std::variant<enumtype::kTanh, enumtype::kReLU>;

  RNNCellOptions(int64_t input_size, int64_t hidden_size)
      : input_size_(input_size), hidden_size_(hidden_size) {}
  TENON_ARG(int64_t, input_size);
  TENON_ARG(int64_t, hidden_size);
  TENON_ARG(bool, bias) = true;
  TENON_ARG(nonlinearity_t, nonlinearity) = kTanh;
};

struct LSTMCellOptions {
  LSTMCellOptions(int64_t input_size, int64_t hidden_size)
      : input_size_(input_size), hidden_size_(hidden_size) {}
  TENON_ARG(int64_t, input_size);
  TENON_ARG(int64_t, hidden_size);
  TENON_ARG(bool, bias) = true;
};

struct GRUCellOptions {
  GRUCellOptions(int64_t input_size, int64_t hidden_size)
      : input_size_(input_size), hidden_size_(hidden_size) {}
  TENON_ARG(int64_t, input_size);
  TENON_ARG(int64_t, hidden_size);
  TENON_ARG(bool, bias) = true;
};

namespace detail {

/// Base of the cells: one step of a layer. Parameters weight_ih [gates * hidden_size, input_size],
/// weight_hh [gates * hidden_size, hidden_size], with `bias` bias_ih and bias_hh. All are uniform
/// in +-1 / sqrt(hidden_size) at first.
template <class Derived>
class TENON_API RNNCellImplBase : public Cloneable<Derived> {
 public:
  explicit RNNCellImplBase(const RNNCellOptionsBase& options);

  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& out) const override;

  RNNCellOptionsBase options_base;
  Tensor weight_ih;
  Tensor weight_hh;
  Tensor bias_ih;
  Tensor bias_hh;

 protected:
  void check_forward_input(const Tensor& input) const;
  /// `hidden_label` is "[0]" or "[1]" for LSTM.
  void check_forward_hidden(const Tensor& input, const Tensor& hx,
                            const std::string& hidden_label) const;
  /// A first state, [N, hidden_size].
  Tensor zeros_for(const Tensor& input) const;
  /// What pretty_print() shows unless it is empty or "kTanh".
  virtual std::string get_nonlinearity_str() const { return ""; }
};

}  // namespace detail

/// One step of an RNN: input [N, input_size] and state [N, hidden_size], zeros by default, to the
/// next state.
class TENON_API RNNCellImpl : public detail::RNNCellImplBase<RNNCellImpl> {
 public:
  RNNCellImpl(int64_t input_size, int64_t hidden_size)
      : RNNCellImpl(RNNCellOptions(input_size, hidden_size)) {}
  explicit RNNCellImpl(const RNNCellOptions& options);

  Tensor forward(const Tensor& input, Tensor hx = {});

  RNNCellOptions options;

 protected:
  TENON_FORWARD_DEFAULTS({1, AnyValue(Tensor())})
  std::string get_nonlinearity_str() const override;
};
TENON_MODULE(RNNCell);

/// One step of an LSTM, with states (h, c).
class TENON_API LSTMCellImpl : public detail::RNNCellImplBase<LSTMCellImpl> {
 public:
  LSTMCellImpl(int64_t input_size, int64_t hidden_size)
      : LSTMCellImpl(LSTMCellOptions(input_size, hidden_size)) {}
  explicit LSTMCellImpl(const LSTMCellOptions& options);

  std::tuple<Tensor, Tensor> forward(const Tensor& input,
                                     std::optional<std::tuple<Tensor, Tensor>> hx_opt = {});

  LSTMCellOptions options;

 protected:
  TENON_FORWARD_DEFAULTS({1, AnyValue(std::optional<std::tuple<Tensor, Tensor>>())})
};
TENON_MODULE(LSTMCell);

/// One step of a GRU.
class TENON_API GRUCellImpl : public detail::RNNCellImplBase<GRUCellImpl> {
 public:
  GRUCellImpl(int64_t input_size, int64_t hidden_size)
      : GRUCellImpl(GRUCellOptions(input_size, hidden_size)) {}
  explicit GRUCellImpl(const GRUCellOptions& options);

  Tensor forward(const Tensor& input, Tensor hx = {});

  GRUCellOptions options;

 protected:
  TENON_FORWARD_DEFAULTS({1, AnyValue(Tensor())})
};
TENON_MODULE(GRUCell);

}  // namespace tenon::nn
