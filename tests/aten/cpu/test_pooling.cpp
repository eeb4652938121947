#include "tenon/native/_adaptive_avg_pool2d.h"
#include "tenon/native/_adaptive_avg_pool2d_backward.h"
#include "tenon/native/_max_pool2d_gather.h"
#include "tenon/native/avg_pool2d.h"
#include "tenon/native/avg_pool2d_backward.h"
#include "tenon/native/max_pool2d_with_indices.h"
#include "tenon/native/max_pool2d_with_indices_backward.h"
#include "tests/aten/cpu/reference.h"

using namespace tenon;
using namespace tenon::test;

namespace {

struct Window {
  DimVector kernel, stride, padding, dilation;
  bool ceil_mode;
};

const Window kWindows[] = {
    {{2, 2}, {2, 2}, {0, 0}, {1, 1}, false}, {{3, 3}, {2, 2}, {1, 1}, {1, 1}, false},
    {{3, 2}, {1, 1}, {1, 0}, {1, 1}, false}, {{2, 3}, {}, {1, 1}, {1, 1}, true},
    {{3, 3}, {2, 1}, {1, 1}, {2, 3}, false}, {{2, 2}, {3, 3}, {0, 0}, {1, 1}, true},
    {{5, 5}, {1, 2}, {2, 2}, {1, 1}, false},
};

Tensor like(const TensorSpec& spec) {
  return empty_strided(spec.sizes,
                       spec.strides.empty() ? contiguous_strides(spec.sizes) : spec.strides,
                       spec.dtype, kCPU);
}

/// Positions in the input's plane that the window of one output covers.
std::vector<int64_t> covered(const Window& w, IntArrayRef in, int64_t row, int64_t column) {
  const IntArrayRef stride = w.stride.empty() ? IntArrayRef(w.kernel) : IntArrayRef(w.stride);
  std::vector<int64_t> at;
  for (int64_t i = 0; i < w.kernel[0]; ++i) {
    for (int64_t j = 0; j < w.kernel[1]; ++j) {
      const int64_t h = row * stride[0] - w.padding[0] + i * w.dilation[0];
      const int64_t x = column * stride[1] - w.padding[1] + j * w.dilation[1];
      if (h >= 0 && h < in[0] && x >= 0 && x < in[1]) at.push_back(h * in[1] + x);
    }
  }
  return at;
}

void check_max(const Window& w, IntArrayRef sizes, ScalarType dtype, int layout) {
  INFO("kernel " << w.kernel << " stride " << w.stride << " padding " << w.padding << " dilation "
                 << w.dilation << " input " << sizes << " " << dtype << " layout " << layout);
  Tensor x = layout == 1 ? random_strided(sizes, dtype) : random_tensor(sizes, dtype);
  if (layout == 2) x = channels_last(x);
  const auto specs = native::max_pool2d_with_indices_meta(x, w.kernel, w.stride, w.padding,
                                                          w.dilation, w.ceil_mode);
  const Tensor y = like(specs[0]), indices = like(specs[1]);
  native::max_pool2d_with_indices_cpu(x, w.kernel, w.stride, w.padding, w.dilation, w.ceil_mode, y,
                                      indices);
  const Values xv = values(x), got = values(indices);
  const IntArrayRef plane = sizes.slice(sizes.size() - 2);
  const int64_t in_size = plane[0] * plane[1], out_h = y.size(-2), out_w = y.size(-1);
  Values wanted(y.numel()), at(y.numel()), dx(x.numel(), 0);
  const Tensor g = random_tensor(y.sizes(), is_floating_point(dtype) ? dtype : kFloat);
  const Values gv = values(g);
  for (int64_t o = 0; o < y.numel(); ++o) {
    double best = -INFINITY;
    for (const int64_t i : covered(w, plane, o / out_w % out_h, o % out_w)) {
      const double v = xv[o / (out_h * out_w) * in_size + i];
      if (v > best || std::isnan(v)) {
        best = v;
        at[o] = i;
      }
    }
    wanted[o] = best;
    dx[o / (out_h * out_w) * in_size + static_cast<int64_t>(at[o])] += gv[o];
  }
  require_close(y, wanted, 0);
  require_close(indices, at, 0);
  if (!is_floating_point(dtype)) return;
  const Tensor grad =
      like(native::max_pool2d_with_indices_backward_meta(g, x, {}, {}, {}, {}, false, indices));
  native::max_pool2d_with_indices_backward_cpu(g, x, {}, {}, {}, {}, false, indices, grad);
  require_close(grad, dx, dtype == kBFloat16 ? 3e-2 : 1e-5);
  const Tensor gathered = like(native::_max_pool2d_gather_meta(x, indices));
  native::_max_pool2d_gather_cpu(x, indices, gathered);
  require_close(gathered, wanted, 0);
}

void check_average(const Window& w, IntArrayRef sizes, ScalarType dtype, bool include_pad,
                   std::optional<int64_t> divisor, int layout) {
  Tensor x = layout == 1 ? random_strided(sizes, dtype) : random_tensor(sizes, dtype);
  if (layout == 2) x = channels_last(x);
  const Tensor y = like(
      native::avg_pool2d_meta(x, w.kernel, w.stride, w.padding, w.ceil_mode, include_pad, divisor));
  native::avg_pool2d_cpu(x, w.kernel, w.stride, w.padding, w.ceil_mode, include_pad, divisor, y);
  const Tensor g = random_tensor(y.sizes(), dtype);
  const Values xv = values(x), gv = values(g);
  const IntArrayRef plane = sizes.slice(sizes.size() - 2);
  const IntArrayRef stride = w.stride.empty() ? IntArrayRef(w.kernel) : IntArrayRef(w.stride);
  const int64_t in_size = plane[0] * plane[1], out_h = y.size(-2), out_w = y.size(-1);
  Values wanted(y.numel(), 0), dx(x.numel(), 0);
  for (int64_t o = 0; o < y.numel(); ++o) {
    const int64_t row = o / out_w % out_h, column = o % out_w,
                  start = o / (out_h * out_w) * in_size;
    const auto at = covered(w, plane, row, column);
    // Padding counts, but not what ceil_mode adds beyond it.
    double count = at.size();
    if (include_pad) {
      const int64_t top = row * stride[0] - w.padding[0], left = column * stride[1] - w.padding[1];
      count = static_cast<double>(std::min(top + w.kernel[0], plane[0] + w.padding[0]) - top) *
              (std::min(left + w.kernel[1], plane[1] + w.padding[1]) - left);
    }
    if (divisor) count = *divisor;
    for (const int64_t i : at) {
      wanted[o] += xv[start + i] / count;
      dx[start + i] += gv[o] / count;
    }
  }
  const double tolerance = dtype == kBFloat16 ? 3e-2 : 1e-5;
  require_close(y, wanted, tolerance);
  const Tensor grad = like(native::avg_pool2d_backward_meta(g, x, w.kernel, w.stride, w.padding,
                                                            w.ceil_mode, include_pad, divisor));
  native::avg_pool2d_backward_cpu(g, x, w.kernel, w.stride, w.padding, w.ceil_mode, include_pad,
                                  divisor, grad);
  require_close(grad, dx, tolerance);
}

}  // namespace

