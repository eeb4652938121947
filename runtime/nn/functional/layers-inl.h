#pragma once

#include "aten/core/thread_state.h"
#include "runtime/nn/init.h"
#include "tenon/nn/functional.h"
#include "tenon/ops/pad.h"

/// The parts of modules that are no single call: each takes the module, whose options and tensors
/// have the same names in all dimensions.
namespace tenon::nn::functional::detail {

/// Forward padding before and after each dimension, the last one first, as pad() takes it.
template <size_t D>
std::vector<int64_t>
pads_of(const std::variant<ExpandingArray<D>, enumtype::kValid, enumtype::kSame>& padding,
        const ExpandingArray<D>& kernel_size, const ExpandingArray<D>& dilation) {
  std::vector<int64_t> pads;
  for (size_t i = D; i-- > 0;) {
    if (const auto* numbers = std::get_if<ExpandingArray<D>>(&padding)) {
      pads.insert(pads.end(), 2, (*numbers)[i]);
      continue;
    }
    const bool same = std::holds_alternative<enumtype::kSame>(padding);
    const int64_t total = same ? dilation[i] * (kernel_size[i] - 1) : 0;
    pads.push_back(total / 2);
    pads.push_back(total - total / 2);
  }
  return pads;
}

template <class M>
void check_channels(const M& self) {
  const auto& o = self.options;
  TENON_CHECK_VALUE(o.groups() > 0, "groups must be a positive integer");
  TENON_CHECK_VALUE(o.in_channels() % o.groups() == 0, "in_channels must be divisible by groups");
  TENON_CHECK_VALUE(o.out_channels() % o.groups() == 0, "out_channels must be divisible by groups");
}

template <class M>
void check_conv_transpose(const M& self) {
  check_channels(self);
}

template <class M>
void check_conv(const M& self) {
  check_channels(self);
  if (!std::holds_alternative<enumtype::kSame>(self.options.padding())) return;
  for (const int64_t stride : *self.options.stride()) {
    TENON_CHECK_VALUE(stride == 1, "padding='same' is not supported for strided convolutions");
  }
}

template <class M>
std::vector<int64_t> conv_weight_size(const M& self) {
  const auto& o = self.options;
  std::vector<int64_t> sizes{o.out_channels(), o.in_channels() / o.groups()};
  sizes.insert(sizes.end(), o.kernel_size()->begin(), o.kernel_size()->end());
  return sizes;
}

template <class M>
std::vector<int64_t> conv_transpose_weight_size(const M& self) {
  const auto& o = self.options;
  std::vector<int64_t> sizes{o.in_channels(), o.out_channels() / o.groups()};
  sizes.insert(sizes.end(), o.kernel_size()->begin(), o.kernel_size()->end());
  return sizes;
}

template <class M>
Tensor conv_forward(const M& self, const Tensor& input) {
  const auto& o = self.options;
  constexpr size_t D = std::tuple_size_v<std::remove_cvref_t<decltype(*o.kernel_size())>>;
  const auto convolve = [&](const Tensor& x, const auto& padding) {
    if constexpr (D == 1)
      return conv1d(x, self.weight, self.bias, o.stride(), padding, o.dilation(), o.groups());
    if constexpr (D == 2)
      return conv2d(x, self.weight, self.bias, o.stride(), padding, o.dilation(), o.groups());
    if constexpr (D == 3)
      return conv3d(x, self.weight, self.bias, o.stride(), padding, o.dilation(), o.groups());
  };
  if (std::holds_alternative<enumtype::kZeros>(o.padding_mode()))
    return convolve(input, o.padding());
  const std::vector<int64_t> pads = pads_of<D>(o.padding(), o.kernel_size(), o.dilation());
  const Tensor padded = tenon::pad(input, pads, enum_text(o.padding_mode()));
  return convolve(padded, std::remove_cvref_t<decltype(o.padding())>(ExpandingArray<D>(0)));
}

/// What makes the result as large as `output_size` says. ValueError for a size that no input of
/// this convolution has.
std::vector<int64_t> output_padding_for(const Tensor& input, IntArrayRef output_size,
                                        IntArrayRef kernel_size, IntArrayRef stride,
                                        IntArrayRef padding, IntArrayRef dilation);

template <class M>
Tensor conv_transpose_forward(const M& self, const Tensor& input,
                              const std::optional<std::vector<int64_t>>& output_size) {
  const auto& o = self.options;
  constexpr size_t D = std::tuple_size_v<std::remove_cvref_t<decltype(*o.kernel_size())>>;
  TENON_CHECK_VALUE(std::holds_alternative<enumtype::kZeros>(o.padding_mode()),
                    "Only \"zeros\" padding mode is supported for ConvTranspose", D, "d");
  ExpandingArray<D> more = o.output_padding();
  if (output_size) {
    more = ExpandingArray<D>(output_padding_for(input, *output_size, o.kernel_size(), o.stride(),
                                                o.padding(), o.dilation()));
  }
  if constexpr (D == 1)
    return conv_transpose1d(input, self.weight, self.bias, o.stride(), o.padding(), more,
                            o.groups(), o.dilation());
  if constexpr (D == 2)
    return conv_transpose2d(input, self.weight, self.bias, o.stride(), o.padding(), more,
                            o.groups(), o.dilation());
  if constexpr (D == 3)
    return conv_transpose3d(input, self.weight, self.bias, o.stride(), o.padding(), more,
                            o.groups(), o.dilation());
}

/// ValueError for an input that has not the dimensions of the module.
void check_dims(const std::string& name, const Tensor& input, std::initializer_list<int64_t> dims);

template <class M>
Tensor batch_norm_forward(M& self, const Tensor& input) {
  const bool tracked = self.running_mean.defined();
  double factor = self.options.momentum().value_or(0.0);
  if (self.is_training() && tracked) {
    NoGradGuard no_grad;
    self.num_batches_tracked.add_(1);
    if (!self.options.momentum()) factor = 1.0 / self.num_batches_tracked.template item<double>();
  }
  if (self.normalize_batch && self.is_training()) {
    return self.normalize_batch(input, self.weight, self.bias, self.running_mean, self.running_var,
                                factor, self.options.eps());
  }
  return batch_norm(input, self.running_mean, self.running_var, self.weight, self.bias,
                    self.is_training() || !tracked, factor, self.options.eps());
}

template <class M>
Tensor batch_norm1d_forward(M& self, const Tensor& input) {
  check_dims("BatchNorm1d", input, {2, 3});
  return batch_norm_forward(self, input);
}
template <class M>
Tensor batch_norm2d_forward(M& self, const Tensor& input) {
  check_dims("BatchNorm2d", input, {4});
  return batch_norm_forward(self, input);
}
template <class M>
Tensor batch_norm3d_forward(M& self, const Tensor& input) {
  check_dims("BatchNorm3d", input, {5});
  return batch_norm_forward(self, input);
}

/// `batch` dimensions are those of a batch, one fewer those of a sample.
template <class M>
Tensor instance_norm_forward(M& self, const Tensor& input, int64_t batch) {
  check_dims("InstanceNorm" + std::to_string(batch - 2) + "d", input, {batch - 1, batch});
  const Tensor whole = input.dim() == batch ? input : input.unsqueeze(0);
  const Tensor result =
      instance_norm(whole, self.running_mean, self.running_var, self.weight, self.bias,
                    self.is_training() || !self.options.track_running_stats(),
                    self.options.momentum(), self.options.eps());
  return input.dim() == batch ? result : result.squeeze(0);
}
template <class M>
Tensor instance_norm1d_forward(M& self, const Tensor& input) {
  return instance_norm_forward(self, input, 3);
}
template <class M>
Tensor instance_norm2d_forward(M& self, const Tensor& input) {
  return instance_norm_forward(self, input, 4);
}
template <class M>
Tensor instance_norm3d_forward(M& self, const Tensor& input) {
  return instance_norm_forward(self, input, 5);
}

/// Counts a negative padding_idx from the end. ValueError for a row that there is not, and for a
/// weight of another size.
template <class M>
void check_embedding(M& self) {
  auto& o = self.options;
  const int64_t rows = o.num_embeddings();
  if (auto& row = o.padding_idx()) {
    TENON_CHECK_VALUE(*row >= -rows && *row < rows,
                      "Padding_idx must be within num_embeddings, got ", *row, " for ", rows);
    if (*row < 0) *row += rows;
  }
  const Tensor& given = o._weight();
  TENON_CHECK_VALUE(!given.defined() || given.sizes() == IntArrayRef({rows, o.embedding_dim()}),
                    "Shape of _weight does not match num_embeddings and embedding_dim");
}

template <class M>
void init_embedding_(const Tensor& weight, const M& self) {
  if (self.options._weight().defined()) return;
  init::normal_(weight);
  if (self.options.padding_idx()) {
    NoGradGuard no_grad;
    weight.select(0, *self.options.padding_idx()).zero_();
  }
}

template <class M>
void check_fractional(const M& self) {
  const auto& o = self.options;
  TENON_CHECK_VALUE(
      o.output_size() || o.output_ratio(),
      "FractionalMaxPool requires specifying either an output size, or a pooling ratio");
  TENON_CHECK_VALUE(!o.output_size() || !o.output_ratio(),
                    "only one of output_size and output_ratio may be specified");
  if (!o.output_ratio()) return;
  for (const double ratio : **o.output_ratio()) {
    TENON_CHECK_VALUE(ratio > 0 && ratio < 1, "output_ratio must be between 0 and 1 (got ",
                      *o.output_ratio(), ")");
  }
}

template <class M>
Tensor upsample_forward(const M& self, const Tensor& input) {
  using Mode = InterpolateFuncOptions::mode_t;
  const Mode mode = std::visit([](auto word) -> Mode { return word; }, self.options.mode());
  return interpolate(input, self.options.size(), self.options.scale_factor(), mode,
                     self.options.align_corners(), std::nullopt, false);
}

}  // namespace tenon::nn::functional::detail
