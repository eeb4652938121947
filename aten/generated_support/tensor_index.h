#pragma once

#include <limits>
#include <optional>
#include <ostream>
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

inline constexpr int64_t INDEX_MIN = std::numeric_limits<int64_t>::min();
inline constexpr int64_t INDEX_MAX = std::numeric_limits<int64_t>::max();

/// start:stop:step. Limits below zero count from the end; the step must be positive.
class Slice {
 public:
  Slice(std::optional<int64_t> start = None, std::optional<int64_t> stop = None,
        std::optional<int64_t> step = None)
      : step_(step.value_or(1)) {
    start_ = start.value_or(step_ < 0 ? INDEX_MAX : 0);
    stop_ = stop.value_or(step_ < 0 ? INDEX_MIN : INDEX_MAX);
  }

  int64_t start() const { return start_; }
  int64_t stop() const { return stop_; }
  int64_t step() const { return step_; }

 private:
  int64_t start_, stop_, step_;
};
TENON_API std::ostream& operator<<(std::ostream& out, const Slice& slice);

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
  bool is_none() const { return std::holds_alternative<std::nullopt_t>(value_); }
  bool is_ellipsis() const { return std::holds_alternative<EllipsisIndexType>(value_); }
  bool is_integer() const { return std::holds_alternative<int64_t>(value_); }
  bool is_boolean() const { return std::holds_alternative<bool>(value_); }
  bool is_slice() const { return std::holds_alternative<Slice>(value_); }
  bool is_tensor() const { return std::holds_alternative<Tensor>(value_); }
  int64_t integer() const { return std::get<int64_t>(value_); }
  bool boolean() const { return std::get<bool>(value_); }
  const Slice& slice() const { return std::get<Slice>(value_); }
  const Tensor& tensor() const { return std::get<Tensor>(value_); }

 private:
  Value value_ = None;
};

/// As in Python, "None", "...", "0", "true", "1:5:2"; of several "(0, ...)".
TENON_API std::ostream& operator<<(std::ostream& out, const TensorIndex& index);
TENON_API std::ostream& operator<<(std::ostream& out, const std::vector<TensorIndex>& indices);

namespace detail {
/// Error for an empty list, which `t.index({})` gives.
inline void check_not_empty(const char* function, size_t count) {
  TENON_CHECK_INDEX(count > 0, "Passing an empty index list to Tensor::", function,
                    "() is not valid syntax");
}
}  // namespace detail

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
  indexing::detail::check_not_empty("index", indices.size());
  return indexing::get_item(*this, indices);
}
template <std::same_as<indexing::TensorIndex> Index>
Tensor Tensor::index(const std::vector<Index>& indices) const {
  indexing::detail::check_not_empty("index", indices.size());
  return indexing::get_item(*this, indices);
}
inline Tensor& Tensor::index_put_(std::initializer_list<indexing::TensorIndex> indices,
                                  const Tensor& value) const {
  indexing::detail::check_not_empty("index_put_", indices.size());
  indexing::set_item(*this, indices, value);
  return const_cast<Tensor&>(*this);
}
inline Tensor& Tensor::index_put_(std::initializer_list<indexing::TensorIndex> indices,
                                  const Scalar& value) const {
  indexing::detail::check_not_empty("index_put_", indices.size());
  indexing::set_item(*this, indices, value);
  return const_cast<Tensor&>(*this);
}
template <std::same_as<indexing::TensorIndex> Index, class Value>
Tensor& Tensor::index_put_(const std::vector<Index>& indices, const Value& value) const {
  indexing::detail::check_not_empty("index_put_", indices.size());
  indexing::set_item(*this, indices, value);
  return const_cast<Tensor&>(*this);
}

}  // namespace tenon
