#include "tenon/native/_grid_sample.h"

#include "aten/meta/checks.h"
#include "aten/meta/grid_sampler.h"
#include "tenon/native/_grid_sample_backward.h"

namespace tenon {

void meta::check_grid_sampler(const TensorBase& input, const TensorBase& grid,
                              int64_t interpolation_mode, int64_t padding_mode, IntArrayRef order) {
  constexpr const char* kOp = "grid_sampler";
  TENON_CHECK(input.size(0) == grid.size(0), "[", kOp,
              "] expected grid and input to have same batch size, but got input with sizes ",
              input.sizes(), " and grid with sizes ", grid.sizes());
  TENON_CHECK(grid.size(-1) == input.dim() - 2, "[", kOp, "] expected grid to have size ",
              input.dim() - 2, " in last dimension, but got grid with sizes ", grid.sizes());
  for (int64_t d = 2; d < input.dim(); ++d) {
    TENON_CHECK(input.size(d) > 0, "[", kOp,
                "] expected input to have non-empty spatial dimensions, but input has sizes ",
                input.sizes(), " with dimension ", d, " being empty");
  }
  const auto dims = static_cast<int64_t>(order.size());
  TENON_CHECK((dims == 2 || dims == 3) && input.dim() == dims + 2 && grid.dim() == dims + 2, "[",
              kOp, "] expected ", dims + 2,
              "D input and grid with same number of dimensions, but got input with sizes ",
              input.sizes(), " and grid with sizes ", grid.sizes());
  for (const int64_t o : order) {
    TENON_CHECK(o >= 0, "[", kOp, "] expected orders of derivatives, got ", order);
  }
  TENON_CHECK(interpolation_mode >= 0 && interpolation_mode <= 2, "[", kOp,
              "] expected interpolation_mode 0, 1 or 2, got ", interpolation_mode);
  TENON_CHECK(padding_mode >= 0 && padding_mode <= 2, "[", kOp,
              "] expected padding_mode 0, 1 or 2, got ", padding_mode);
  check_same(kOp, "input", input, "grid", grid);
  TENON_CHECK_NOT_IMPLEMENTED(is_floating_point(input.scalar_type()), "[", kOp,
                              "] is not implemented for '", input.scalar_type(), "'");
}

DimVector meta::grid_sampler_sizes(const TensorBase& input, const TensorBase& grid) {
  DimVector sizes{input.size(0), input.size(1)};
  for (int64_t d = 1; d + 1 < grid.dim(); ++d) sizes.push_back(grid.size(d));
  return sizes;
}

TensorSpec native::_grid_sample_meta(const Tensor& input, const Tensor& grid,
                                     int64_t interpolation_mode, int64_t padding_mode, bool,
                                     IntArrayRef order) {
  meta::check_grid_sampler(input, grid, interpolation_mode, padding_mode, order);
  return TensorSpec(meta::grid_sampler_sizes(input, grid), input).kept_apart();
}

std::tuple<Tensor, Tensor>
native::_grid_sample_backward_meta(const Tensor&, const Tensor& input, const Tensor& grid,
                                   int64_t interpolation_mode, int64_t padding_mode, bool,
                                   IntArrayRef order, std::array<bool, 2> output_mask) {
  meta::check_grid_sampler(input, grid, interpolation_mode, padding_mode, order);
  std::tuple<Tensor, Tensor> grads;
  if (output_mask[0])
    std::get<0>(grads) = empty(input.sizes(), input.scalar_type(), input.device());
  if (output_mask[1]) std::get<1>(grads) = empty(grid.sizes(), grid.scalar_type(), grid.device());
  return grads;
}

}  // namespace tenon
