#include "tenon/native/_log_softmax.h"
#include "tenon/native/_log_softmax_gradient.h"
#include "tenon/native/_softmax.h"
#include "tenon/native/_softmax_gradient.h"

namespace tenon {
namespace {

void check_input(const char* op, const Tensor& self, int64_t dim, bool half_to_float) {
  wrap_dim(dim, self.dim());
  TENON_CHECK_NOT_IMPLEMENTED(is_floating_point(self.scalar_type()), "[", op,
                              "] is not implemented for ", self.scalar_type());
  TENON_CHECK(!half_to_float || self.scalar_type() == kHalf, "[", op,
              "] conversion is supported for Half type only, got ", self.scalar_type());
}

void check_gradient(const char* op, const Tensor& grad_output, const Tensor& output) {
  TENON_CHECK(grad_output.sizes() == output.sizes(), "[", op,
              "] grad_output and output need the same shape, got ", grad_output.sizes(), " and ",
              output.sizes());
}

}  // namespace

void native::_softmax_check(const Tensor& self, int64_t dim, bool half_to_float) {
  check_input("softmax", self, dim, half_to_float);
}

void native::_log_softmax_check(const Tensor& self, int64_t dim, bool half_to_float) {
  check_input("log_softmax", self, dim, half_to_float);
}

void native::_softmax_gradient_check(const Tensor& grad_output, const Tensor& output, int64_t) {
  check_gradient("_softmax_backward_data", grad_output, output);
}

void native::_log_softmax_gradient_check(const Tensor& grad_output, const Tensor& output, int64_t) {
  check_gradient("_log_softmax_backward_data", grad_output, output);
}

}  // namespace tenon
