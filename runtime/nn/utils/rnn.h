#pragma once

#include <optional>
#include <tuple>

#include "tenon/tensor.h"

namespace tenon::nn::utils::rnn {

/// The inverse of a permutation [n] of 0 .. n-1; undefined for an undefined one.
TENON_API Tensor invert_permutation(const Tensor& permutation);

/// Sequences of different lengths, step by step: data [sum of lengths, ...] has the first elements
/// of all sequences, then the second elements of those that have one, and so on; batch_sizes
/// [longest length], Long on the CPU, says how many sequences have each step. Sequences are ordered
/// by decreasing length: sorted_indices is that order, unsorted_indices its inverse, both undefined
/// if the sequences came in that order.
class TENON_API PackedSequence {
 public:
  /// Made by the functions below. Error unless batch_sizes is on the CPU.
  explicit PackedSequence(Tensor data, Tensor batch_sizes, Tensor sorted_indices = {},
                          Tensor unsorted_indices = {});

  const Tensor& data() const { return data_; }
  const Tensor& batch_sizes() const { return batch_sizes_; }
  const Tensor& sorted_indices() const { return sorted_indices_; }
  const Tensor& unsorted_indices() const { return unsorted_indices_; }

  /// With data of the options' dtype and device; the same sequence if it has these.
  PackedSequence to(const TensorOptions& options) const;
  PackedSequence cuda() const { return to(kCUDA); }
  PackedSequence cpu() const { return to(kCPU); }
  bool is_cuda() const { return data_.is_cuda(); }

 private:
  Tensor data_;
  Tensor batch_sizes_;
  Tensor sorted_indices_;
  Tensor unsorted_indices_;
};

/// Packs input [T, B, ...], or [B, T, ...] with `batch_first`, of which sequence b has lengths[b]
/// steps; lengths [B] is of integers on the CPU. With `enforce_sorted` they must decrease. Error
/// unless all are in 1 .. T.
TENON_API PackedSequence pack_padded_sequence(const Tensor& input, const Tensor& lengths,
                                              bool batch_first = false, bool enforce_sorted = true);
/// The inverse: ([T, B, ...] or [B, T, ...], lengths [B]), where T is the longest length or
/// `total_length`, and steps that a sequence does not have are `padding_value`.
TENON_API std::tuple<Tensor, Tensor>
pad_packed_sequence(const PackedSequence& sequence, bool batch_first = false,
                    double padding_value = 0, std::optional<int64_t> total_length = std::nullopt);
/// Sequences [L_b, ...] in one tensor [T, B, ...] or [B, T, ...], filled up with `padding_value`.
TENON_API Tensor pad_sequence(TensorList sequences, bool batch_first = false,
                              double padding_value = 0);
/// Packs sequences [L_b, ...].
TENON_API PackedSequence pack_sequence(TensorList sequences, bool enforce_sorted = true);

}  // namespace tenon::nn::utils::rnn
