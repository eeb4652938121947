#include "tenon/native/_unique2.h"

#include <limits>

#include "tenon/native/unique_consecutive.h"
#include "tenon/native/unique_dim.h"
#include "tenon/ops/arange.h"
#include "tenon/ops/cat.h"
#include "tenon/ops/empty.h"
#include "tenon/ops/full.h"
#include "tenon/ops/nonzero.h"
#include "tenon/ops/ones.h"

namespace tenon {
namespace {

Tensor none(const Tensor& self) { return empty({0}, self.options().dtype(kLong)); }

/// Values, inverse and counts of slices along `dim`, which `sorted` has as rows, equal ones
/// together: row i is slice order[i], or without order slice i.
std::tuple<Tensor, Tensor, Tensor> distinct(const Tensor& self, int64_t dim, const Tensor& sorted,
                                            const std::optional<Tensor>& order, IntArrayRef shape,
                                            bool inverse, bool counts) {
  const int64_t n = sorted.size(0);
  Tensor changes = sorted.narrow(0, 1, n - 1) != sorted.narrow(0, 0, n - 1);
  if (sorted.dim() > 1) changes = changes.any(1);
  // Where each run of equal ones begins.
  const Tensor begins = cat({ones({1}, changes.options()), changes}, 0);
  const Tensor starts = nonzero(begins).squeeze(1);
  const int64_t count = starts.size(0);
  Tensor of_each = none(self), lengths = none(self);
  if (inverse) {
    const Tensor run = begins.cumsum(0) - 1;
    of_each = (order ? run.scatter(0, *order, run) : run).reshape(shape);
  }
  if (counts)
    lengths = cat({starts.narrow(0, 1, count - 1), full({1}, n, starts.options())}, 0) - starts;
  DimVector sizes(self.movedim(dim, 0).sizes());
  if (!sizes.empty()) sizes[0] = count;
  return {sorted.index_select(0, starts).reshape(sizes).movedim(0, dim), of_each, lengths};
}

/// Unsigned types of several bytes, which have no operators, as the signed ones of their bits.
Tensor with_operators(const Tensor& t) {
  switch (t.scalar_type()) {
  case kUInt16: return t.view(kShort);
  case kUInt32: return t.view(kInt);
  case kUInt64: return t.view(kLong);
  default: return t;
  }
}

/// Numbers that are in the order of self's, of which `bits` are the bits.
Tensor order_of(const Tensor& bits, ScalarType dtype) {
  switch (dtype) {
  case kUInt16: return bits.to(kLong).bitwise_and(0xffff);
  case kUInt32: return bits.to(kLong).bitwise_and(0xffffffff);
  case kUInt64: return bits.bitwise_xor(std::numeric_limits<int64_t>::min());
  default: return bits;
  }
}

using Found = std::tuple<Tensor, Tensor, Tensor>;
Found with_dtype(Found found, ScalarType dtype) {
  Tensor& values = std::get<0>(found);
  if (values.scalar_type() != dtype) values = values.view(dtype);
  return found;
}

/// Of no slices.
Found found_none(const Tensor& input, int64_t dim) {
  for (int64_t d = 0; d < input.dim(); ++d) {
    TENON_CHECK(
        d == dim || input.size(d) > 0,
        "[unique_dim] Number of zero sized dimensions is more than one, so unique cannot be "
        "applied to ",
        input.sizes());
  }
  return {input.clone(), none(input), none(input)};
}

int64_t dim_of_slices(const Tensor& self, int64_t dim) {
  TENON_CHECK_INDEX(self.dim() > 0, "Dimension specified as ", dim,
                    " but tensor has no dimensions");
  return wrap_dim(dim, self.dim());
}

/// The slices along dim, a row each.
Tensor rows_along(const char* op, const Tensor& self, int64_t dim) {
  TENON_CHECK(self.numel() > 0, "[", op, "] There are 0 elements in self of shape ", self.sizes(),
              ", so unique cannot be applied along dim ", dim);
  return self.movedim(dim, 0).reshape({self.size(dim), -1});
}

}  // namespace

/// The different elements in order, for each of self's which of them it is, and how often each is
/// there. Without return_inverse or return_counts, those results are empty. Always sorted.
std::tuple<Tensor, Tensor, Tensor> native::_unique2(const Tensor& input, bool, bool return_inverse,
                                                    bool return_counts) {
  const ScalarType dtype = input.scalar_type();
  const Tensor self = with_operators(input), flat = self.reshape({-1});
  if (flat.numel() == 0) {
    return {input.reshape({-1}).clone(),
            return_inverse ? empty(self.sizes(), none(self).options()) : none(self), none(self)};
  }
  const Tensor keys = order_of(flat, dtype);
  const auto [sorted_keys, order] = keys.sort(true, 0, false);
  const Tensor sorted = keys.is_same(flat) ? sorted_keys : flat.index_select(0, order);
  return with_dtype(distinct(flat, 0, sorted, order, self.sizes(), return_inverse, return_counts),
                    dtype);
}

/// The same of slices along dim, which are in lexicographical order: sorted by their last element,
/// then, stably, by the one before, and so on. As PyTorch's, it always gives inverse and counts.
std::tuple<Tensor, Tensor, Tensor> native::unique_dim(const Tensor& input, int64_t dim, bool, bool,
                                                      bool) {
  const ScalarType dtype = input.scalar_type();
  const Tensor self = with_operators(input);
  const int64_t d = dim_of_slices(self, dim);
  if (self.size(d) == 0) return found_none(input, d);
  const Tensor rows = rows_along("unique_dim", self, d);
  Tensor order = arange(rows.size(0), rows.options().dtype(kLong));
  for (int64_t i = rows.size(1) - 1; i >= 0; --i) {
    const Tensor column = order_of(rows.select(1, i), dtype).index_select(0, order);
    order = order.index_select(0, std::get<1>(column.sort(true, 0, false)));
  }
  return with_dtype(distinct(self, d, rows.index_select(0, order), order, rows.size(0),
                             /*inverse=*/true, /*counts=*/true),
                    dtype);
}

/// Only neighbours are compared: 1 1 2 1 gives 1 2 1. Of slices it always gives inverse and counts,
/// as PyTorch's.
std::tuple<Tensor, Tensor, Tensor> native::unique_consecutive(const Tensor& input,
                                                              bool return_inverse,
                                                              bool return_counts,
                                                              std::optional<int64_t> dim) {
  const ScalarType dtype = input.scalar_type();
  const Tensor self = with_operators(input);
  if (!dim || (*dim == 0 && self.dim() == 1)) {
    const Tensor flat = self.reshape({-1});
    if (flat.numel() == 0) {
      return {input.reshape({-1}).clone(),
              return_inverse ? empty(self.sizes(), none(self).options()) : none(self), none(self)};
    }
    return with_dtype(
        distinct(flat, 0, flat, std::nullopt, self.sizes(), return_inverse, return_counts), dtype);
  }
  const int64_t d = dim_of_slices(self, *dim);
  if (self.size(d) == 0) return found_none(input, d);
  const Tensor rows = rows_along("unique_consecutive", self, d);
  return with_dtype(distinct(self, d, rows, std::nullopt, rows.size(0), /*inverse=*/true,
                             /*counts=*/true),
                    dtype);
}

}  // namespace tenon
