#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tenon/tensor.h"

namespace tenon::ckpt {

/// The elements as doubles, in order; nothing for dtypes that are not computed with. Of complex
/// numbers the real and the imaginary parts.
std::optional<std::vector<double>> numbers_of(const Tensor& tensor);

/// Whether both hold the same bits.
bool same_bits(const Tensor& a, const Tensor& b);

}  // namespace tenon::ckpt
