#include "tenon/native/div.h"
#include "tenon/ops/_trunc_divide.h"
#include "tenon/ops/div.h"
#include "tenon/ops/floor_divide.h"

namespace tenon {
namespace {

/// rounding_mode none: true division; floor; trunc: towards zero.
template <class Other>
Tensor divide(const Tensor& self, const Other& other,
              std::optional<std::string_view> rounding_mode) {
  if (!rounding_mode) return div(self, other);
  if (*rounding_mode == "floor") return floor_divide(self, other);
  TENON_CHECK(*rounding_mode == "trunc", "[div] rounding_mode must be none, floor or trunc, got '",
              *rounding_mode, "'");
  return _trunc_divide(self, other);
}

}  // namespace

Tensor native::div_Tensor_mode(const Tensor& self, const Tensor& other,
                               std::optional<std::string_view> rounding_mode) {
  return divide(self, other, rounding_mode);
}

Tensor native::div_Scalar_mode(const Tensor& self, const Scalar& other,
                               std::optional<std::string_view> rounding_mode) {
  return divide(self, other, rounding_mode);
}

}  // namespace tenon
