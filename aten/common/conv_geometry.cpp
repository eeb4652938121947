#include "aten/common/conv_geometry.h"

namespace tenon::native {

ConvGeometry conv_geometry(const TensorBase& src, const TensorBase& weight, const TensorBase& dst,
                           IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                           int64_t groups) {
  ConvGeometry g{};
  g.spatial = weight.dim() - 2;
  g.batch = src.size(0);
  g.channels = src.size(1);
  g.outputs = dst.size(1);
  g.groups = groups;
  g.in = g.out = g.kernel = g.stride = g.dilation = {1, 1, 1};
  g.padding = {0, 0, 0};
  for (int64_t i = 0; i < g.spatial; ++i) {
    const int64_t to = 3 - g.spatial + i;
    g.in[to] = src.size(i + 2);
    g.out[to] = dst.size(i + 2);
    g.kernel[to] = weight.size(i + 2);
    g.stride[to] = stride[i];
    g.padding[to] = padding[i];
    g.dilation[to] = dilation[i];
  }
  return g;
}

}  // namespace tenon::native
