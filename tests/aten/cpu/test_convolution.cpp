#include <string>

#include "tenon/native/convolution.h"
#include "tenon/native/convolution_backward.h"
#include "tests/aten/cpu/reference.h"

using namespace tenon;
using namespace tenon::test;

namespace {

struct Case {
  DimVector input, weight, stride, padding, dilation, output_padding;
  bool transposed;
  int64_t groups;
};

const Case kCases[] = {
    {{2, 3, 8, 9}, {4, 3, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, false, 1},
    {{2, 6, 14, 14}, {16, 6, 5, 5}, {1, 1}, {0, 0}, {1, 1}, {0, 0}, false, 1},
    {{1, 16, 7, 5}, {32, 16, 1, 1}, {1, 1}, {0, 0}, {1, 1}, {0, 0}, false, 1},
    {{3, 4, 9, 7}, {6, 2, 3, 2}, {2, 3}, {1, 0}, {2, 1}, {0, 0}, false, 2},
    {{2, 8, 6, 6}, {8, 1, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, false, 8},
    {{2, 5, 9, 21}, {5, 1, 3, 4}, {1, 1}, {2, 1}, {1, 1}, {0, 0}, false, 5},
    {{1, 3, 6, 37}, {3, 1, 5, 5}, {1, 1}, {4, 0}, {1, 1}, {0, 0}, false, 3},
    {{2, 4, 5, 6}, {4, 1, 3, 3}, {1, 1}, {1, 0}, {1, 1}, {0, 0}, true, 4},
    {{2, 3, 11, 10}, {5, 3, 4, 3}, {3, 2}, {2, 1}, {1, 2}, {0, 0}, false, 1},
    {{2, 5, 17}, {7, 5, 4}, {2}, {3}, {1}, {0}, false, 1},
    {{1, 2, 4, 5, 6}, {3, 2, 2, 3, 2}, {1, 2, 1}, {1, 1, 0}, {1, 1, 2}, {0, 0, 0}, false, 1},
    {{2, 3, 5, 4}, {3, 4, 3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 0}, true, 1},
    {{2, 4, 5, 4}, {4, 3, 2, 3}, {1, 3}, {0, 1}, {2, 1}, {0, 2}, true, 2},
    {{2, 3, 6}, {3, 2, 4}, {3}, {1}, {1}, {2}, true, 1},
    {{2, 5, 12, 13}, {7, 5, 1, 1}, {1, 1}, {0, 0}, {1, 1}, {0, 0}, false, 1},  // an image's product
    {{0, 3, 8, 9}, {4, 3, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, false, 1},
};

/// Calls f(index into input, into weight, into output) for every product of the convolution: all
/// positions as PyTorch's definition has them, without any rearrangement.
template <class F>
void for_each_product(const Case& c, IntArrayRef out, F&& f) {
  const int64_t dims = c.weight.size() - 2;
  const auto at = [](const DimVector& v, int64_t i, int64_t n, int64_t none) {
    return i < 3 - n ? none : v[v.size() - 3 + i];
  };
  int64_t in[3], kernel[3], result[3], stride[3], padding[3], dilation[3];
  for (int64_t i = 0; i < 3; ++i) {
    in[i] = at(c.input, i, dims, 1);
    kernel[i] = at(c.weight, i, dims, 1);
    result[i] = at(DimVector(out), i, dims, 1);
    stride[i] = i < 3 - dims ? 1 : c.stride[i - 3 + dims];
    padding[i] = i < 3 - dims ? 0 : c.padding[i - 3 + dims];
    dilation[i] = i < 3 - dims ? 1 : c.dilation[i - 3 + dims];
  }
  // The side with the larger stepping: the input of a convolution, the output of a transposed one.
  const int64_t* fine = c.transposed ? result : in;
  const int64_t* coarse = c.transposed ? in : result;
  const int64_t in_group = c.input[1] / c.groups, out_group = out[1] / c.groups;
  for (int64_t n = 0; n < c.input[0]; ++n) {
    for (int64_t o = 0; o < out[1]; ++o) {
      for (int64_t i = 0; i < in_group; ++i) {
        const int64_t ci = o / out_group * in_group + i;
        for (int64_t k = 0; k < kernel[0] * kernel[1] * kernel[2]; ++k) {
          const int64_t ks[3] = {k / kernel[2] / kernel[1], k / kernel[2] % kernel[1],
                                 k % kernel[2]};
          for (int64_t p = 0; p < coarse[0] * coarse[1] * coarse[2]; ++p) {
            const int64_t ps[3] = {p / coarse[2] / coarse[1], p / coarse[2] % coarse[1],
                                   p % coarse[2]};
            int64_t q = 0;
            bool inside = true;
            for (int d = 0; d < 3; ++d) {
              const int64_t x = ps[d] * stride[d] - padding[d] + ks[d] * dilation[d];
              inside = inside && x >= 0 && x < fine[d];
              q = q * fine[d] + x;
            }
            if (!inside) continue;
            const int64_t taps = kernel[0] * kernel[1] * kernel[2];
            const int64_t w = c.transposed ? (ci * out_group + o % out_group) * taps + k
                                           : (o * in_group + i) * taps + k;
            const int64_t ins = in[0] * in[1] * in[2], outs = result[0] * result[1] * result[2];
            f((n * c.input[1] + ci) * ins + (c.transposed ? p : q), w,
              (n * out[1] + o) * outs + (c.transposed ? q : p));
          }
        }
      }
    }
  }
}

double tolerance_of(ScalarType t) {
  return t == kBFloat16 ? 6e-2 : t == kHalf ? 8e-3 : t == kFloat ? 2e-5 : 1e-12;
}

void check(const Case& c, ScalarType dtype, int layout) {
  INFO("input " << c.input << " weight " << c.weight << " stride " << c.stride << " transposed "
                << c.transposed << " groups " << c.groups << " " << dtype << " layout " << layout);
  Tensor input = layout == 1 ? random_strided(c.input, dtype) : random_tensor(c.input, dtype);
  if (layout == 2 || layout == 3) input = channels_last(input);
  const Tensor weight =
      layout == 1 ? random_strided(c.weight, dtype) : random_tensor(c.weight, dtype);
  const int64_t outputs = c.transposed ? c.weight[1] * c.groups : c.weight[0];
  const Tensor bias = random_tensor(outputs, dtype);
  const TensorSpec spec =
      native::convolution_meta(input, weight, bias, c.stride, c.padding, c.dilation, c.transposed,
                               c.output_padding, c.groups);
  const Tensor out = empty_strided(
      spec.sizes, spec.strides.empty() ? contiguous_strides(spec.sizes) : spec.strides, spec.dtype,
      kCPU);
  if ((layout == 2 || layout == 3) && out.numel() > 0)
    REQUIRE(out.is_contiguous(MemoryFormat::ChannelsLast));

  const Values x = values(input), w = values(weight), b = values(bias);
  const int64_t inner = out.numel() == 0 ? 1 : out.numel() / out.size(0) / outputs;
  Values wanted(out.numel());
  for (size_t i = 0; i < wanted.size(); ++i) wanted[i] = b[i / inner % outputs];
  for_each_product(c, out.sizes(),
                   [&](int64_t i, int64_t k, int64_t o) { wanted[o] += x[i] * w[k]; });
  native::convolution_cpu(input, weight, bias, c.stride, c.padding, c.dilation, c.transposed,
                          c.output_padding, c.groups, out);
  const double tolerance = tolerance_of(dtype) * std::sqrt(double(weight.numel()) / outputs + 1);
  require_close(out, wanted, tolerance);

  for (size_t i = 0; i < wanted.size(); ++i) wanted[i] -= b[i / inner % outputs];
  native::convolution_cpu(input, weight, std::nullopt, c.stride, c.padding, c.dilation,
                          c.transposed, c.output_padding, c.groups, out);
  require_close(out, wanted, tolerance);

  Tensor grad =
      layout == 1 ? random_strided(out.sizes(), dtype) : random_tensor(out.sizes(), dtype);
  if (layout == 2 || layout == 4) grad = channels_last(grad);
  const Values g = values(grad);
  Values dx(x.size(), 0), dw(w.size(), 0), db(outputs, 0);
  for_each_product(c, out.sizes(), [&](int64_t i, int64_t k, int64_t o) {
    dx[i] += w[k] * g[o];
    dw[k] += x[i] * g[o];
  });
  for (size_t i = 0; i < g.size(); ++i) db[i / inner % outputs] += g[i];
  for (int mask = 0; mask < 8; ++mask) {
    const auto [gx, gw, gb] = native::convolution_backward_cpu(
        grad, input, weight, {}, c.stride, c.padding, c.dilation, c.transposed, c.output_padding,
        c.groups, {bool(mask & 1), bool(mask & 2), bool(mask & 4)});
    REQUIRE(gx.defined() == bool(mask & 1));
    REQUIRE(gw.defined() == bool(mask & 2));
    REQUIRE(gb.defined() == bool(mask & 4));
    const double scale = std::sqrt(double(grad.numel()) / outputs + 1);
    if (gx.defined()) require_close(gx, dx, tolerance_of(dtype) * std::sqrt(double(outputs * 30)));
    if (gw.defined()) require_close(gw, dw, tolerance_of(dtype) * scale);
    if (gb.defined()) require_close(gb, db, tolerance_of(dtype) * scale);
  }
}

}  // namespace

TEST_CASE("convolution and its gradients") {
  for (const Case& c : kCases) {
    for (const ScalarType dtype : {kFloat, kDouble, kBFloat16, kHalf}) {
      for (int layout = 0; layout < (c.input.size() == 4 ? 5 : 2); ++layout)
        check(c, dtype, layout);
    }
  }
}

TEST_CASE("convolution with a changed weight does not use an old one") {
  const Tensor x = random_tensor({1, 8, 6, 6}), w = random_tensor({16, 8, 1, 1});
  const Tensor out = empty({1, 16, 6, 6}, kFloat, kCPU);
  for (int i = 0; i < 3; ++i) {
    randomize(w);
    native::convolution_cpu(x, w, {}, {1, 1}, {0, 0}, {1, 1}, false, {0, 0}, 1, out);
    const Values xv = values(x), wv = values(w);
    Values wanted(16 * 36, 0);
    for (int o = 0; o < 16; ++o) {
      for (int c = 0; c < 8; ++c) {
        for (int p = 0; p < 36; ++p) wanted[o * 36 + p] += wv[o * 8 + c] * xv[c * 36 + p];
      }
    }
    require_close(out, wanted);
  }
}

TEST_CASE("convolution writes any layout of out") {
  const Tensor x = random_tensor({2, 3, 5, 5}), w = random_tensor({4, 3, 3, 3});
  const Tensor plain = empty({2, 4, 3, 3}, kFloat, kCPU), strided = random_strided({2, 4, 3, 3});
  native::convolution_cpu(x, w, {}, {1, 1}, {0, 0}, {1, 1}, false, {0, 0}, 1, plain);
  native::convolution_cpu(x, w, {}, {1, 1}, {0, 0}, {1, 1}, false, {0, 0}, 1, strided);
  require_close(strided, values(plain));
}

TEST_CASE("convolution names what does not fit") {
  const auto meta = [](IntArrayRef input, IntArrayRef weight, IntArrayRef bias, IntArrayRef stride,
                       IntArrayRef padding, IntArrayRef dilation, bool transposed, int64_t groups) {
    native::convolution_meta(random_tensor(input), random_tensor(weight), random_tensor(bias),
                             stride, padding, dilation, transposed, {0, 0}, groups);
  };
  require_error(
      [&] {
        meta({1, 3, 8, 8}, {6, 1, 5, 5}, 6, {1, 1}, {0, 0}, {1, 1}, false, 1);
      },
      "[convolution] Given groups=1, weight of size [6, 1, 5, 5], expected input[1, 3, 8, 8] to "
      "have 1 "
      "channels, but got 3 channels instead");
  require_error(
      [&] {
        meta({1, 3, 2, 2}, {6, 3, 3, 3}, 6, {1, 1}, {0, 0}, {1, 1}, false, 1);
      },
      "Calculated padded input size per channel: (2 x 2). Kernel size: (3 x 3). Kernel size can't "
      "be "
      "greater than actual input size");
  require_error(
      [&] {
        meta({1, 3, 8, 8}, {6, 3, 3, 3}, 5, {1, 1}, {0, 0}, {1, 1}, false, 1);
      },
      "expected bias to be 1-dimensional with 6 elements, but got bias of size [5] instead");
  require_error(
      [&] {
        meta({1, 3, 8, 8}, {6, 3, 3, 3}, 6, {0, 1}, {0, 0}, {1, 1}, false, 1);
      },
      "non-positive stride is not supported");
  constexpr int64_t kHuge = int64_t{1} << 62;
  for (const bool transposed : {false, true}) {
    const int64_t channels = transposed ? 6 : 3;
    require_error(
        [&] {
          meta({1, channels, 8, 8}, {6, 3, 3, 3}, transposed ? 3 : 6, {1, 1}, {0, kHuge}, {1, 1},
               transposed, 1);
        },
        "[convolution] kernel_size, stride, padding or dilation is too large");
    require_error(
        [&] {
          meta({1, channels, 8, 8}, {6, 3, 3, 3}, transposed ? 3 : 6, {1, 1}, {0, 0}, {kHuge, 1},
               transposed, 1);
        },
        "is too large");
  }
  require_error(
      [&] {
        meta({1, 6, 8, 8}, {6, 3, 3, 3}, 3, {kHuge, 1}, {0, 0}, {1, 1}, true, 1);
      },
      "is too large");
  require_error(
      [&] {
        meta({1, 3, 8, 8}, {6, 3, 3, 3}, 6, {1, 1}, {-1, 0}, {1, 1}, false, 1);
      },
      "negative padding is not supported");
  require_error(
      [&] {
        meta({1, 3, 8, 8}, {6, 3, 3, 3}, 6, {1}, {0, 0}, {1, 1}, false, 1);
      },
      "expected stride to be a single integer value or a list of 2 values");
  require_error(
      [&] {
        meta({1, 4, 8, 8}, {6, 1, 3, 3}, 6, {1, 1}, {0, 0}, {1, 1}, false, 4);
      },
      "expected weight to be divisible by 4 at dimension 0");
  require_error(
      [&] {
        meta({3, 8, 8}, {6, 3, 3, 3}, 6, {1, 1}, {0, 0}, {1, 1}, false, 1);
      },
      "Expected 4-dimensional input for 4-dimensional weight [6, 3, 3, 3], but got 3-dimensional "
      "input");
  require_error(
      [&] {
        meta({1, 2, 8, 8}, {3, 3, 3, 3}, 3, {1, 1}, {0, 0}, {1, 1}, true, 1);
      },
      "Given transposed=1");
}
