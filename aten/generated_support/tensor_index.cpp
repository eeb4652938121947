#include "aten/generated_support/tensor_index.h"

#include <algorithm>

#include "aten/dispatch/warning.h"
#include "tenon/ops/alias.h"
#include "tenon/ops/clone.h"
#include "tenon/ops/copy.h"
#include "tenon/ops/full.h"
#include "tenon/ops/index.h"
#include "tenon/ops/index_put.h"
#include "tenon/ops/item.h"
#include "tenon/ops/select.h"
#include "tenon/ops/slice.h"
#include "tenon/ops/to.h"
#include "tenon/ops/unsqueeze.h"
#include "tenon/ops/view.h"

namespace tenon::indexing {
namespace {

bool is_mask(const Tensor& t) { return t.scalar_type() == kBool || t.scalar_type() == kByte; }

/// Takes the indices one after another: views at once, tensors kept for one call of `index`.
class Indexer {
 public:
  Indexer(const Tensor& self, ArrayRef<TensorIndex> indices) : result_(self) {
    int64_t specified = 0;
    for (const TensorIndex& index : indices) specified += dims_of(index);
    TENON_CHECK_INDEX(self.dim() > 0 || !std::any_of(indices.begin(), indices.end(),
                                                     [](auto& i) { return i.is_integer(); }),
                      "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or "
                      "`tensor.item<T>()` in C++ to convert a 0-dim tensor to a number");
    TENON_CHECK_INDEX(specified <= self.dim(), "[index] too many indices for tensor of dimension ",
                      self.dim(), ", got indices for ", specified);
    ellipsis_ = self.dim() - specified;
    for (const TensorIndex& index : indices) {
      std::visit([this](const auto& value) { apply(value); }, index.value());
    }
  }

  const Tensor& result() const { return result_; }
  const std::vector<std::optional<Tensor>>& tensors() const { return tensors_; }

 private:
  static int64_t dims_of(const TensorIndex& index) {
    if (const auto* tensor = std::get_if<Tensor>(&index.value())) {
      return tensor->defined() && is_mask(*tensor) ? tensor->dim() : 1;
    }
    return std::holds_alternative<int64_t>(index.value()) ||
                   std::holds_alternative<Slice>(index.value())
               ? 1
               : 0;
  }

  void apply(std::nullopt_t) { result_ = ops::unsqueeze::call(result_, dim_++); }
  void apply(EllipsisIndexType) {
    dim_ += ellipsis_;
    taken_ += ellipsis_;
    ellipsis_ = 0;  // a second one stands for nothing
  }
  void apply(int64_t index) {
    const int64_t size = result_.size(dim_);
    TENON_CHECK_INDEX(index >= -size && index < size, "[index] index ", index,
                      " is out of bounds for dimension ", taken_, " with size ", size);
    ++taken_;
    result_ = ops::select_int::call(result_, dim_, index);
  }
  void apply(const Slice& slice) {
    TENON_CHECK_VALUE(slice.step() > 0, "[index] step must be greater than zero, got ",
                      slice.step());
    if (slice.start() != 0 || slice.stop() != INDEX_MAX || slice.step() != 1) {
      result_ = ops::slice_Tensor::call(result_, dim_, slice.start(), slice.stop(), slice.step());
    }
    ++dim_;
    ++taken_;
  }
  void apply(bool value) {
    result_ = ops::unsqueeze::call(result_, dim_);
    // A new dimension of one element or of none.
    const int64_t count = value ? 1 : 0;
    record(ops::full::call({count}, 0, kLong, std::nullopt, result_.device(), std::nullopt), 1);
  }
  void apply(const Tensor& index) {
    TENON_CHECK_VALUE(index.defined(), "[index] an undefined tensor is no index");
    if (index.dim() == 0 && is_mask(index)) return apply(index.item().to<bool>());
    // A batched one differs from example to example.
    const bool batched = index.key_set().has(DispatchLayer::Batched);
    if (index.dim() == 0 && !batched && is_integral(index.scalar_type(), false)) {
      return apply(index.item().to<int64_t>());
    }
    if (index.scalar_type() == kByte) {
      TENON_WARN("indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool "
                 "instead.");
    }
    taken_ += dims_of(index);
    record(index, dims_of(index));
  }
  void record(const Tensor& index, int64_t dims) {
    while (recorded_ < dim_) {
      tensors_.emplace_back(std::nullopt);
      ++recorded_;
    }
    tensors_.emplace_back(index);
    dim_ += dims;
    recorded_ = dim_;
  }

  Tensor result_;
  std::vector<std::optional<Tensor>> tensors_;
  int64_t dim_ = 0;       // of result_, that the next index is for
  int64_t taken_ = 0;     // dimensions of self that the indices so far are for
  int64_t recorded_ = 0;  // dimensions of result_ that tensors_ covers
  int64_t ellipsis_ = 0;
};

/// Without the dimensions of size one in front that `target` lacks.
Tensor without_leading_ones(const Tensor& value, int64_t target) {
  size_t first = 0;
  while (value.dim() - static_cast<int64_t>(first) > target && value.sizes()[first] == 1) ++first;
  return first == 0 ? value : ops::view::call(value, value.sizes().slice(first));
}

}  // namespace

TensorIndex::TensorIndex(const char* text) : value_(Ellipsis) {
  TENON_CHECK_VALUE(std::string_view(text) == "...",
                    "Expected \"...\" to represent an ellipsis index, but got \"", text, "\"");
}

std::ostream& operator<<(std::ostream& out, const Slice& slice) {
  return out << slice.start() << ':' << slice.stop() << ':' << slice.step();
}

std::ostream& operator<<(std::ostream& out, const TensorIndex& index) {
  if (index.is_none()) return out << "None";
  if (index.is_ellipsis()) return out << "...";
  if (index.is_integer()) return out << index.integer();
  if (index.is_boolean()) return out << (index.boolean() ? "true" : "false");
  if (index.is_slice()) return out << index.slice();
  return out << index.tensor();
}

std::ostream& operator<<(std::ostream& out, const std::vector<TensorIndex>& indices) {
  out << '(';
  for (size_t i = 0; i < indices.size(); ++i) out << (i ? ", " : "") << indices[i];
  return out << ')';
}

Tensor get_item(const Tensor& self, ArrayRef<TensorIndex> indices) {
  const Indexer indexer(self, indices);
  if (!indexer.tensors().empty())
    return ops::index_Tensor::call(indexer.result(), indexer.tensors());
  return indexer.result().is_same(self) ? ops::alias::call(self) : indexer.result();
}

void set_item(const Tensor& self, ArrayRef<TensorIndex> indices, const Tensor& value) {
  const Indexer indexer(self, indices);
  Tensor shown = indexer.result();
  if (indexer.tensors().empty()) {
    Tensor source = without_leading_ones(value, shown.dim());
    // What is broadcast may be among the elements that are written.
    if (source.sizes() != shown.sizes() && source.is_alias_of(shown)) {
      source = ops::clone::call(source, std::nullopt);
    }
    ops::copy_::call(shown, source, false);
    return;
  }
  ops::index_put_::call(shown, indexer.tensors(), without_leading_ones(value, 0), false);
}

void set_item(const Tensor& self, ArrayRef<TensorIndex> indices, const Scalar& value) {
  set_item(
      self, indices,
      ops::full::call({}, value, self.scalar_type(), std::nullopt, self.device(), std::nullopt));
}

}  // namespace tenon::indexing
