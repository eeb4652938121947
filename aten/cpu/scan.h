#pragma once

#include <algorithm>
#include <complex>

#include "aten/common/contiguous.h"
#include "aten/core/parallel.h"

namespace tenon::native {

/// out[i] = first op in[0] op ... op in[i] along the middle dimension of a contiguous [outer,
/// length, inner]; `in` may be `out`. Float types are accumulated in double, as PyTorch does.
template <class T, class Op>
void accumulate(const T* in, T* out, const DimSplit& split, int first, Op op) {
  using A = acc_type<T>;
  const auto [outer, length, inner] = split;
  parallel_for(0, outer, std::max<int64_t>(1, 16384 / (length * inner + 1)),
               [&, length = length, inner = inner](int64_t begin, int64_t end) {
                 if (inner == 1) {
                   for (int64_t o = begin; o < end; ++o) {
                     A total(first);
                     for (int64_t i = o * length; i < (o + 1) * length; ++i) {
                       total = op(total, static_cast<A>(in[i]));
                       out[i] = static_cast<T>(total);
                     }
                   }
                   return;
                 }
                 constexpr int64_t kColumns = 256;
                 A totals[kColumns];
                 for (int64_t o = begin; o < end; ++o) {
                   for (int64_t start = 0; start < inner; start += kColumns) {
                     const int64_t n = std::min(kColumns, inner - start);
                     std::fill(totals, totals + n, A(first));
                     for (int64_t r = 0; r < length; ++r) {
                       const int64_t at = (o * length + r) * inner + start;
                       for (int64_t j = 0; j < n; ++j) {
                         totals[j] = op(totals[j], static_cast<A>(in[at + j]));
                         out[at + j] = static_cast<T>(totals[j]);
                       }
                     }
                   }
                 }
               });
}

/// The same of tensors: `self` is converted to out's dtype first.
template <class Op>
void accumulate(const char* name, const TensorBase& self, int64_t dim, const TensorBase& out,
                int first, Op op) {
  if (out.numel() == 0) return;
  // Half types: through float, whose totals in double are rounded once more at the end.
  const ScalarType type = to_opmath_type(out.scalar_type());
  const TensorBase in = contiguous(contiguous(self, out.scalar_type()), type);
  const ContiguousOutput result(out, type);
  const DimSplit split(in.sizes(), dim);
  TENON_DISPATCH_SWITCH(
      type, name,
      TENON_FORALL_INTEGRAL(TENON_DISPATCH_CASE) TENON_FORALL_FLOATING(TENON_DISPATCH_CASE)
          TENON_FORALL_COMPLEX(TENON_DISPATCH_CASE),
      { accumulate(in.data_ptr<scalar_t>(), result.data<scalar_t>(), split, first, op); });
  result.copy_back();
}

}  // namespace tenon::native
