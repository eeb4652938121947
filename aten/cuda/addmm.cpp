#include "tenon/native/addmm.h"

#include "aten/cuda/product.h"

namespace tenon {

void native::addmm_cuda(const Tensor& self, const Tensor& mat1, const Tensor& mat2,
                        const Scalar& beta, const Scalar& alpha, const Tensor& out) {
  cuda::add_product("addmm", &self, mat1, mat2, beta, alpha, out);
}

}  // namespace tenon
