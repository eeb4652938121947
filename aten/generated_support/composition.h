#pragma once

#include <initializer_list>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "aten/core/true_quotient.h"
#include "aten/dispatch/list_element.h"
#include "tenon/tensor.h"

/// What generated code has for the notation of compositions.
namespace tenon::native {

/// `number` as a tensor that lifts no dtype, as a number in arithmetic lifts none.
TENON_API Tensor tensor_of_number(const Scalar& number);

/// A view's values in contiguous memory of their own, with its gradient: the `*_copy` of views.
TENON_API Tensor copied(const Tensor& view);
TENON_API std::vector<Tensor> copied(const std::vector<Tensor>& views);

/// Throws unless a text that a composition chooses by is one of `words`, or is absent.
TENON_API void check_word(const char* op, const char* argument,
                          std::optional<std::string_view> text,
                          std::initializer_list<std::string_view> words);

/// The result of a call without the arguments that it needs: taking it throws.
struct MissingArgument {
  const char* op;
  const char* names;

  template <class Result>
  operator Result() const {
    raise();
  }
  [[noreturn]] TENON_API void raise() const;
};

inline MissingArgument missing_argument(const char* op, const char* names) { return {op, names}; }

/// What a fused kernel takes a tensor as: elements, of the full shape or broadcast to it; a Bool
/// condition; a column with the shape of a row; a value or a position (Long) for each row, without
/// the dimensions of the row.
enum class FusedRole : uint8_t { kElement, kFull, kCondition, kColumn, kRow, kPosition };

struct FusedOperand {
  FusedOperand(const Tensor& tensor, FusedRole role) : tensor(&tensor), role(role) {}
  /// An absent tensor fits.
  FusedOperand(const std::optional<Tensor>& tensor, FusedRole role)
      : tensor(tensor ? &*tensor : nullptr), role(role) {}

  const Tensor* tensor;
  FusedRole role;
};

/// Whether a fused kernel gives what the operators of a composition give one by one: the tensors
/// are on one device, have one floating dtype and the shapes of their roles, and have elements.
TENON_API bool can_fuse(std::initializer_list<FusedOperand> operands);
/// The same for rows over the dimensions; none, or an empty list, means all.
TENON_API bool can_fuse(std::initializer_list<FusedOperand> operands, OptionalIntArrayRef over);
/// Whether the last sizes of the tensor are these.
TENON_API bool ends_in(const Tensor& tensor, IntArrayRef sizes);
/// -2, -1 of two sizes.
TENON_API std::vector<int64_t> last_dims(IntArrayRef sizes);

/// `a ?? b`: b where `a` is absent.
template <class Optional, class Other>
auto value_or(const Optional& a, const Other& b) {
  using Value = std::decay_t<decltype(*a)>;
  if constexpr (std::is_same_v<Value, Tensor> && !std::is_same_v<Other, Tensor>) {
    return a ? *a : tensor_of_number(b);
  } else {
    return a ? *a : Value(b);
  }
}

}  // namespace tenon::native
