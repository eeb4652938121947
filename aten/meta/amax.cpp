#include "tenon/native/amax.h"

#include "aten/meta/reduce.h"
#include "tenon/native/amin.h"
#include "tenon/native/max.h"
#include "tenon/native/min.h"

namespace tenon {
namespace {

TensorSpec extreme(const char* op, const Tensor& self, OptionalIntArrayRef dim, bool keepdim) {
  native::check_not_empty(op, self, dim);
  return native::reduced_spec(op, self, dim, keepdim, self.scalar_type());
}

void check_ordered(const char* op, const Tensor& self) {
  TENON_CHECK_NOT_IMPLEMENTED(!self.is_complex(), "[", op, "] is not implemented for '",
                              self.scalar_type(), "'");
}

void check_with_indices(const char* op, const Tensor& self, int64_t dim) {
  TENON_CHECK_TYPE(!self.is_complex(), "[", op, "] does not support complex input, got ",
                   self.scalar_type());
  native::check_not_empty(op, self, dim);
}

}  // namespace

TensorSpec native::amax_meta(const Tensor& self, IntArrayRef dim, bool keepdim) {
  check_ordered("amax", self);
  return extreme("amax", self, dim, keepdim);
}
TensorSpec native::amin_meta(const Tensor& self, IntArrayRef dim, bool keepdim) {
  check_ordered("amin", self);
  return extreme("amin", self, dim, keepdim);
}
TensorSpec native::max_meta(const Tensor& self) {
  check_ordered("max", self);
  return extreme("max", self, std::nullopt, false);
}
TensorSpec native::min_meta(const Tensor& self) {
  check_ordered("min", self);
  return extreme("min", self, std::nullopt, false);
}

void native::max_dim_check(const Tensor& self, int64_t dim, bool) {
  check_with_indices("max", self, dim);
}
void native::min_dim_check(const Tensor& self, int64_t dim, bool) {
  check_with_indices("min", self, dim);
}

}  // namespace tenon
