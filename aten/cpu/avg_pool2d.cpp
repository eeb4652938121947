#include "tenon/native/avg_pool2d.h"

#include <algorithm>

#include "aten/common/contiguous.h"
#include "aten/core/parallel.h"
#include "aten/cpu/avg_pool_plane.h"
#include "aten/cpu/pool_pixel.h"

namespace tenon {
namespace {

/// Channels last in and out.
template <class Window>
void average_last(const TensorBase& self, const meta::Pool2d& p, const TensorBase& out,
                  Window&& window) {
  const int64_t channels = self.size(1), rows = self.size(0) * p.out_h;
  const int64_t work = p.out_w * channels * p.kernel_h * p.kernel_w;
  TENON_DISPATCH_FLOATING(self.scalar_type(), "avg_pool2d", {
    parallel_for(0, rows, std::max<int64_t>(1, 65536 / work), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const scalar_t* image = self.data_ptr<scalar_t>() + i / p.out_h * p.in_size() * channels;
        scalar_t* to = out.data_ptr<scalar_t>() + i * p.out_w * channels;
        for (int64_t column = 0; column < p.out_w; ++column, to += channels)
          native::average_pixel(image, p.in_w, channels, window(i % p.out_h, column), to);
      }
    });
  });
}

}  // namespace

void native::avg_pool2d_cpu(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                            IntArrayRef padding, bool ceil_mode, bool count_include_pad,
                            std::optional<int64_t> divisor_override, const Tensor& out) {
  const meta::Pool2d p =
      meta::pool2d("avg_pool2d", self, kernel_size, stride, padding, 1, ceil_mode);
  const ScalarType type = to_opmath_type(self.scalar_type());
  if (self.scalar_type() == type && type != kLong && is_channels_last(self) &&
      is_channels_last(out)) {
    return average_last(self, p, out, [&](int64_t row, int64_t column) {
      return average_window(p, row, column, count_include_pad, divisor_override);
    });
  }
  const TensorBase from = contiguous(self, type);
  const ContiguousOutput to(out, type);
  const auto window = [&](int64_t row, int64_t column) {
    return average_window(p, row, column, count_include_pad, divisor_override);
  };
  const auto average = [&]<class T>() {
    parallel_for(0, p.planes, std::max<int64_t>(1, 16384 / p.in_size()),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t l = begin; l < end; ++l) {
                     average_plane<T>(p, from.data_ptr<T>() + l * p.in_size(),
                                      to.data<T>() + l * p.out_size(), window);
                   }
                 });
  };
  if (type == kLong) {
    average.operator()<int64_t>();
  } else {
    TENON_DISPATCH_FLOATING(type, "avg_pool2d", { average.operator()<scalar_t>(); });
  }
  to.copy_back();
}

}  // namespace tenon