TEST_CASE("max_pool2d, its indices and its gradient") {
  for (const Window& w : kWindows) {
    for (const auto& sizes : {DimVector{2, 3, 9, 10}, DimVector{1, 2, 28, 28}, DimVector{3, 12, 37},
                              DimVector{1, 1, 7, 70}, DimVector{2, 37, 6, 7}}) {
      for (const ScalarType dtype : {kFloat, kDouble, kBFloat16, kLong}) {
        for (int layout = 0; layout < (sizes.size() == 4 ? 3 : 2); ++layout)
          check_max(w, sizes, dtype, layout);
      }
    }
  }
}

TEST_CASE("max_pool2d: NaN wins, -inf is a number") {
  const double nan = std::nan("");
  for (const ScalarType dtype : {kFloat, kDouble}) {
    Values v(2 * 32, 1);
    v[5] = nan;
    v[40] = 7;
    v[20] = v[21] = v[52] = v[53] = -INFINITY;
    const Tensor x = tensor_of({1, 2, 32}, dtype, v);
    const Tensor y = empty({1, 1, 16}, dtype, kCPU), indices = empty({1, 1, 16}, kLong, kCPU);
    native::max_pool2d_with_indices_cpu(x, 2, {}, 0, 1, false, y, indices);
    Values wanted(16, 1);
    wanted[2] = nan;
    wanted[4] = 7;
    wanted[10] = -INFINITY;
    require_close(y, wanted, 0);
    REQUIRE(values(indices)[2] == 5);
    REQUIRE(values(indices)[4] == 40);
    REQUIRE(values(indices)[10] == 20);
  }
}

TEST_CASE("max_pool2d of channels last: NaN wins, the first of equals") {
  Tensor x = channels_last(random_tensor({1, 21, 4, 4}));
  for (int64_t c = 0; c < 21; ++c) {
    float* plane = x.data_ptr<float>() + c;
    if (c % 3 == 0) plane[5 * 21] = NAN;
    if (c % 3 == 1) {
      for (int64_t i = 0; i < 16; ++i) plane[i * 21] = -INFINITY;
    }
    if (c % 3 == 2) plane[4 * 21] = plane[5 * 21] = 100;
  }
  const auto specs = native::max_pool2d_with_indices_meta(x, 2, {}, 0, 1, false);
  const Tensor y = like(specs[0]), indices = like(specs[1]);
  native::max_pool2d_with_indices_cpu(x, 2, {}, 0, 1, false, y, indices);
  const Values maxima = values(y), at = values(indices);
  for (int64_t c = 0; c < 21; ++c) {
    const double wanted = c % 3 == 0 ? NAN : c % 3 == 1 ? -INFINITY : 100;
    REQUIRE((std::isnan(wanted) ? std::isnan(maxima[c * 4]) : maxima[c * 4] == wanted));
    REQUIRE(at[c * 4] == (c % 3 == 0 ? 5 : c % 3 == 1 ? 0 : 4));
  }
}

