#include <cstdint>
#include <string_view>

#include "tenon/native/adaptive_avg_pool1d.h"
#include "tenon/native/avg_pool1d.h"
#include "tenon/native/max_pool1d_with_indices.h"
#include "tenon/ops/adaptive_avg_pool2d.h"
#include "tenon/ops/avg_pool2d.h"
#include "tenon/ops/max_pool2d_with_indices.h"

namespace tenon {
namespace {

/// [C, L] or [N, C, L] as an image of one row.
Tensor as_image(const char* op, const Tensor& self) {
  TENON_CHECK(self.dim() == 2 || self.dim() == 3, "[", op,
              "] Expected 2 or 3 dimensions for input tensor but received ", self.dim());
  return self.unsqueeze(-2);
}

/// The parameter of a window of two dimensions whose first is `unit`.
DimVector both(const char* op, const char* name, IntArrayRef along, int64_t unit) {
  if (along.empty() && std::string_view(name) == "stride") return {};
  TENON_CHECK(along.size() == 1, "[", op, "] ", name, " must be one number, got ", along);
  return {unit, along[0]};
}

/// What max_pool1d asks of its window, in numbers of the one dimension that it has.
void check_max_pool1d(const Tensor& self, int64_t kernel, int64_t stride, int64_t padding,
                      int64_t dilation, bool ceil_mode) {
  TENON_CHECK((self.dim() == 2 || (self.dim() == 3 && self.size(1) > 0)) && self.size(-1) > 0 &&
                  (self.dim() == 3 || self.size(0) > 0),
              "[max_pool1d] Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size "
              "for input, but got: ",
              self.sizes());
  TENON_CHECK(kernel > 0, "[max_pool1d] kernel_size must be greater than zero, but got ", kernel);
  TENON_CHECK(stride > 0, "[max_pool1d] stride must be greater than zero, but got ", stride);
  TENON_CHECK(dilation > 0, "[max_pool1d] dilation must be greater than zero, but got ", dilation);
  int64_t reach, padded;
  TENON_CHECK(!__builtin_mul_overflow(kernel - 1, dilation, &reach) && reach < INT64_MAX,
              "[max_pool1d] effective kernel size overflows: ", kernel, " elements, each ",
              dilation, " after the other");
  TENON_CHECK(padding >= 0, "[max_pool1d] pad must be non-negative, but got ", padding);
  TENON_CHECK(padding <= (reach + 1) / 2,
              "[max_pool1d] pad should be at most half of effective kernel size, but got pad=",
              padding, ", kernel_size=", kernel, " and dilation=", dilation);
  TENON_CHECK(!__builtin_mul_overflow(padding, 2, &padded) &&
                  !__builtin_add_overflow(self.size(-1), padded, &padded),
              "[max_pool1d] the padded size overflows, got pad=", padding);
  // Rounded down, or up as long as the last window starts inside.
  const int64_t span = padded - reach - 1, rest = span % stride;
  int64_t windows = span / stride + 1 - (rest < 0 ? 1 : 0);
  if (ceil_mode && rest != 0 && windows <= (self.size(-1) + padding - 1) / stride) ++windows;
  TENON_CHECK(windows > 0,
              "[max_pool1d] Output size is too small: Invalid computed output size: ", windows);
}

}  // namespace

Tensor native::avg_pool1d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                          IntArrayRef padding, bool ceil_mode, bool count_include_pad) {
  constexpr const char* kOp = "avg_pool1d";
  return avg_pool2d(as_image(kOp, self), both(kOp, "kernel_size", kernel_size, 1),
                    both(kOp, "stride", stride, 1), both(kOp, "padding", padding, 0), ceil_mode,
                    count_include_pad)
      .squeeze(-2);
}

std::tuple<Tensor, Tensor> native::max_pool1d_with_indices(const Tensor& self,
                                                           IntArrayRef kernel_size,
                                                           IntArrayRef stride, IntArrayRef padding,
                                                           IntArrayRef dilation, bool ceil_mode) {
  constexpr const char* kOp = "max_pool1d";
  const DimVector kernel = both(kOp, "kernel_size", kernel_size, 1),
                  step = both(kOp, "stride", stride.empty() ? kernel_size : stride, 1),
                  margin = both(kOp, "padding", padding, 0),
                  spread = both(kOp, "dilation", dilation, 1);
  check_max_pool1d(self, kernel[1], step[1], margin[1], spread[1], ceil_mode);
  const auto [values, indices] =
      max_pool2d_with_indices(self.unsqueeze(-2), kernel, step, margin, spread, ceil_mode);
  return {values.squeeze(-2), indices.squeeze(-2)};
}

Tensor native::adaptive_avg_pool1d(const Tensor& self, IntArrayRef output_size) {
  constexpr const char* kOp = "adaptive_avg_pool1d";
  TENON_CHECK(output_size.size() == 1, "[", kOp, "] 'output_size' should contain one int, got ",
              output_size);
  return tenon::adaptive_avg_pool2d(as_image(kOp, self), both(kOp, "output_size", output_size, 1))
      .squeeze(-2);
}

}  // namespace tenon
