#include "tenon/native/embedding.h"

#include <algorithm>
#include <cstring>

#include "aten/common/contiguous.h"
#include "aten/core/parallel.h"

namespace tenon {

void native::embedding_cpu(const Tensor& weight, const Tensor& indices, int64_t, bool, bool,
                           const Tensor& out) {
  const TensorBase w = contiguous(weight), at = contiguous(indices, kLong);
  const ContiguousOutput to(out, weight.scalar_type());
  const int64_t count = w.size(0), bytes = w.size(1) * w.itemsize();
  const char* from = static_cast<const char*>(w.data_ptr());
  const int64_t* index = at.data_ptr<int64_t>();
  char* rows = static_cast<char*>(to.data());
  parallel_for(0, indices.numel(), std::max<int64_t>(1, 65536 / std::max<int64_t>(bytes, 1)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) {
                   TENON_CHECK_INDEX(index[i] >= 0 && index[i] < count,
                                     "[embedding] index out of range in self: ", index[i], " for ",
                                     count, " rows");
                   std::memcpy(rows + i * bytes, from + index[i] * bytes, bytes);
                 }
               });
  to.copy_back();
}

}  // namespace tenon
