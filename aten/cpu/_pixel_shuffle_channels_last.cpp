#include "tenon/native/_pixel_shuffle_channels_last.h"

#include <algorithm>

#include "aten/common/contiguous.h"
#include "aten/core/parallel.h"
#include "aten/cpu/dispatch_size.h"
#include "aten/meta/pixel_shuffle.h"

namespace tenon {
namespace {

/// A row of W pixels of c r r channels in memory, and r rows of W r pixels of c channels: channel
/// (k r + y) r + x of a pixel is channel k of pixel x in row y.
template <class T>
void shuffle_row(const T* in, T* out, int64_t width, int64_t c, int64_t r, bool inverse) {
  for (int64_t w = 0; w < width; ++w) {
    for (int64_t y = 0; y < r; ++y) {
      for (int64_t x = 0; x < r; ++x) {
        const int64_t many = w * c * r * r + y * r + x, few = ((y * width + w) * r + x) * c;
        if (inverse) {
          for (int64_t k = 0; k < c; ++k) out[many + k * r * r] = in[few + k];
        } else {
          for (int64_t k = 0; k < c; ++k) out[few + k] = in[many + k * r * r];
        }
      }
    }
  }
}

}  // namespace

Tensor native::_pixel_shuffle_channels_last_cpu(const Tensor& self, int64_t factor, bool inverse) {
  const meta::PixelShuffle p(self, factor, inverse);
  const Tensor out(tenon::empty_strided(p.sizes(),
                                        strides_of_format(p.sizes(), MemoryFormat::ChannelsLast),
                                        self.scalar_type(), self.device()));
  if (out.numel() == 0) return out;
  const TensorBase in = contiguous(self, self.scalar_type(), MemoryFormat::ChannelsLast);
  const int64_t row = p.width * p.channels * factor * factor;
  dispatch_size(self.element_size(), [&]<class T>() {
    const T* from = static_cast<const T*>(in.const_data_ptr());
    T* to = static_cast<T*>(out.mutable_data_ptr());
    parallel_for(
        0, p.batch * p.height, std::max<int64_t>(1, 32768 / row), [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            shuffle_row(from + i * row, to + i * row, p.width, p.channels, factor, inverse);
          }
        });
  });
  return out;
}

}  // namespace tenon
