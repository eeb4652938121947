#include "tenon/native/linalg_tensorsolve.h"

#include <numeric>

#include "tenon/native/linalg_tensorinv.h"
#include "tenon/ops/linalg_inv.h"
#include "tenon/ops/linalg_solve.h"
#include "tenon/ops/movedim.h"

namespace tenon {

/// The inverse of the linear map whose matrix `self` is, once its first `ind` dimensions are one
/// and the others another: of [first..., last...] it is [last..., first...].
Tensor native::linalg_tensorinv(const Tensor& self, int64_t ind) {
  TENON_CHECK(ind > 0,
              "[linalg.tensorinv] Expected a strictly positive integer for 'ind', but got ", ind);
  TENON_CHECK(ind <= self.dim(),
              "[linalg.tensorinv] 'ind' must be at most the dimensions of self, ", self.dim(),
              ", but got ", ind);
  const auto split = static_cast<size_t>(ind);
  const IntArrayRef first = self.sizes().slice(0, split), last = self.sizes().slice(split);
  TENON_CHECK(numel_of(first) == numel_of(last),
              "[linalg.tensorinv] Expected self to satisfy the requirement prod(self.shape[ind:]) "
              "== prod(self.shape[:ind]), but got ",
              numel_of(last), " != ", numel_of(first));
  DimVector sizes(last);
  for (const int64_t size : first) sizes.push_back(size);
  return tenon::linalg_inv(self.reshape({numel_of(first), numel_of(last)})).reshape(sizes);
}

/// X with tensordot(self, X, X.dim()) == other. The dimensions `dims` of self are moved to its end
/// first.
Tensor native::linalg_tensorsolve(const Tensor& self, const Tensor& other,
                                  OptionalIntArrayRef dims) {
  Tensor A = self;
  if (dims) {
    DimVector ends(dims->size());
    std::iota(ends.begin(), ends.end(), self.dim() - static_cast<int64_t>(dims->size()));
    A = movedim(self, *dims, ends);
  }
  const auto split = static_cast<size_t>(std::min(other.dim(), A.dim()));
  const IntArrayRef of_solution = A.sizes().slice(split);
  const int64_t columns = numel_of(of_solution), rows = other.numel();
  TENON_CHECK(rows == columns,
              "[linalg.tensorsolve] Expected self to satisfy the requirement "
              "prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), but got ",
              columns, " != ", rows);
  return tenon::linalg_solve(A.reshape({rows, columns}), other.flatten()).reshape(of_solution);
}

}  // namespace tenon