TEST_CASE("avg_pool2d and its gradient") {
  for (const Window& w : kWindows) {
    if (w.dilation[0] != 1) continue;
    for (const auto& sizes :
         {DimVector{2, 3, 9, 10}, DimVector{3, 12, 17}, DimVector{2, 37, 6, 7}}) {
      for (const ScalarType dtype : {kFloat, kDouble, kBFloat16}) {
        for (int layout = 0; layout < (sizes.size() == 4 ? 3 : 2); ++layout) {
          check_average(w, sizes, dtype, true, {}, layout);
          check_average(w, sizes, dtype, false, {}, layout);
          check_average(w, sizes, dtype, false, 3, layout);
        }
      }
    }
  }
}

TEST_CASE("adaptive_avg_pool2d and its gradient") {
  for (const auto& out : {DimVector{1, 1}, DimVector{3, 4}, DimVector{9, 10}, DimVector{12, 5}}) {
    for (const ScalarType dtype : {kFloat, kDouble, kHalf}) {
      const Tensor x = random_tensor({2, 3, 9, 10}, dtype);
      const Tensor y = like(native::_adaptive_avg_pool2d_meta(x, out)),
                   g = random_tensor(y.sizes(), dtype);
      native::_adaptive_avg_pool2d_cpu(x, out, y);
      const Values xv = values(x), gv = values(g);
      Values wanted(y.numel(), 0), dx(x.numel(), 0);
      for (int64_t o = 0; o < y.numel(); ++o) {
        const int64_t row = o / out[1] % out[0], column = o % out[1],
                      start = o / (out[0] * out[1]) * 90;
        const int64_t h0 = row * 9 / out[0], h1 = (row * 9 + 9 + out[0] - 1) / out[0];
        const int64_t w0 = column * 10 / out[1], w1 = (column * 10 + 10 + out[1] - 1) / out[1];
        for (int64_t h = h0; h < h1; ++h) {
          for (int64_t w = w0; w < w1; ++w) {
            wanted[o] += xv[start + h * 10 + w] / double((h1 - h0) * (w1 - w0));
            dx[start + h * 10 + w] += gv[o] / double((h1 - h0) * (w1 - w0));
          }
        }
      }
      require_close(y, wanted, dtype == kHalf ? 5e-3 : 1e-5);
      const Tensor grad = like(native::_adaptive_avg_pool2d_backward_meta(g, x));
      native::_adaptive_avg_pool2d_backward_cpu(g, x, grad);
      require_close(grad, dx, dtype == kHalf ? 5e-3 : 1e-5);
    }
  }
}

TEST_CASE("pooling of an empty batch") {
  const Tensor x = empty({0, 3, 8, 8}, kFloat, kCPU), y = empty({0, 3, 4, 4}, kFloat, kCPU);
  const Tensor indices = empty({0, 3, 4, 4}, kLong, kCPU);
  REQUIRE(native::max_pool2d_with_indices_meta(x, 2, {}, 0, 1, false)[0].sizes ==
          DimVector{0, 3, 4, 4});
  native::max_pool2d_with_indices_cpu(x, 2, {}, 0, 1, false, y, indices);
  native::avg_pool2d_cpu(x, 2, {}, 0, false, true, {}, y);
}

TEST_CASE("pooling names what does not fit") {
  const Tensor x = random_tensor({1, 2, 4, 4});
  const auto meta = [&](const Tensor& t, IntArrayRef kernel, IntArrayRef stride,
                        IntArrayRef padding) {
    native::max_pool2d_with_indices_meta(t, kernel, stride, padding, 1, false);
  };
  require_error(
      [&] {
        meta(x, {1, 2, 3}, {}, 0);
      },
      "[max_pool2d] kernel_size must either be a single int, or a tuple of two ints");
  require_error([&] { meta(x, 2, 0, 0); }, "stride should not be zero");
  require_error([&] { meta(x, 2, 1, 2); }, "pad should be at most half of effective kernel size");
  // Beyond int64.
  constexpr int64_t kHuge = int64_t{1} << 62;
  require_error([&] { native::max_pool2d_with_indices_meta(x, 4, 1, 0, kHuge, false); },
                "is too large");
  require_error([&] { meta(x, kHuge, 1, 0); }, "Output size is too small");
  native::max_pool2d_with_indices_meta(x, 2, kHuge, 0, 1, true);
  require_error(
      [&] { meta(x, 5, 1, 0); },
      "Given input size: (2x4x4). Calculated output size: (2x0x0). Output size is too small");
  require_error(
      [&] {
        meta(random_tensor({4, 4}), 2, 1, 0);
      },
      "Expected 3D or 4D (batch mode) tensor");
  require_error([&] { native::avg_pool2d_meta(x, 2, {}, 0, false, true, 0); },
                "divisor must be not zero");
  const Tensor bad = tensor_of({1, 2, 1, 1}, kLong, {99, 0}), g = random_tensor({1, 2, 1, 1});
  require_error(
      [&] { native::max_pool2d_with_indices_backward_cpu(g, x, {}, {}, {}, {}, false, bad, x); },
      "index 99 is out of range");
}
