#pragma once

#include <span>
#include <string_view>

namespace tenon::codegen::expr {

/// A method of Tensor that is written by hand, in aten/core/tensor_base.h or the template of
/// tenon/tensor.h; also those that only upstream's formulas call.
struct TensorMethod {
  std::string_view name;
  std::string_view type;       ///< of the schema language, or TensorOptions; empty: the compiler's
  std::string_view kept;       ///< what backward keeps in place of the tensor: the method to call,
  std::string_view kept_type;  ///< and the C++ type; empty: the tensor itself
  bool ours = true;            ///< false: upstream's alone
};

std::span<const TensorMethod> tensor_methods();

/// Null where there is none of the name.
const TensorMethod* find_tensor_method(std::string_view name);

}  // namespace tenon::codegen::expr
