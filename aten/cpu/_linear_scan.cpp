#include "tenon/native/_linear_scan.h"

#include "aten/common/contiguous.h"
#include "aten/core/parallel.h"
#include "aten/meta/linear_scan.h"

namespace tenon {
namespace {

/// y[i] = x[i] + f[i] y[i - 1] along the middle dimension, or y[i] = x[i] + f[i + 1] y[i + 1].
template <class T>
void linear_scan(const T* x, const T* f, T* y, const native::DimSplit& split, bool adjoint) {
  const auto [outer, n, inner] = split;
  parallel_for(0, outer, std::max<int64_t>(1, 16384 / (n * inner + 1)),
               [&, n = n, inner = inner](int64_t begin, int64_t end) {
                 for (int64_t o = begin; o < end; ++o) {
                   const int64_t first = o * n * inner;
                   const int64_t start = adjoint ? first + (n - 1) * inner : first;
                   const int64_t step = adjoint ? -inner : inner;
                   if (inner == 1) {
                     T last = y[start] = x[start];
                     for (int64_t r = 1; r < n; ++r) {
                       const int64_t at = start + r * step;
                       y[at] = last = x[at] + f[adjoint ? at - step : at] * last;
                     }
                     continue;
                   }
                   std::copy_n(x + start, inner, y + start);
                   for (int64_t r = 1; r < n; ++r) {
                     const int64_t at = start + r * step, before = at - step;
                     const T* factors = f + (adjoint ? before : at);
                     for (int64_t j = 0; j < inner; ++j)
                       y[at + j] = x[at + j] + factors[j] * y[before + j];
                   }
                 }
               });
}

}  // namespace

Tensor native::_linear_scan_cpu(const Tensor& self, const Tensor& factors, int64_t dim,
                                bool adjoint) {
  meta::check_linear_scan(self, factors);
  const Tensor out(tenon::empty(self.sizes(), self.scalar_type(), self.device()));
  if (out.numel() == 0) return out;
  const ScalarType type = to_opmath_type(self.scalar_type());
  const TensorBase x = contiguous(self, type), f = contiguous(factors, type);
  const ContiguousOutput to(out, type);
  const DimSplit split(self.sizes(), dim);
  TENON_DISPATCH_FLOATING_AND_COMPLEX(type, "_linear_scan", {
    linear_scan(x.data_ptr<scalar_t>(), f.data_ptr<scalar_t>(), to.data<scalar_t>(), split,
                adjoint);
  });
  to.copy_back();
  return out;
}

}  // namespace tenon
