#include "runtime/nn/functional/helpers.h"
#include "tenon/ops/conv1d.h"
#include "tenon/ops/conv2d.h"
#include "tenon/ops/conv3d.h"

namespace tenon::nn::functional::detail {
namespace {

/// Calls one of two overloads, for the padding is numbers or, less often, a word.
template <class Padding, class Convolve>
Tensor with_padding(const Padding& padding, Convolve convolve) {
  if (const auto* numbers = std::get_if<0>(&padding)) [[likely]]
    return convolve(IntArrayRef(*numbers));
  const bool is_same = std::holds_alternative<enumtype::kSame>(padding);
  return convolve(std::string_view(is_same ? enumtype::kSame::kText : enumtype::kValid::kText));
}

}  // namespace

Tensor conv1d(const Tensor& input, const Tensor& weight, const Tensor& bias,
              const ExpandingArray<1>& stride, const Conv1dFuncOptions::padding_t& padding,
              const ExpandingArray<1>& dilation, int64_t groups) {
  return with_padding(padding, [&](auto p) {
    return tenon::conv1d(input, weight, optional_tensor(bias), IntArrayRef(stride), p,
                         IntArrayRef(dilation), groups);
  });
}

Tensor conv2d(const Tensor& input, const Tensor& weight, const Tensor& bias,
              const ExpandingArray<2>& stride, const Conv2dFuncOptions::padding_t& padding,
              const ExpandingArray<2>& dilation, int64_t groups) {
  return with_padding(padding, [&](auto p) {
    return tenon::conv2d(input, weight, optional_tensor(bias), IntArrayRef(stride), p,
                         IntArrayRef(dilation), groups);
  });
}

Tensor conv3d(const Tensor& input, const Tensor& weight, const Tensor& bias,
              const ExpandingArray<3>& stride, const Conv3dFuncOptions::padding_t& padding,
              const ExpandingArray<3>& dilation, int64_t groups) {
  return with_padding(padding, [&](auto p) {
    return tenon::conv3d(input, weight, optional_tensor(bias), IntArrayRef(stride), p,
                         IntArrayRef(dilation), groups);
  });
}

}  // namespace tenon::nn::functional::detail
