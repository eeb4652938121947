#include "tenon/native/sort.h"

#include "tenon/native/argsort.h"
#include "tenon/ops/sort.h"

namespace tenon {

std::tuple<Tensor, Tensor> native::sort(const Tensor& self, int64_t dim, bool descending) {
  return ops::sort_stable::call(self, false, dim, descending);
}

Tensor native::argsort(const Tensor& self, int64_t dim, bool descending) {
  return std::get<1>(ops::sort_stable::call(self, false, dim, descending));
}

Tensor native::argsort_stable(const Tensor& self, bool stable, int64_t dim, bool descending) {
  return std::get<1>(ops::sort_stable::call(self, stable, dim, descending));
}

}  // namespace tenon
