#pragma once

#include <optional>

#include "tenon/tensor.h"

namespace tenon::meta {

/// That grad_out has the input's shape, and that the statistics which a backward pass reads are
/// there: those of the batch in training, the running ones otherwise.
void check_batch_norm_backward(const TensorBase& grad_out, const TensorBase& input,
                               const std::optional<Tensor>& mean,
                               const std::optional<Tensor>& spread, bool train);

}  // namespace tenon::meta
