#include "aten/core/thread_state.h"
#include "runtime/nn/functional/helpers.h"
#include "tenon/ops/arange.h"
#include "tenon/ops/embedding.h"
#include "tenon/ops/index_add.h"
#include "tenon/ops/index_select.h"
#include "tenon/ops/norm.h"
#include "tenon/ops/ones_like.h"
#include "tenon/ops/repeat_interleave.h"
#include "tenon/ops/stack.h"
#include "tenon/ops/where.h"
#include "tenon/ops/zeros.h"

namespace tenon::nn::functional::detail {
namespace {

/// Shrinks, in place, the rows that are looked up and whose norm is larger than max_norm.
void renormalize(const Tensor& weight, const Tensor& indices, double max_norm, double norm_type) {
  NoGradGuard no_grad;
  const Tensor table = weight.detach(), numbers = indices.reshape({-1});
  const Tensor rows = table.index_select(0, numbers);
  const Tensor norms = rows.norm(norm_type, {1}, true);
  // 1e-7 as PyTorch has it: a norm that is rounded up does not stay above.
  const Tensor factors =
      tenon::where(norms > max_norm, max_norm / (norms + 1e-7), tenon::ones_like(norms));
  Tensor written = table;
  written.index_copy_(0, numbers, rows * factors.to(rows.scalar_type()));
}

int64_t row_of(const std::optional<int64_t>& padding_idx, int64_t rows) {
  if (!padding_idx) return -1;
  TENON_CHECK_VALUE(*padding_idx >= -rows && *padding_idx < rows,
                    "Padding_idx must be within num_embeddings, got ", *padding_idx, " for ", rows);
  return *padding_idx < 0 ? *padding_idx + rows : *padding_idx;
}

/// Where each bag begins, and where the last one ends.
std::vector<int64_t> starts_of(const Tensor& input, const Tensor& offsets,
                               bool include_last_offset) {
  std::vector<int64_t> starts;
  if (input.dim() == 2) {
    TENON_CHECK_VALUE(!offsets.defined(), "If input is 2D, then offsets has to be null, as input "
                                          "is treated is a mini-batch of fixed length sequences.");
    for (int64_t i = 0; i <= input.size(0); ++i) starts.push_back(i * input.size(1));
    return starts;
  }
  TENON_CHECK_VALUE(input.dim() == 1,
                    "input has to be 1D or 2D Tensor, but got Tensor of dimension ", input.dim());
  TENON_CHECK_VALUE(offsets.defined() && offsets.dim() == 1,
                    "offsets has to be a 1D Tensor but got ",
                    offsets.defined() ? std::to_string(offsets.dim()) + "D" : "none");
  const Tensor numbers = offsets.to(kCPU, kLong).resolve_neg().contiguous();
  const int64_t* data = numbers.const_data_ptr<int64_t>();
  starts.assign(data, data + numbers.numel());
  if (!include_last_offset) starts.push_back(input.numel());
  TENON_CHECK_VALUE(starts[0] == 0,
                    "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to "
                    "start from position 0. However, got ",
                    starts[0]);
  for (size_t i = 1; i < starts.size(); ++i) {
    TENON_CHECK_VALUE(starts[i - 1] <= starts[i] && starts[i] <= input.numel(),
                      "offsets must not descend nor pass input's length ", input.numel(), ", got ",
                      IntArrayRef(starts));
  }
  return starts;
}

/// The largest elements of each bag's rows; zeros of an empty one.
Tensor largest(const Tensor& rows, const std::vector<int64_t>& sizes) {
  std::vector<Tensor> bags;
  int64_t at = 0;
  for (const int64_t size : sizes) {
    bags.push_back(size ? std::get<0>(rows.narrow(0, at, size).max(0))
                        : tenon::zeros({rows.size(1)}, rows.options()));
    at += size;
  }
  return tenon::stack(bags);
}

}  // namespace

Tensor embedding(const Tensor& input, const Tensor& weight,
                 const std::optional<int64_t>& padding_idx, const std::optional<double>& max_norm,
                 double norm_type, bool scale_grad_by_freq, bool sparse) {
  const int64_t row = row_of(padding_idx, weight.size(0));
  if (max_norm) renormalize(weight, input, *max_norm, norm_type);
  return tenon::embedding(weight, input, row, scale_grad_by_freq, sparse);
}

Tensor embedding_bag(const Tensor& input, const Tensor& weight, const Tensor& offsets,
                     const std::optional<double>& max_norm, double norm_type,
                     bool scale_grad_by_freq, const EmbeddingBagFuncOptions::mode_t& mode,
                     bool sparse, const Tensor& per_sample_weights, bool include_last_offset,
                     const std::optional<int64_t>& padding_idx) {
  const bool is_max = std::holds_alternative<enumtype::kMax>(mode);
  TENON_CHECK_VALUE(!per_sample_weights.defined() || per_sample_weights.sizes() == input.sizes(),
                    "embedding_bag: If per_sample_weights is not null, then it must have the same "
                    "shape as the input");
  TENON_CHECK_VALUE(weight.dim() == 2, "weight has to be a 2D Tensor, but got Tensor of dimension ",
                    weight.dim());
  TENON_CHECK_VALUE(!is_max || !scale_grad_by_freq,
                    "max mode does not support scaling the gradient by the frequency");
  TENON_CHECK_VALUE(!is_max || !sparse, "max mode does not support sparse weights");
  TENON_CHECK_NOT_IMPLEMENTED(
      !per_sample_weights.defined() || std::holds_alternative<enumtype::kSum>(mode),
      "embedding_bag: per_sample_weights is only supported for mode=kSum (got mode=",
      enum_text(mode), ")");
  const std::vector<int64_t> starts = starts_of(input, offsets, include_last_offset);
  std::vector<int64_t> sizes;
  for (size_t i = 1; i < starts.size(); ++i) sizes.push_back(starts[i] - starts[i - 1]);
  const int64_t bags = int64_t(sizes.size());
  Tensor indices = input.reshape({-1}).narrow(0, 0, starts.back());
  Tensor rows =
      embedding(indices, weight, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse);
  if (per_sample_weights.defined()) {
    rows = rows * per_sample_weights.reshape({-1}).narrow(0, 0, starts.back()).unsqueeze(1);
  }
  const TensorOptions options = TensorOptions(kLong).device(input.device());
  const Tensor counts = tenon::empty({bags}, TensorOptions(kLong));
  std::copy(sizes.begin(), sizes.end(), counts.mutable_data_ptr<int64_t>());
  Tensor bag = tenon::repeat_interleave(tenon::arange(bags, options), counts.to(input.device()));
  if (padding_idx) {
    const Tensor places = (indices != row_of(padding_idx, weight.size(0))).nonzero().reshape({-1});
    rows = rows.index_select(0, places);
    bag = bag.index_select(0, places);
    for (int64_t i = 0; i < bags; ++i) sizes[size_t(i)] = (bag == i).sum().item<int64_t>();
  }
  if (is_max) return largest(rows, sizes);
  const Tensor sums = tenon::zeros({bags, weight.size(1)}, rows.options()).index_add(0, bag, rows);
  if (std::holds_alternative<enumtype::kSum>(mode)) return sums;
  Tensor members = tenon::empty({bags}, TensorOptions(kLong));
  std::copy(sizes.begin(), sizes.end(), members.mutable_data_ptr<int64_t>());
  return sums / members.to(rows.device()).clamp_min(1).to(rows.scalar_type()).unsqueeze(1);
}

}  // namespace tenon::nn::functional::detail
