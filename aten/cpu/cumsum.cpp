#include "tenon/native/cumsum.h"

#include <algorithm>

#include "aten/core/parallel.h"
#include "aten/iterator/copy.h"
#include "tenon/ops/to.h"

namespace tenon {
namespace {

/// Float types are accumulated in double, as PyTorch does.
template <class T>
struct Accumulator {
  using type = std::conditional_t<std::is_integral_v<T>, int64_t, double>;
};
template <class R>
struct Accumulator<std::complex<R>> {
  using type = std::complex<double>;
};

template <class T>
void accumulate(const T* in, T* out, int64_t outer, int64_t length, int64_t inner) {
  using A = typename Accumulator<T>::type;
  parallel_for(0, outer, std::max<int64_t>(1, 16384 / (length * inner + 1)),
               [&](int64_t begin, int64_t end) {
                 if (inner == 1) {
                   for (int64_t o = begin; o < end; ++o) {
                     A sum(0);
                     for (int64_t i = o * length; i < (o + 1) * length; ++i) {
                       sum += static_cast<A>(in[i]);
                       out[i] = static_cast<T>(sum);
                     }
                   }
                   return;
                 }
                 constexpr int64_t kColumns = 256;
                 A sums[kColumns];
                 for (int64_t o = begin; o < end; ++o) {
                   for (int64_t start = 0; start < inner; start += kColumns) {
                     const int64_t n = std::min(kColumns, inner - start);
                     std::fill(sums, sums + n, A(0));
                     for (int64_t r = 0; r < length; ++r) {
                       const int64_t at = (o * length + r) * inner + start;
                       for (int64_t j = 0; j < n; ++j) {
                         sums[j] += static_cast<A>(in[at + j]);
                         out[at + j] = static_cast<T>(sums[j]);
                       }
                     }
                   }
                 }
               });
}

}  // namespace

void native::cumsum_cpu(const Tensor& self, int64_t dim, std::optional<ScalarType>,
                        const Tensor& out) {
  if (out.numel() == 0) return;
  const Tensor in = self.to(out.scalar_type()).contiguous();
  const Tensor result =
      out.is_contiguous() ? out : Tensor(tenon::empty(out.sizes(), out.scalar_type(), kCPU));
  const int64_t d = wrap_dim(dim, self.dim());
  int64_t outer = 1;
  int64_t inner = 1;
  for (int64_t i = 0; i < in.dim(); ++i) (i < d ? outer : inner) *= i == d ? 1 : in.sizes()[i];
  const int64_t length = in.dim() == 0 ? 1 : in.sizes()[d];
  TENON_DISPATCH_SWITCH(
      out.scalar_type(), "cumsum",
      TENON_FORALL_INTEGRAL(TENON_DISPATCH_CASE) TENON_FORALL_FLOATING(TENON_DISPATCH_CASE)
          TENON_FORALL_REDUCED_FLOATING(TENON_DISPATCH_CASE)
              TENON_FORALL_COMPLEX(TENON_DISPATCH_CASE),
      {
        if constexpr (std::is_class_v<scalar_t> && !tenon::is_complex(scalar_type_of<scalar_t>)) {
          // Half types: through float, whose sums in double are rounded once more at the end.
          const Tensor wide = in.to(kFloat);
          accumulate(static_cast<const float*>(wide.const_data_ptr()),
                     static_cast<float*>(wide.mutable_data_ptr()), outer, length, inner);
          native::copy(result, wide);
        } else {
          accumulate(static_cast<const scalar_t*>(in.const_data_ptr()),
                     static_cast<scalar_t*>(result.mutable_data_ptr()), outer, length, inner);
        }
      });
  if (!result.is_same(out)) native::copy(out, result);
}

}  // namespace tenon
