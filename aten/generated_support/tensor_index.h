#pragma once

#include <optional>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "tenon/tensor.h"

/// Indexing as in Python, with libtorch's names: `t.index({Slice(1, None), 0, mask})`.
namespace tenon::indexing {

/// Python's None: a new dimension among indices, no limit in a Slice.
inline constexpr std::nullopt_t None = std::nullopt;

/// Python's `...`: all dimensions that no other index stands for.
enum class EllipsisIndexType { Ellipsis };
inline constexpr EllipsisIndexType Ellipsis = EllipsisIndexType::Ellipsis;

/// start:stop:step. Limits below zero count from the end; the step must be positive.
struct Slice {
  std::optional<int64_t> start, stop, step;

  Slice(std::optional<int64_t> start_ = None, std::optional<int64_t> stop_ = None,
        std::optional<int64_t> step_ = None)
      : start(start_), stop(stop_), step(step_) {}
};

/// One of the values between the brackets of `t[...]`.
class TensorIndex {
 public:
  using Value = std::variant<std::nullopt_t, EllipsisIndexType, int64_t, bool, Slice, Tensor>;

  TensorIndex(std::nullopt_t) : value_(None) {}
  TensorIndex(EllipsisIndexType) : value_(Ellipsis) {}
  /// "..."; ValueError for another text.
  TENON_API TensorIndex(const char* text);
  template <class T>
  requires(std::is_integral_v<T>) TensorIndex(T value) {
    if constexpr (std::is_same_v<T, bool>) {
      value_ = value;
    } else {
      value_ = static_cast<int64_t>(value);
    }
  }
  TensorIndex(Slice slice) : value_(slice) {}
  /// Integers choose along one dimension; a bool or uint8 mask along as many as it has.
  TensorIndex(Tensor tensor) : value_(std::move(tensor)) {}

  const Value& value() const { return value_; }

 private:
  Value value_ = None;
};

/// self[indices]: a view where no tensor and no bool is among them, a copy elsewhere. IndexError
/// "[index] too many indices for tensor of dimension 1", "[index] index 5 is out of bounds for
/// dimension 0 with size 3", and those of the operator `index`; ValueError for a step that is not
/// positive.
TENON_API Tensor get_item(const Tensor& self, ArrayRef<TensorIndex> indices);

/// self[indices] = value. The value is broadcast, dimensions of size one in front of it do not
/// count, and it is converted to self's dtype where no tensor is among the indices.
TENON_API void set_item(const Tensor& self, ArrayRef<TensorIndex> indices, const Tensor& value);
TENON_API void set_item(const Tensor& self, ArrayRef<TensorIndex> indices, const Scalar& value);

}  // namespace tenon::indexing

namespace tenon {

inline Tensor Tensor::index(std::initializer_list<indexing::TensorIndex> indices) const {
  return indexing::get_item(*this, indices);
}
template <std::same_as<indexing::TensorIndex> Index>
Tensor Tensor::index(const std::vector<Index>& indices) const {
  return indexing::get_item(*this, indices);
}
inline Tensor& Tensor::index_put_(std::initializer_list<indexing::TensorIndex> indices,
                                  const Tensor& value) const {
  indexing::set_item(*this, indices, value);
  return const_cast<Tensor&>(*this);
}
inline Tensor& Tensor::index_put_(std::initializer_list<indexing::TensorIndex> indices,
                                  const Scalar& value) const {
  indexing::set_item(*this, indices, value);
  return const_cast<Tensor&>(*this);
}
template <std::same_as<indexing::TensorIndex> Index, class Value>
Tensor& Tensor::index_put_(const std::vector<Index>& indices, const Value& value) const {
  indexing::set_item(*this, indices, value);
  return const_cast<Tensor&>(*this);
}

}  // namespace tenon
