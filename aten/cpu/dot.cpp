#include "tenon/native/dot.h"

#include "aten/cpu/gemm.h"
#include "aten/cpu/product.h"

namespace tenon {

Tensor native::dot_cpu(const Tensor& self, const Tensor& tensor) {
  TENON_CHECK(self.dim() == 1 && tensor.dim() == 1, "[dot] 1D tensors expected, but got ",
              self.dim(), "D and ", tensor.dim(), "D tensors");
  TENON_CHECK(self.scalar_type() == tensor.scalar_type(),
              "[dot] expected both vectors to have same dtype, but found ", self.scalar_type(),
              " and ", tensor.scalar_type());
  TENON_CHECK(self.numel() == tensor.numel(), "[dot] inconsistent tensor size, expected tensor ",
              self.sizes(), " and src ", tensor.sizes(),
              " to have the same number of elements, but got ", self.numel(), " and ",
              tensor.numel(), " elements respectively");
  const int64_t n = self.numel();
  Tensor out = empty(IntArrayRef(), self.scalar_type(), self.device());
  const int64_t step = n > 0 ? self.stride(0) : 1, other_step = n > 0 ? tensor.stride(0) : 1;
  if (self.scalar_type() == kFloat) {
    *out.data_ptr<float>() =
        dot_product(n, self.data_ptr<float>(), step, tensor.data_ptr<float>(), other_step);
  } else if (self.scalar_type() == kDouble) {
    *out.data_ptr<double>() =
        dot_product(n, self.data_ptr<double>(), step, tensor.data_ptr<double>(), other_step);
  } else {
    matrix_product("dot", self.scalar_type(), {1, 1, 1, n}, 1, {self.data_ptr(), 0, 1, step},
                   {tensor.data_ptr(), 0, other_step, 1}, 0, {out.data_ptr(), 0, 1, 1});
  }
  return out;
}

}  // namespace tenon
