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
  if (along.empty()) return {};
  TENON_CHECK(along.size() == 1, "[", op, "] ", name, " must be one number, got ", along);
  return {unit, along[0]};
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
  const auto [values, indices] = max_pool2d_with_indices(
      as_image(kOp, self), both(kOp, "kernel_size", kernel_size, 1), both(kOp, "stride", stride, 1),
      both(kOp, "padding", padding, 0), both(kOp, "dilation", dilation, 1), ceil_mode);
  return {values.squeeze(-2), indices.squeeze(-2)};
}

Tensor native::adaptive_avg_pool1d(const Tensor& self, IntArrayRef output_size) {
  constexpr const char* kOp = "adaptive_avg_pool1d";
  TENON_CHECK(output_size.size() == 1, "[", kOp, "] 'output_size' should contain one int, got ",
              output_size);
  return adaptive_avg_pool2d(as_image(kOp, self), both(kOp, "output_size", output_size, 1))
      .squeeze(-2);
}

}  // namespace tenon
