#include "runtime/nn/modules/rnn_cell.h"

#include <cmath>
#include <vector>

#include "runtime/nn/init.h"
#include "tenon/ops/empty.h"
#include "tenon/ops/gru_cell.h"
#include "tenon/ops/lstm_cell.h"
#include "tenon/ops/rnn_relu_cell.h"
#include "tenon/ops/rnn_tanh_cell.h"
#include "tenon/ops/zeros.h"

namespace tenon::nn {
namespace {

/// A bias that may be missing.
std::optional<Tensor> if_defined(const Tensor& bias) {
  return bias.defined() ? std::optional<Tensor>(bias) : std::nullopt;
}

}  // namespace

namespace detail {

template <class Derived>
RNNCellImplBase<Derived>::RNNCellImplBase(const RNNCellOptionsBase& options)
    : options_base(options) {
  reset();
}

template <class Derived>
void RNNCellImplBase<Derived>::reset() {
  const int64_t input_size = options_base.input_size(), hidden_size = options_base.hidden_size();
  TENON_CHECK_VALUE(input_size >= 0 && hidden_size > 0,
                    "[RNNCell] hidden_size must be greater than zero, got ", hidden_size,
                    ", and input_size not negative, got ", input_size);
  const int64_t rows = options_base.num_chunks() * hidden_size;
  weight_ih = this->register_parameter("weight_ih", empty({rows, input_size}, TensorOptions()));
  weight_hh = this->register_parameter("weight_hh", empty({rows, hidden_size}, TensorOptions()));
  const auto bias = [&] { return options_base.bias() ? empty({rows}, TensorOptions()) : Tensor(); };
  bias_ih = this->register_parameter("bias_ih", bias(), options_base.bias());
  bias_hh = this->register_parameter("bias_hh", bias(), options_base.bias());
  reset_parameters();
}

template <class Derived>
void RNNCellImplBase<Derived>::reset_parameters() {
  const double bound = 1 / std::sqrt(static_cast<double>(options_base.hidden_size()));
  for (const Tensor& weight : this->parameters()) init::uniform_(weight, -bound, bound);
}

template <class Derived>
void RNNCellImplBase<Derived>::pretty_print(std::ostream& out) const {
  const std::string name = this->name();
  out << name.substr(0, name.size() - 4) << '(' << options_base.input_size() << ", "
      << options_base.hidden_size();
  if (!options_base.bias()) out << ", bias=false";
  const std::string nonlinearity = get_nonlinearity_str();
  if (!nonlinearity.empty() && nonlinearity != "kTanh") out << ", nonlinearity=" << nonlinearity;
  out << ')';
}

template <class Derived>
void RNNCellImplBase<Derived>::check_forward_input(const Tensor& input) const {
  TENON_CHECK(input.dim() == 2, "[RNNCell] input must have 2 dimensions, got ", input.dim());
  TENON_CHECK(input.size(1) == options_base.input_size(),
              "[RNNCell] input has inconsistent input_size: got ", input.size(1), " expected ",
              options_base.input_size());
}

template <class Derived>
void RNNCellImplBase<Derived>::check_forward_hidden(const Tensor& input, const Tensor& hx,
                                                    const std::string& hidden_label) const {
  TENON_CHECK(hx.dim() == 2, "[RNNCell] hidden", hidden_label, " must have 2 dimensions, got ",
              hx.dim());
  TENON_CHECK(input.size(0) == hx.size(0), "[RNNCell] Input batch size ", input.size(0),
              " doesn't match hidden", hidden_label, " batch size ", hx.size(0));
  TENON_CHECK(hx.size(1) == options_base.hidden_size(), "[RNNCell] hidden", hidden_label,
              " has inconsistent hidden_size: got ", hx.size(1), ", expected ",
              options_base.hidden_size());
}

template <class Derived>
Tensor RNNCellImplBase<Derived>::zeros_for(const Tensor& input) const {
  return zeros({input.size(0), options_base.hidden_size()},
               TensorOptions(input.dtype()).device(input.device()));
}

template class RNNCellImplBase<RNNCellImpl>;
template class RNNCellImplBase<LSTMCellImpl>;
template class RNNCellImplBase<GRUCellImpl>;

}  // namespace detail

RNNCellImpl::RNNCellImpl(const RNNCellOptions& options)
    : detail::RNNCellImplBase<RNNCellImpl>(detail::RNNCellOptionsBase(
          options.input_size(), options.hidden_size(), options.bias(), /*num_chunks=*/1)),
      options(options) {}

Tensor RNNCellImpl::forward(const Tensor& input, Tensor hx) {
  check_forward_input(input);
  if (!hx.defined()) hx = zeros_for(input);
  check_forward_hidden(input, hx, "");
  const bool is_tanh = std::holds_alternative<enumtype::kTanh>(options.nonlinearity());
  return (is_tanh ? rnn_tanh_cell : rnn_relu_cell)(input, hx, weight_ih, weight_hh,
                                                   if_defined(bias_ih), if_defined(bias_hh));
}

std::string RNNCellImpl::get_nonlinearity_str() const {
  return std::holds_alternative<enumtype::kTanh>(options.nonlinearity()) ? "kTanh" : "kReLU";
}

LSTMCellImpl::LSTMCellImpl(const LSTMCellOptions& options)
    : detail::RNNCellImplBase<LSTMCellImpl>(detail::RNNCellOptionsBase(
          options.input_size(), options.hidden_size(), options.bias(), /*num_chunks=*/4)),
      options(options) {}

std::tuple<Tensor, Tensor> LSTMCellImpl::forward(const Tensor& input,
                                                 std::optional<std::tuple<Tensor, Tensor>> hx_opt) {
  check_forward_input(input);
  if (!hx_opt) hx_opt = {zeros_for(input), zeros_for(input)};
  const auto& [h, c] = *hx_opt;
  check_forward_hidden(input, h, "[0]");
  check_forward_hidden(input, c, "[1]");
  return lstm_cell(input, std::vector<Tensor>{h, c}, weight_ih, weight_hh, if_defined(bias_ih),
                   if_defined(bias_hh));
}

GRUCellImpl::GRUCellImpl(const GRUCellOptions& options)
    : detail::RNNCellImplBase<GRUCellImpl>(detail::RNNCellOptionsBase(
          options.input_size(), options.hidden_size(), options.bias(), /*num_chunks=*/3)),
      options(options) {}

Tensor GRUCellImpl::forward(const Tensor& input, Tensor hx) {
  check_forward_input(input);
  if (!hx.defined()) hx = zeros_for(input);
  check_forward_hidden(input, hx, "");
  return gru_cell(input, hx, weight_ih, weight_hh, if_defined(bias_ih), if_defined(bias_hh));
}

}  // namespace tenon::nn
