#include "tenon/native/adaptive_max_pool2d.h"

#include <algorithm>

#include "aten/common/contiguous.h"
#include "aten/core/parallel.h"
#include "aten/iterator/element_copy.h"
#include "aten/meta/pooling.h"

namespace tenon {
namespace {

/// AdaptiveWindow k of n elements: [floor(k n / windows), ceil((k + 1) n / windows)).
struct AdaptiveWindow {
  int64_t begin, end;

  AdaptiveWindow(int64_t k, int64_t n, int64_t windows)
      : begin(k * n / windows), end(((k + 1) * n + windows - 1) / windows) {}
};

/// One plane; `place` is within it. Of several NaN the last is found, as in PyTorch.
template <class T>
void adaptive_max_of_plane(const T* in, int64_t height, int64_t width, int64_t out_height,
                           int64_t out_width, T* out, int64_t* place) {
  for (int64_t i = 0; i < out_height; ++i) {
    const AdaptiveWindow rows(i, height, out_height);
    for (int64_t j = 0; j < out_width; ++j) {
      const AdaptiveWindow columns(j, width, out_width);
      int64_t best = rows.begin * width + columns.begin;
      T largest = in[best];
      for (int64_t y = rows.begin; y < rows.end; ++y) {
        for (int64_t x = columns.begin; x < columns.end; ++x) {
          const T value = in[y * width + x];
          if (value > largest || value != value) {
            largest = value;
            best = y * width + x;
          }
        }
      }
      *out++ = largest;
      *place++ = best;
    }
  }
}

}  // namespace

std::tuple<Tensor, Tensor> native::adaptive_max_pool2d_cpu(const Tensor& self,
                                                           IntArrayRef output_size) {
  meta::check_adaptive_max_pool("adaptive_max_pool2d", self, output_size, 2);
  const int64_t height = self.size(-2), width = self.size(-1);
  const DimVector sizes = meta::plane_sizes(self, output_size[0], output_size[1]);
  const Tensor values(tenon::empty(sizes, self.scalar_type(), self.device()));
  const Tensor indices(tenon::empty(sizes, kLong, self.device()));
  const MemoryFormat format = self.suggest_memory_format();
  if (values.numel() > 0) {
    const ScalarType type = to_opmath_type(self.scalar_type());
    const TensorBase x = contiguous(self, type);
    const ContiguousOutput out(values, type);
    const int64_t in_plane = height * width, out_plane = output_size[0] * output_size[1];
    TENON_DISPATCH_FLOATING(type, "adaptive_max_pool2d", {
      parallel_for(0, values.numel() / out_plane,
                   std::max<int64_t>(1, 32768 / std::max(in_plane, out_plane)),
                   [&](int64_t begin, int64_t end) {
                     for (int64_t l = begin; l < end; ++l) {
                       adaptive_max_of_plane(x.data_ptr<scalar_t>() + l * in_plane, height, width,
                                             output_size[0], output_size[1],
                                             out.data<scalar_t>() + l * out_plane,
                                             indices.mutable_data_ptr<int64_t>() + l * out_plane);
                     }
                   });
    });
    out.copy_back();
  }
  if (format == MemoryFormat::Contiguous) return {values, indices};
  // Strides of the format, in dimensions of one element too.
  const auto laid_out = [&](const Tensor& t) {
    const Tensor out(
        empty_strided(sizes, strides_of_format(sizes, format), t.scalar_type(), t.device()));
    native::copy(out, t);
    return out;
  };
  return {laid_out(values), laid_out(indices)};
}

}  // namespace tenon
