#include "tenon/native/max_pool2d_with_indices_backward.h"

#include <algorithm>

#include "aten/common/contiguous.h"
#include "aten/core/parallel.h"

namespace tenon {

/// grad_input is 0 but at the maxima, where the gradients of all windows that chose them add up.
void native::max_pool2d_with_indices_backward_cpu(const Tensor& grad_output, const Tensor& self,
                                                  IntArrayRef, IntArrayRef, IntArrayRef,
                                                  IntArrayRef, bool, const Tensor& indices,
                                                  const Tensor& grad_input) {
  if (grad_input.numel() == 0) return;
  const ScalarType type = to_opmath_type(grad_output.scalar_type());
  const int64_t in_size = self.size(-1) * self.size(-2),
                out_size = indices.size(-1) * indices.size(-2);
  const TensorBase dy = contiguous(grad_output, type), at = contiguous(indices, kLong);
  const ContiguousOutput dx(grad_input, type);
  TENON_DISPATCH_FLOATING(type, "max_pool2d_with_indices_backward", {
    parallel_for(0, self.numel() / in_size, std::max<int64_t>(1, 32768 / in_size),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t l = begin; l < end; ++l) {
                     const scalar_t* from = dy.data_ptr<scalar_t>() + l * out_size;
                     const int64_t* position = at.data_ptr<int64_t>() + l * out_size;
                     scalar_t* to = dx.data<scalar_t>() + l * in_size;
                     std::fill_n(to, in_size, scalar_t(0));
                     for (int64_t i = 0; i < out_size; ++i) {
                       TENON_CHECK_INDEX(static_cast<uint64_t>(position[i]) <
                                             static_cast<uint64_t>(in_size),
                                         "[max_pool2d_with_indices_backward] index ", position[i],
                                         " is out of range for a plane of ", in_size, " elements");
                       to[position[i]] += from[i];
                     }
                   }
                 });
  });
  dx.copy_back();
}

}  // namespace tenon
