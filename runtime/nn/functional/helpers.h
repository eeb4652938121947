#pragma once

#include <cmath>
#include <optional>
#include <tuple>
#include <variant>
#include <vector>

#include "runtime/nn/enum.h"
#include "runtime/nn/expanding_array.h"
#include "runtime/nn/reduction.h"
#include "tenon/tensor.h"

/// What entries of modules.yaml call beside operators and functions of nn::functional: `_name`
/// there is `name` here, and in Python of tenon.nn.modules._helpers.
namespace tenon::nn::functional::detail {

inline std::optional<Tensor> optional_tensor(const Tensor& t) {
  return t.defined() ? std::optional(t) : std::nullopt;
}

inline Tensor first(const std::tuple<Tensor, Tensor>& both) { return std::get<0>(both); }

/// Whether an option has been changed from its usual value.
template <class T>
bool differs(const T& value, const T& usual) {
  return value != usual;
}
template <class T, class... Words>
bool differs(const std::variant<T, Words...>& value, const std::variant<T, Words...>& usual) {
  if (value.index() != usual.index()) return true;
  if constexpr (requires(T t) { t == t; }) {
    return value.index() == 0 && std::get<0>(value) != std::get<0>(usual);
  }
  return false;
}

/// The dimension of the classes, if none is given: 0 of tensors of 0, 1 and 3 dimensions, otherwise
/// 1.
int64_t dim_of_classes(const Tensor& input, const std::optional<int64_t>& dim);

/// softmax over the channels of [N, C, H, W] or [C, H, W]. ValueError for other inputs.
Tensor softmax2d(const Tensor& input);

/// Sizes of which an absent one is the input's. ValueError for an input of too few dimensions.
std::vector<int64_t> adaptive_size(const Tensor& input, ArrayRef<std::optional<int64_t>> size);

/// Uniform in +-1 / sqrt(fan in of the weight); zeros for a fan in of 0.
void uniform_by_fan_in_(const Tensor& tensor, const Tensor& weight);
/// Uniform in +-1 / sqrt(weight.size(1)).
void uniform_by_second_size_(const Tensor& tensor, const Tensor& weight);

Tensor pad_reflect(const Tensor& input, IntArrayRef padding);
Tensor pad_replicate(const Tensor& input, IntArrayRef padding);
Tensor pad_circular(const Tensor& input, IntArrayRef padding);

}  // namespace tenon::nn::functional::detail

#include "runtime/nn/functional/layers-inl.h"
