#pragma once

#include <cstdint>
#include <vector>

namespace tenon::native::conv_rows {

/// One image's planes with rows of a common stride, zero around the data.
struct Planes {
  float* data;
  int64_t height, stride;  ///< of the padded plane

  float* row(int64_t plane, int64_t y) const { return data + (plane * height + y) * stride; }
};

/// Output channels in blocks of `block`; weights [block][tap][block rows], taps as offsets into a
/// plane.
struct PackedWeight {
  std::vector<float> values;
  std::vector<int64_t> taps;
  int64_t block, blocks, outputs;
};

struct ImageOut {
  float* data;
  int64_t height, width;
};

}  // namespace tenon::native::conv_rows
