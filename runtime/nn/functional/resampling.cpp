#include "aten/dispatch/warning.h"
#include "runtime/nn/functional/helpers.h"
#include "tenon/ops/_upsample_bicubic2d_aa.h"
#include "tenon/ops/_upsample_bilinear2d_aa.h"
#include "tenon/ops/_upsample_nearest_exact1d.h"
#include "tenon/ops/_upsample_nearest_exact2d.h"
#include "tenon/ops/_upsample_nearest_exact3d.h"
#include "tenon/ops/adaptive_avg_pool1d.h"
#include "tenon/ops/adaptive_avg_pool2d.h"
#include "tenon/ops/adaptive_avg_pool3d.h"
#include "tenon/ops/grid_sampler.h"
#include "tenon/ops/pad.h"
#include "tenon/ops/upsample_bicubic2d.h"
#include "tenon/ops/upsample_bilinear2d.h"
#include "tenon/ops/upsample_linear1d.h"
#include "tenon/ops/upsample_nearest1d.h"
#include "tenon/ops/upsample_nearest2d.h"
#include "tenon/ops/upsample_nearest3d.h"
#include "tenon/ops/upsample_trilinear3d.h"

namespace tenon::nn::functional::detail {
namespace {

using Mode = InterpolateFuncOptions::mode_t;

template <class Word>
bool is(const Mode& mode) {
  return std::holds_alternative<Word>(mode);
}

/// The size of the result and, of each dimension, the scale to compute places by, if there is one.
struct Resized {
  std::vector<int64_t> size;
  std::vector<std::optional<double>> scales;
};

Resized resized(const Tensor& input, const std::optional<std::vector<int64_t>>& size,
                const std::optional<std::vector<double>>& scale_factor, bool recompute) {
  const size_t dims = size_t(input.dim() - 2);
  TENON_CHECK_VALUE(!size || !scale_factor, "only one of size or scale_factor should be defined");
  TENON_CHECK_VALUE(size || scale_factor, "either size or scale_factor should be defined");
  Resized result{{}, std::vector<std::optional<double>>(dims)};
  if (size) {
    TENON_CHECK_VALUE(size->size() == dims || size->size() == 1,
                      "size must match input spatial dimensions: expected ", dims, " numbers, got ",
                      IntArrayRef(*size));
    result.size = size->size() == dims ? *size : std::vector<int64_t>(dims, (*size)[0]);
    return result;
  }
  TENON_CHECK_VALUE(scale_factor->size() == dims || scale_factor->size() == 1,
                    "scale_factor shape must match input shape: expected ", dims, " numbers, got ",
                    scale_factor->size());
  for (size_t i = 0; i < dims; ++i) {
    const double scale = (*scale_factor)[scale_factor->size() == 1 ? 0 : i];
    result.size.push_back(int64_t(double(input.size(int64_t(i) + 2)) * scale));
    if (!recompute) result.scales[i] = scale;
  }
  return result;
}

Tensor nearest(const Tensor& x, const Resized& r, bool exact) {
  const auto& s = r.scales;
  if (x.dim() == 3)
    return exact ? _upsample_nearest_exact1d(x, r.size, s[0]) : upsample_nearest1d(x, r.size, s[0]);
  if (x.dim() == 4)
    return exact ? _upsample_nearest_exact2d(x, r.size, s[0], s[1])
                 : upsample_nearest2d(x, r.size, s[0], s[1]);
  return exact ? _upsample_nearest_exact3d(x, r.size, s[0], s[1], s[2])
               : upsample_nearest3d(x, r.size, s[0], s[1], s[2]);
}

Tensor mean_of_boxes(const Tensor& x, const Resized& r) {
  if (x.dim() == 3) return tenon::adaptive_avg_pool1d(x, r.size);
  if (x.dim() == 4) return tenon::adaptive_avg_pool2d(x, r.size);
  return tenon::adaptive_avg_pool3d(x, r.size);
}

}  // namespace

Tensor interpolate(const Tensor& input, const std::optional<std::vector<int64_t>>& size,
                   const std::optional<std::vector<double>>& scale_factor, const Mode& mode,
                   const std::optional<bool>& align_corners,
                   const std::optional<bool>& recompute_scale_factor, bool antialias) {
  const bool area = is<enumtype::kArea>(mode), exact = is<enumtype::kNearestExact>(mode);
  const bool corners = align_corners.value_or(false);
  const bool plain = area || exact || is<enumtype::kNearest>(mode);
  TENON_CHECK_VALUE(!plain || !align_corners, "align_corners option can only be set with the ",
                    "interpolating modes: linear | bilinear | bicubic | trilinear");
  TENON_CHECK_VALUE(!size || !recompute_scale_factor.value_or(false),
                    "recompute_scale_factor is not meaningful with an explicit size.");
  const int64_t dims = input.dim();
  const int64_t wanted = is<enumtype::kLinear>(mode)                                     ? 3
                         : is<enumtype::kBilinear>(mode) || is<enumtype::kBicubic>(mode) ? 4
                         : is<enumtype::kTrilinear>(mode)                                ? 5
                                                                                         : dims;
  TENON_CHECK_NOT_IMPLEMENTED(
      dims >= 3 && dims <= 5, "Input Error: Only 3D, 4D and 5D input Tensors supported (got ", dims,
      "D) for the modes: nearest | linear | bilinear | bicubic | trilinear (got ", enum_text(mode),
      ")");
  TENON_CHECK_NOT_IMPLEMENTED(dims == wanted, "Got ", dims, "D input, but ", enum_text(mode),
                              " mode needs ", wanted, "D input");
  const Resized r =
      resized(input, size, scale_factor, recompute_scale_factor.value_or(false) || area);
  TENON_CHECK_VALUE(
      !antialias || (dims == 4 && (is<enumtype::kBilinear>(mode) || is<enumtype::kBicubic>(mode))),
      "Anti-alias option is restricted to bilinear and bicubic modes and requires a 4-D tensor as "
      "input");
  if (area) return mean_of_boxes(input, r);
  if (plain) return nearest(input, r, exact);
  const auto& s = r.scales;
  if (dims == 3) return tenon::upsample_linear1d(input, r.size, corners, s[0]);
  if (dims == 5) return tenon::upsample_trilinear3d(input, r.size, corners, s[0], s[1], s[2]);
  if (is<enumtype::kBilinear>(mode)) {
    return antialias ? tenon::_upsample_bilinear2d_aa(input, r.size, corners, s[0], s[1])
                     : tenon::upsample_bilinear2d(input, r.size, corners, s[0], s[1]);
  }
  return antialias ? tenon::_upsample_bicubic2d_aa(input, r.size, corners, s[0], s[1])
                   : tenon::upsample_bicubic2d(input, r.size, corners, s[0], s[1]);
}

Tensor grid_sample(const Tensor& input, const Tensor& grid,
                   const GridSampleFuncOptions::mode_t& mode,
                   const GridSampleFuncOptions::padding_mode_t& padding_mode,
                   const std::optional<bool>& align_corners) {
  if (!align_corners) {
    TENON_WARN(
        "Default grid_sample and affine_grid behavior has changed to align_corners=False since ",
        "1.3.0. Please specify align_corners=True if the old behavior is desired. See the ",
        "documentation of grid_sample for details.");
  }
  return tenon::grid_sampler(input, grid, int64_t(mode.index()), int64_t(padding_mode.index()),
                             align_corners.value_or(false));
}

Tensor pad(const Tensor& input, const std::vector<int64_t>& pad, const PadFuncOptions::mode_t& mode,
           double value) {
  const bool constant = std::holds_alternative<enumtype::kConstant>(mode);
  return tenon::pad(input, pad, enum_text(mode), constant ? std::optional(value) : std::nullopt);
}

}  // namespace tenon::nn::functional::detail
