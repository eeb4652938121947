#include <cmath>

#include "aten/common/opmath_type.h"
#include "aten/core/parallel.h"
#include "custom/native/rms_scale.h"

namespace custom {
namespace {

template <class T>
void rows(const T* x, const T* weight, T* out, int64_t begin, int64_t end, int64_t columns,
          double eps) {
  using Sum = tenon::opmath_type<T>;
  for (int64_t row = begin; row < end; ++row) {
    const T* from = x + row * columns;
    T* to = out + row * columns;
    Sum squares = 0;
    for (int64_t i = 0; i < columns; ++i)
      squares += static_cast<Sum>(from[i]) * static_cast<Sum>(from[i]);
    const Sum scale = 1 / std::sqrt(squares / static_cast<Sum>(columns) + static_cast<Sum>(eps));
    for (int64_t i = 0; i < columns; ++i) {
      to[i] = static_cast<T>(static_cast<Sum>(from[i]) * scale * static_cast<Sum>(weight[i]));
    }
  }
}

}  // namespace

void native::rms_scale_cpu(const tenon::Tensor& self, const tenon::Tensor& weight, double eps,
                           const tenon::Tensor& out) {
  const tenon::Tensor x = self.contiguous(), w = weight.contiguous();
  // `out` may be any tensor the caller gave; where its memory is not in row order, a copy is
  // computed first.
  const tenon::Tensor y = out.is_contiguous()
                              ? out
                              : tenon::Tensor(tenon::empty(out.sizes(), out.dtype(), out.device()));
  const int64_t columns = x.size(-1);
  if (x.numel() == 0) return;
  TENON_DISPATCH_FLOATING_AND_REDUCED(x.dtype(), "rms_scale", {
    tenon::parallel_for(0, x.numel() / columns, 1 + 32768 / columns,
                        [&](int64_t begin, int64_t end) {
                          rows(x.data_ptr<scalar_t>(), w.data_ptr<scalar_t>(),
                               y.data_ptr<scalar_t>(), begin, end, columns, eps);
                        });
  });
  if (!y.is_same(out)) out.copy_(y);
}

}  // namespace custom
