#include "runtime/nn/utils/rnn.h"

#include <algorithm>
#include <vector>

#include "aten/generated_support/tensor_factories.h"
#include "tenon/ops/arange.h"
#include "tenon/ops/empty_like.h"
#include "tenon/ops/full.h"
#include "tenon/ops/index_copy.h"
#include "tenon/ops/index_select.h"
#include "tenon/ops/sort.h"

namespace tenon::nn::utils::rnn {
namespace {

/// `sizes` with its first two dimensions replaced.
std::vector<int64_t> with_front(int64_t first, int64_t second, IntArrayRef sizes, size_t dropped) {
  std::vector<int64_t> all = {first, second};
  all.insert(all.end(), sizes.begin() + dropped, sizes.end());
  return all;
}
std::vector<int64_t> with_front(int64_t first, IntArrayRef sizes, size_t dropped) {
  std::vector<int64_t> all = {first};
  all.insert(all.end(), sizes.begin() + dropped, sizes.end());
  return all;
}

/// Rows of a tensor [T * batch, ...] in packed order: step t of sequence b is row t * batch + b.
std::vector<int64_t> packed_rows(const std::vector<int64_t>& batch_sizes, int64_t batch) {
  std::vector<int64_t> rows;
  for (size_t t = 0; t < batch_sizes.size(); ++t) {
    for (int64_t b = 0; b < batch_sizes[t]; ++b)
      rows.push_back(static_cast<int64_t>(t) * batch + b);
  }
  return rows;
}

std::vector<int64_t> numbers_of(const Tensor& tensor) {
  const Tensor values = tensor.to(kCPU, kLong).resolve_neg().contiguous();
  const auto* data = values.data_ptr<int64_t>();
  return {data, data + values.numel()};
}

}  // namespace

Tensor invert_permutation(const Tensor& permutation) {
  if (!permutation.defined()) return {};
  Tensor inverse = empty_like(permutation);
  const Tensor numbers = arange(permutation.numel(), permutation.options());
  return inverse.scatter_(0, permutation, numbers);
}

PackedSequence::PackedSequence(Tensor data, Tensor batch_sizes, Tensor sorted_indices,
                               Tensor unsorted_indices)
    : data_(std::move(data)), batch_sizes_(std::move(batch_sizes)),
      sorted_indices_(std::move(sorted_indices)), unsorted_indices_(std::move(unsorted_indices)) {
  TENON_CHECK(batch_sizes_.is_cpu(),
              "batch_sizes should always be on CPU. Instances of PackedSequence should never be "
              "created manually. They should be instantiated by functions like pack_sequence and "
              "pack_padded_sequences in nn::utils::rnn.");
  if (!unsorted_indices_.defined()) unsorted_indices_ = invert_permutation(sorted_indices_);
}

PackedSequence PackedSequence::to(const TensorOptions& options) const {
  const Device device = options.device_opt().value_or(data_.device());
  const Tensor data = data_.to(device, options.dtype_opt().value_or(data_.dtype()));
  if (data.is_same(data_)) return *this;
  const auto moved = [&](const Tensor& t) { return t.defined() ? t.to(device) : t; };
  return PackedSequence(data, batch_sizes_, moved(sorted_indices_), moved(unsorted_indices_));
}

PackedSequence pack_padded_sequence(const Tensor& input, const Tensor& lengths, bool batch_first,
                                    bool enforce_sorted) {
  TENON_CHECK(input.numel() > 0 && input.dim() >= 2,
              "[pack_padded_sequence] Cannot pack empty tensors.");
  TENON_CHECK(lengths.is_cpu() && lengths.dim() == 1,
              "[pack_padded_sequence] 'lengths' argument should be a 1D CPU int64 tensor, but got ",
              lengths.dim(), "D ", lengths.device(), " ", lengths.dtype(), " tensor");
  Tensor ordered = lengths.to(kLong), order, batch = batch_first ? input.transpose(0, 1) : input;
  if (!enforce_sorted) {
    std::tie(ordered, order) = sort(ordered, -1, true);
    order = order.to(input.device());
    batch = batch.index_select(1, order);
  }
  const std::vector<int64_t> steps = numbers_of(ordered);
  TENON_CHECK(static_cast<int64_t>(steps.size()) == batch.size(1),
              "[pack_padded_sequence] Expected `len(lengths)` to be equal to batch_size, but got ",
              steps.size(), " (batch_size=", batch.size(1), ")");
  TENON_CHECK(steps.back() > 0,
              "[pack_padded_sequence] Length of all samples has to be greater than 0, but found an "
              "element in 'lengths' that is <= 0");
  TENON_CHECK(
      std::is_sorted(steps.rbegin(), steps.rend()),
      "[pack_padded_sequence] `lengths` array must be sorted in decreasing order when "
      "`enforce_sorted` is True. You can pass `enforce_sorted=False` to "
      "pack_padded_sequence and/or pack_sequence to sidestep this requirement if you do not "
      "need ONNX exportability.");
  TENON_CHECK(steps[0] <= batch.size(0), "[pack_padded_sequence] a length is ", steps[0],
              ", the input has ", batch.size(0), " steps");
  std::vector<int64_t> batch_sizes(static_cast<size_t>(steps[0]), 0);
  for (const int64_t n : steps) {
    for (int64_t t = 0; t < n; ++t) ++batch_sizes[static_cast<size_t>(t)];
  }
  const Tensor rows =
      tensor(packed_rows(batch_sizes, batch.size(1)), TensorOptions(kLong)).to(input.device());
  const Tensor flat = batch.reshape(with_front(batch.size(0) * batch.size(1), batch.sizes(), 2));
  return PackedSequence(flat.index_select(0, rows), tensor(batch_sizes, TensorOptions(kLong)),
                        order);
}

std::tuple<Tensor, Tensor> pad_packed_sequence(const PackedSequence& sequence, bool batch_first,
                                               double padding_value,
                                               std::optional<int64_t> total_length) {
  const std::vector<int64_t> batch_sizes = numbers_of(sequence.batch_sizes());
  TENON_CHECK(!batch_sizes.empty(), "[pad_packed_sequence] the sequence has no steps");
  const auto longest = static_cast<int64_t>(batch_sizes.size());
  TENON_CHECK(!total_length || *total_length >= longest,
              "Expected total_length to be at least the length of the longest sequence in input, "
              "but got total_length=",
              total_length.value_or(0), " and max sequence length being ", longest);
  const Tensor& data = sequence.data();
  const int64_t steps = total_length.value_or(longest), batch = batch_sizes[0];
  const Tensor rows =
      tensor(packed_rows(batch_sizes, batch), TensorOptions(kLong)).to(data.device());
  const Tensor flat =
      full(with_front(steps * batch, data.sizes(), 1), padding_value, data.options());
  Tensor padded = index_copy(flat, 0, rows, data).view(with_front(steps, batch, data.sizes(), 1));

  std::vector<int64_t> numbers(static_cast<size_t>(batch), 0);
  for (const int64_t n : batch_sizes) {
    for (int64_t b = 0; b < n; ++b) ++numbers[static_cast<size_t>(b)];
  }
  Tensor lengths = tensor(numbers, TensorOptions(kLong));
  if (const Tensor& order = sequence.unsorted_indices(); order.defined()) {
    padded = padded.index_select(1, order);
    lengths = lengths.index_select(0, order.to(kCPU));
  }
  return {batch_first ? padded.transpose(0, 1) : padded, lengths};
}

Tensor pad_sequence(TensorList sequences, bool batch_first, double padding_value) {
  TENON_CHECK_VALUE(!sequences.empty(), "[pad_sequence] received an empty list of sequences");
  const Tensor& first = sequences[0];
  int64_t longest = 0;
  for (const Tensor& one : sequences) {
    TENON_CHECK_VALUE(one.dim() == first.dim() && one.dim() >= 1 &&
                          one.sizes().slice(1) == first.sizes().slice(1),
                      "[pad_sequence] sequences must have the same sizes but for the first, got ",
                      first.sizes(), " and ", one.sizes());
    longest = std::max(longest, one.size(0));
  }
  const auto batch = static_cast<int64_t>(sequences.size());
  Tensor out = full(with_front(batch, longest, first.sizes(), 1), padding_value, first.options());
  for (int64_t b = 0; b < batch; ++b) {
    const Tensor& one = sequences[static_cast<size_t>(b)];
    out.select(0, b).narrow(0, 0, one.size(0)).copy_(one);
  }
  return batch_first ? out : out.transpose(0, 1).contiguous();
}

PackedSequence pack_sequence(TensorList sequences, bool enforce_sorted) {
  std::vector<int64_t> lengths;
  for (const Tensor& one : sequences) lengths.push_back(one.size(0));
  return pack_padded_sequence(pad_sequence(sequences), tensor(lengths, TensorOptions(kLong)), false,
                              enforce_sorted);
}

}  // namespace tenon::nn::utils::rnn
