#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "tenon/tensor.h"

namespace tenon::ckpt {

/// Calls f with the same part of each tensor, part by part in the order of the elements, until it
/// returns false. Parts are contiguous and small, however large the tensors are, which must have
/// one shape. What f returned last; true without parts.
bool each_part(const std::vector<Tensor>& tensors,
               const std::function<bool(const std::vector<Tensor>& parts)>& f);

/// Leaves out of the dimensions along which all of the tensors repeat their elements all but the
/// first; gives how often what is left occurs. Error for tensors that still show few elements so
/// often that going through them has no end.
int64_t drop_repeats(std::vector<Tensor>& tensors);

/// The elements as doubles, in order; nothing for dtypes that are not computed with and for tensors
/// without data. Of complex numbers the real and the imaginary parts.
std::optional<std::vector<double>> numbers_of(const Tensor& tensor);

/// The first elements, at most `count` numbers, of what numbers_of() gives.
std::vector<double> first_numbers(const Tensor& tensor, size_t count);

/// Whether both hold the same bits. Their shapes and dtypes must agree.
bool same_bits(const Tensor& a, const Tensor& b);

}  // namespace tenon::ckpt
