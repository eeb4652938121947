#include "tenon/native/quantile.h"
#include "aten/batching/examples.h"

#include <cmath>

#include "tenon/native/_kth_place.h"
#include "tenon/native/median.h"
#include "tenon/native/nanmedian.h"
#include "tenon/native/nanquantile.h"
#include "tenon/ops/_kth_place.h"
#include "tenon/ops/full.h"
#include "tenon/ops/isnan.h"
#include "tenon/ops/lerp.h"
#include "tenon/ops/to.h"
#include "tenon/ops/where.h"

namespace tenon {
namespace {

/// What a NaN among the elements does: it is the result, or it does not count.
enum class NanPolicy { kPropagate, kIgnore };

/// The middle element; of two, the lower one. Sorting puts NaNs last.
std::tuple<Tensor, Tensor> median_of(const char* op, const Tensor& self, int64_t dim, bool keepdim,
                                     NanPolicy nan_policy) {
  const int64_t d = wrap_dim(dim, self.dim());
  const Tensor x = self.dim() == 0 ? self.reshape({1}) : self;
  const int64_t n = x.size(d);
  TENON_CHECK_INDEX(n > 0, "[", op, "] Expected reduction dim ", d, " to have non-zero size, got ",
                    self.sizes());
  const auto [values, indices] = x.sort(true, d, false);
  const Tensor numbers = n - isnan(x.detach()).sum(d, true);
  Tensor place =
      (nan_policy == NanPolicy::kIgnore ? (numbers - 1).clamp_min(0) : numbers - 1).floor_divide(2);
  if (nan_policy == NanPolicy::kPropagate) place = where(numbers < n, numbers, place);
  Tensor value = values.gather(d, place), index = indices.gather(d, place);
  if (self.dim() == 0) return {value.reshape({}), index.reshape({})};
  if (!keepdim) return {value.squeeze(d), index.squeeze(d)};
  return {value, index};
}

Tensor median_of_all(const char* op, const Tensor& self, NanPolicy nan_policy) {
  if (self.numel() == 0) {
    return full({}, std::nan(""), self.options().dtype(kFloat)).to(self.scalar_type());
  }
  return std::get<0>(median_of(op, self.reshape({-1}), 0, /*keepdim=*/false, nan_policy));
}

/// The element of rank q (n - 1) of n sorted ones, between two as `interpolation` says. [Q, ...].
Tensor quantile_of(const char* op, const Tensor& self, const Tensor& q, std::optional<int64_t> dim,
                   bool keepdim, std::string_view interpolation, NanPolicy nan_policy) {
  TENON_CHECK(self.numel() > 0, "[", op, "] input tensor must be non-empty");
  TENON_CHECK(q.dim() <= 1, "[", op, "] q must be a scalar or 1D tensor, got shape ", q.sizes());
  TENON_CHECK(self.scalar_type() == kFloat || self.scalar_type() == kDouble, "[", op,
              "] input tensor must be either float or double dtype, got ", self.scalar_type());
  TENON_CHECK(self.scalar_type() == q.scalar_type(), "[", op,
              "] q tensor must be same dtype as the input tensor, got ", q.scalar_type(), " and ",
              self.scalar_type());
  TENON_CHECK(self.device() == q.device(), "[", op,
              "] q tensor must be on the same device as the input tensor, got ", q.device(),
              " and ", self.device());
  const bool linear = interpolation == "linear", midpoint = interpolation == "midpoint";
  TENON_CHECK(linear || midpoint || interpolation == "lower" || interpolation == "higher" ||
                  interpolation == "nearest",
              "[", op,
              "] interpolation must be one of linear, lower, higher, midpoint or nearest, "
              "but got ",
              interpolation);
  if (dim) wrap_dim(*dim, self.dim());
  if (q.is_cpu()) {
    TENON_CHECK(batching::all_of_examples((q >= 0) * (q <= 1)), "[", op,
                "] q values must be in the range [0, 1]");
  }
  const bool flat = !dim || self.dim() == 0;
  const int64_t d = dim ? wrap_dim(*dim, self.dim()) : 0;
  const Tensor rows = flat ? self.reshape({-1}) : self.movedim(d, -1);
  const Tensor sorted = std::get<0>(rows.sort(-1, false)), nans = isnan(rows.detach());
  const int64_t last = rows.size(-1) - 1;
  const Tensor orders = q.reshape({-1});
  Tensor rank;
  if (nan_policy == NanPolicy::kIgnore) {
    rank = (orders * (last - nans.sum(-1, true))).clamp_min(0);
  } else {
    rank = (orders * last).masked_fill(nans.any(-1, true), last);
  }
  if (interpolation == "lower") rank = rank.floor();
  if (interpolation == "higher") rank = rank.ceil();
  if (interpolation == "nearest") rank = rank.round();
  const Tensor below = rank.floor();
  Tensor out = sorted.gather(-1, below.to(kLong));
  if (linear || midpoint) {
    const Tensor above = sorted.gather(-1, rank.ceil().to(kLong));
    const Tensor weight = midpoint ? full(rank.sizes(), 0.5, rank.options()) : rank - below;
    out = lerp(out, above, weight);
  }
  if (keepdim && flat) {
    DimVector sizes(static_cast<size_t>(self.dim()), 1);
    sizes.push_back(orders.numel());
    out = out.reshape(sizes);
  } else if (keepdim) {
    out = out.unsqueeze(d);
  }
  return q.dim() == 0 ? out.squeeze(-1) : out.movedim(-1, 0);
}

Tensor order(const char* op, const Tensor& self, double q) {
  TENON_CHECK(q >= 0 && q <= 1, "[", op, "] q must be in the range [0, 1] but got ", q);
  return full({}, q, self.options());
}

}  // namespace

Tensor native::median(const Tensor& self) {
  return median_of_all("median", self, NanPolicy::kPropagate);
}

std::tuple<Tensor, Tensor> native::median_dim(const Tensor& self, int64_t dim, bool keepdim) {
  return median_of("median", self, dim, keepdim, NanPolicy::kPropagate);
}

Tensor native::nanmedian(const Tensor& self) {
  return median_of_all("nanmedian", self, NanPolicy::kIgnore);
}

std::tuple<Tensor, Tensor> native::nanmedian_dim(const Tensor& self, int64_t dim, bool keepdim) {
  return median_of("nanmedian", self, dim, keepdim, NanPolicy::kIgnore);
}

/// Where the k-th smallest element of each row along dim stands, k counted from 0; [..., 1, ...].
Tensor native::_kth_place(const Tensor& self, int64_t k, int64_t dim) {
  return std::get<1>(self.sort(true, dim, false)).narrow(dim, k, 1).contiguous();
}

Tensor native::quantile(const Tensor& self, const Tensor& q, std::optional<int64_t> dim,
                        bool keepdim, std::string_view interpolation) {
  return quantile_of("quantile", self, q, dim, keepdim, interpolation, NanPolicy::kPropagate);
}

Tensor native::quantile_scalar(const Tensor& self, double q, std::optional<int64_t> dim,
                               bool keepdim, std::string_view interpolation) {
  return quantile_of("quantile", self, order("quantile", self, q), dim, keepdim, interpolation,
                     NanPolicy::kPropagate);
}

Tensor native::nanquantile(const Tensor& self, const Tensor& q, std::optional<int64_t> dim,
                           bool keepdim, std::string_view interpolation) {
  return quantile_of("nanquantile", self, q, dim, keepdim, interpolation, NanPolicy::kIgnore);
}

Tensor native::nanquantile_scalar(const Tensor& self, double q, std::optional<int64_t> dim,
                                  bool keepdim, std::string_view interpolation) {
  return quantile_of("nanquantile", self, order("nanquantile", self, q), dim, keepdim,
                     interpolation, NanPolicy::kIgnore);
}

}  // namespace tenon
