#include "tenon/native/embedding_dense_backward.h"

#include <algorithm>
#include <vector>

#include "aten/common/contiguous.h"
#include "aten/core/parallel.h"

namespace tenon {

/// Row v is the sum of the gradients of all places that looked v up, divided by their number if
/// `scale_grad_by_freq`; the row of padding_idx is 0. Every thread owns a range of rows, so that
/// the order of additions does not depend on their number.
void native::embedding_dense_backward_cpu(const Tensor& grad_output, const Tensor& indices,
                                          int64_t num_weights, int64_t padding_idx,
                                          bool scale_grad_by_freq, const Tensor& out) {
  const ScalarType type = to_opmath_type(grad_output.scalar_type());
  const TensorBase g = contiguous(grad_output, type), at = contiguous(indices, kLong);
  const ContiguousOutput to(out, type);
  const int64_t width = out.size(1), count = indices.numel();
  const int64_t* index = at.data_ptr<int64_t>();
  std::vector<int64_t> times(scale_grad_by_freq ? num_weights : 0, 0);
  for (int64_t i = 0; i < count; ++i) {
    TENON_CHECK_INDEX(index[i] >= 0 && index[i] < num_weights,
                      "[embedding_dense_backward] index out of range: ", index[i], " for ",
                      num_weights, " rows");
    if (scale_grad_by_freq) ++times[index[i]];
  }
  TENON_DISPATCH_FLOATING(type, "embedding_dense_backward", {
    const scalar_t* from = g.data_ptr<scalar_t>();
    scalar_t* rows = to.data<scalar_t>();
    const int64_t threads = count * width < 65536 ? 1 : get_num_threads();
    parallel_for(0, num_weights, (num_weights + threads - 1) / threads,
                 [&](int64_t begin, int64_t end) {
                   std::fill(rows + begin * width, rows + end * width, scalar_t(0));
                   for (int64_t i = 0; i < count; ++i) {
                     const int64_t v = index[i];
                     if (v < begin || v >= end || v == padding_idx) continue;
                     const scalar_t* row = from + i * width;
                     scalar_t* sum = rows + v * width;
                     if (scale_grad_by_freq) {
                       const scalar_t scale = scalar_t(1) / static_cast<scalar_t>(times[v]);
                       for (int64_t j = 0; j < width; ++j) sum[j] += scale * row[j];
                     } else {
                       for (int64_t j = 0; j < width; ++j) sum[j] += row[j];
                     }
                   }
                 });
  });
  to.copy_back();
}

}  // namespace tenon
