#pragma once

#include <optional>
#include <vector>

#include "runtime/nn/arg.h"
#include "runtime/nn/expanding_array.h"
#include "runtime/nn/reduction.h"
#include "tenon/tensor.h"

namespace tenon::nn {

/// in_features, out_features; `bias` adds a learned one.
class LinearOptions {
 public:
  LinearOptions(int64_t in_features, int64_t out_features)
      : in_features_(in_features), out_features_(out_features) {}
  TENON_ARG(int64_t, in_features);
  TENON_ARG(int64_t, out_features);
  TENON_ARG(bool, bias) = true;
};

class Conv2dOptions {
 public:
  Conv2dOptions(int64_t in_channels, int64_t out_channels, ExpandingArray<2> kernel_size)
      : in_channels_(in_channels), out_channels_(out_channels), kernel_size_(kernel_size) {}
  TENON_ARG(int64_t, in_channels);
  TENON_ARG(int64_t, out_channels);
  TENON_ARG(ExpandingArray<2>, kernel_size);
  TENON_ARG(ExpandingArray<2>, stride) = 1;
  TENON_ARG(ExpandingArray<2>, padding) = 0;
  TENON_ARG(ExpandingArray<2>, dilation) = 1;
  TENON_ARG(int64_t, groups) = 1;
  TENON_ARG(bool, bias) = true;
};

/// The stride is the kernel's size unless set.
class MaxPool2dOptions {
 public:
  MaxPool2dOptions(ExpandingArray<2> kernel_size)
      : kernel_size_(kernel_size), stride_(kernel_size) {}
  TENON_ARG(ExpandingArray<2>, kernel_size);
  TENON_ARG(ExpandingArray<2>, stride);
  TENON_ARG(ExpandingArray<2>, padding) = 0;
  TENON_ARG(ExpandingArray<2>, dilation) = 1;
  TENON_ARG(bool, ceil_mode) = false;
};

/// The stride is the kernel's size unless set.
class AvgPool2dOptions {
 public:
  AvgPool2dOptions(ExpandingArray<2> kernel_size)
      : kernel_size_(kernel_size), stride_(kernel_size) {}
  TENON_ARG(ExpandingArray<2>, kernel_size);
  TENON_ARG(ExpandingArray<2>, stride);
  TENON_ARG(ExpandingArray<2>, padding) = 0;
  TENON_ARG(bool, ceil_mode) = false;
  TENON_ARG(bool, count_include_pad) = true;
  TENON_ARG(std::optional<int64_t>, divisor_override) = std::nullopt;
};

/// Without `momentum` the running statistics are cumulative averages.
class BatchNormOptions {
 public:
  BatchNormOptions(int64_t num_features) : num_features_(num_features) {}
  TENON_ARG(int64_t, num_features);
  TENON_ARG(double, eps) = 1e-5;
  TENON_ARG(std::optional<double>, momentum) = 0.1;
  TENON_ARG(bool, affine) = true;
  TENON_ARG(bool, track_running_stats) = true;
};
using BatchNorm1dOptions = BatchNormOptions;
using BatchNorm2dOptions = BatchNormOptions;

class LayerNormOptions {
 public:
  LayerNormOptions(std::vector<int64_t> normalized_shape)
      : normalized_shape_(std::move(normalized_shape)) {}
  TENON_ARG(std::vector<int64_t>, normalized_shape);
  TENON_ARG(double, eps) = 1e-5;
  TENON_ARG(bool, elementwise_affine) = true;
};

/// The row `padding_idx` starts as zeros and gets no gradient.
class EmbeddingOptions {
 public:
  EmbeddingOptions(int64_t num_embeddings, int64_t embedding_dim)
      : num_embeddings_(num_embeddings), embedding_dim_(embedding_dim) {}
  TENON_ARG(int64_t, num_embeddings);
  TENON_ARG(int64_t, embedding_dim);
  TENON_ARG(std::optional<int64_t>, padding_idx) = std::nullopt;
  TENON_ARG(bool, scale_grad_by_freq) = false;
};

class DropoutOptions {
 public:
  DropoutOptions(double p = 0.5) : p_(p) {}
  TENON_ARG(double, p);
  TENON_ARG(bool, inplace) = false;
};

class ReLUOptions {
 public:
  ReLUOptions(bool inplace = false) : inplace_(inplace) {}
  TENON_ARG(bool, inplace);
};

/// approximate is "none" or "tanh".
class GELUOptions {
 public:
  TENON_ARG(std::string, approximate) = "none";
};

class LeakyReLUOptions {
 public:
  TENON_ARG(double, negative_slope) = 0.01;
  TENON_ARG(bool, inplace) = false;
};

class SoftmaxOptions {
 public:
  SoftmaxOptions(int64_t dim) : dim_(dim) {}
  TENON_ARG(int64_t, dim);
};

class FlattenOptions {
 public:
  TENON_ARG(int64_t, start_dim) = 1;
  TENON_ARG(int64_t, end_dim) = -1;
};

class CrossEntropyLossOptions {
 public:
  TENON_ARG(Tensor, weight) = {};
  TENON_ARG(int64_t, ignore_index) = -100;
  TENON_ARG(LossReduction, reduction) = kMean;
  TENON_ARG(double, label_smoothing) = 0;
};

class NLLLossOptions {
 public:
  TENON_ARG(Tensor, weight) = {};
  TENON_ARG(int64_t, ignore_index) = -100;
  TENON_ARG(LossReduction, reduction) = kMean;
};

class MSELossOptions {
 public:
  MSELossOptions() = default;
  MSELossOptions(LossReduction reduction) : reduction_(reduction) {}
  TENON_ARG(LossReduction, reduction) = kMean;
};

}  // namespace tenon::nn
