#include "tenon/native/argmax.h"

#include "aten/meta/reduce.h"
#include "tenon/native/argmin.h"

namespace tenon {
namespace {

TensorSpec arg(const char* op, const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  TENON_CHECK_TYPE(!self.is_complex(), "[", op, "] does not support complex input, got ",
                   self.scalar_type());
  if (dim) {
    native::check_not_empty(op, self, *dim);
    return native::reduced_spec(op, self, *dim, keepdim, kLong);
  }
  TENON_CHECK_INDEX(self.numel() > 0, "[", op,
                    "] Expected reduction dim to be specified for input.numel() == 0.");
  return native::reduced_spec(op, self, std::nullopt, keepdim, kLong);
}

}  // namespace

TensorSpec native::argmax_meta(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  return arg("argmax", self, dim, keepdim);
}

TensorSpec native::argmin_meta(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  return arg("argmin", self, dim, keepdim);
}

}  // namespace tenon
