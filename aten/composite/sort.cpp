#include "tenon/native/sort.h"

#include "tenon/ops/sort.h"

namespace tenon {

std::tuple<Tensor, Tensor> native::sort(const Tensor& self, int64_t dim, bool descending) {
  return ops::sort_stable::call(self, false, dim, descending);
}

}  // namespace tenon
