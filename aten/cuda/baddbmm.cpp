#include "tenon/native/baddbmm.h"

#include "aten/cuda/product.h"

namespace tenon {

void native::baddbmm_cuda(const Tensor& self, const Tensor& batch1, const Tensor& batch2,
                          const Scalar& beta, const Scalar& alpha, const Tensor& out) {
  cuda::add_product("baddbmm", &self, batch1, batch2, beta, alpha, out);
}

}  // namespace tenon
