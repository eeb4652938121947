#include "tenon/native/searchsorted.h"

#include <algorithm>
#include <bit>

#include "aten/core/parallel.h"
#include "tenon/native/bucketize.h"
#include "tenon/native/isin.h"
#include "tenon/ops/empty.h"
#include "tenon/ops/full.h"
#include "tenon/ops/logical_and.h"
#include "tenon/ops/logical_not.h"
#include "tenon/ops/searchsorted.h"
#include "tenon/ops/to.h"
#include "tenon/ops/where.h"
#include "tenon/ops/zeros.h"

namespace tenon {
namespace {

struct SearchOptions {
  bool right = false;      ///< the place after equal values, not before them
  bool nans_last = false;  ///< a NaN is greater than all numbers
};

/// The same by a loop over the values in row-major order.
Tensor search_cpu(const Tensor& sorted, const Tensor& values, SearchOptions options) {
  const bool right = options.right, nans_last = options.nans_last;
  const Tensor rows = sorted.contiguous(), wanted = values.contiguous();
  const Tensor places(empty(values.sizes(), kLong, kCPU));
  const int64_t n = sorted.size(-1);
  const int64_t in_row = sorted.dim() == 1 ? std::max<int64_t>(values.numel(), 1) : values.size(-1);
  auto* to = places.mutable_data_ptr<int64_t>();
  TENON_DISPATCH_REAL(values.scalar_type(), "searchsorted", {
    const auto* all = static_cast<const scalar_t*>(rows.const_data_ptr());
    const auto* value = static_cast<const scalar_t*>(wanted.const_data_ptr());
    parallel_for(0, values.numel(), 2048, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const scalar_t* row = all + i / in_row * n;
        int64_t low = 0, high = n;
        while (low < high) {
          const int64_t middle = low + (high - low) / 2;
          const scalar_t found = row[middle];
          const bool after = !(right ? found > value[i] : found >= value[i]);
          const bool go_on = after && !(nans_last && found != found);
          low = go_on ? middle + 1 : low;
          high = go_on ? high : middle;
        }
        to[i] = low;
      }
    });
  });
  return places;
}

/// Where `values` would be put into the sorted rows, before or, with right, after equal ones: a
/// binary search of all at once. `sorted` is a vector, or has values' sizes but the last.
Tensor search(const Tensor& sorted, const Tensor& values, SearchOptions options) {
  if (values.is_cpu()) return search_cpu(sorted, values, options);
  const bool right = options.right, nans_last = options.nans_last;
  const int64_t n = sorted.size(-1);
  const TensorOptions places = values.options().dtype(kLong);
  Tensor low = zeros(values.sizes(), places), high = full(values.sizes(), n, places);
  for (int step = std::bit_width(static_cast<uint64_t>(n)); step > 0; --step) {
    const Tensor middle = (low + high).floor_divide(2), at = middle.clamp_max(n - 1);
    const Tensor found = sorted.dim() == 1
                             ? sorted.index_select(0, at.reshape({-1})).reshape(values.sizes())
                             : sorted.gather(-1, at);
    // As PyTorch has it: to the right of a NaN, with which nothing compares, unless NaNs are last.
    Tensor after = logical_not(right ? found > values : found >= values);
    if (nans_last) after = logical_and(after, found == found);
    const Tensor open = low < high;
    low = where(logical_and(open, after), middle + 1, low);
    high = where(logical_and(open, logical_not(after)), middle, high);
  }
  return low;
}

bool to_the_right(bool right, std::optional<std::string_view> side) {
  TENON_CHECK(!side || *side == "left" || *side == "right",
              "[searchsorted] side can only be 'left' or 'right' but got ", *side);
  TENON_CHECK(!side || *side == "right" || !right,
              "[searchsorted] side and right can't be set to opposites, got side of ", *side,
              " while right was True");
  return side ? *side == "right" : right;
}

void check_searchable(ScalarType type) {
  TENON_CHECK_NOT_IMPLEMENTED(type != kBool && !is_complex(type),
                              "[isin] Unsupported input type encountered for isin(): ", type);
}

void check_searchable(const Scalar& number) {
  TENON_CHECK_NOT_IMPLEMENTED(!number.is_boolean() && !number.is_complex(),
                              "[isin] Unsupported input type encountered for isin(): ", number);
}

/// A number as a tensor of the dtype in which it is compared with the elements of `sorted`. It may
/// overflow to infinity.
Tensor as_number_of(const Scalar& number, const Tensor& sorted) {
  const ScalarType dtype = sorted.scalar_type(), kind = number.type();
  const Tensor single = full({}, number, sorted.options().dtype(kind));
  if (is_floating_point(dtype) || kind == kBool) return single.to(dtype);
  if (!is_integral(kind, false)) return single.to(get_default_dtype());
  return dtype == kBool ? single : single.to(dtype);
}

}  // namespace

/// For each of self's values the place in the sorted sequence, or in the row of sequences that
/// stands where the value does, before which (`right`: after equal ones) it keeps the order.
/// `sorter` gives the order of a sequence that is not sorted.
Tensor native::searchsorted_Tensor(const Tensor& sorted_sequence, const Tensor& self,
                                   bool out_int32, bool right, std::optional<std::string_view> side,
                                   const std::optional<Tensor>& sorter) {
  const bool after = to_the_right(right, side);
  TENON_CHECK(sorted_sequence.device() == self.device(),
              "[searchsorted] boundaries and input value tensors should have same device type, but "
              "got boundaries tensor device type ",
              sorted_sequence.device(), " and input value tensor device type ", self.device());
  TENON_CHECK(sorted_sequence.dim() > 0,
              "[searchsorted] boundaries tensor should have positive dimension, but got 0 "
              "dimension");
  const bool rows = sorted_sequence.dim() > 1;
  TENON_CHECK(!rows || (sorted_sequence.dim() == self.dim() &&
                        sorted_sequence.sizes().slice(0, sorted_sequence.dim() - 1) ==
                            self.sizes().slice(0, self.dim() - 1)),
              "[searchsorted] boundaries tensor should be 1 dimension or the first N-1 dimensions "
              "of boundaries tensor and input value tensor must match, but we got boundaries "
              "tensor ",
              sorted_sequence.sizes(), " and input value tensor ", self.sizes());
  Tensor sequence = sorted_sequence;
  if (sorter) {
    TENON_CHECK(sorter->scalar_type() == kLong && sorter->sizes() == sequence.sizes(),
                "[searchsorted] sorter must be a Long tensor of the boundaries' shape ",
                sequence.sizes(), ", got ", sorter->scalar_type(), " of shape ", sorter->sizes());
    sequence = sequence.gather(-1, *sorter);
  }
  const ScalarType type = promote_types(sequence.scalar_type(), self.scalar_type());
  const Tensor places = search(sequence.to(type), self.to(type), {.right = after});
  return out_int32 ? places.to(kInt) : places;
}

Tensor native::searchsorted_Scalar(const Tensor& sorted_sequence, const Scalar& self,
                                   bool out_int32, bool right, std::optional<std::string_view> side,
                                   const std::optional<Tensor>& sorter) {
  TENON_CHECK(sorted_sequence.dim() == 1,
              "[searchsorted] input value can be a scalar only when boundaries tensor dimension is "
              "1, but we got boundaries tensor dim(",
              sorted_sequence.dim(), ")");
  return searchsorted(sorted_sequence, as_number_of(self, sorted_sequence), out_int32, right, side,
                      sorter);
}

/// The bucket of each value between sorted boundaries: searchsorted.
Tensor native::bucketize_Tensor(const Tensor& self, const Tensor& boundaries, bool out_int32,
                                bool right) {
  TENON_CHECK(boundaries.dim() == 1,
              "[bucketize] boundaries tensor must be 1 dimension, but got dim(", boundaries.dim(),
              ")");
  return searchsorted(boundaries, self, out_int32, right, std::nullopt, {});
}

Tensor native::bucketize_Scalar(const Scalar& self, const Tensor& boundaries, bool out_int32,
                                bool right) {
  TENON_CHECK(boundaries.dim() == 1,
              "[bucketize] boundaries tensor must be 1 dimension, but got dim(", boundaries.dim(),
              ")");
  return searchsorted(boundaries, self, out_int32, right, std::nullopt, {});
}

/// Which elements are among the test elements, or with invert are not: each is looked up in their
/// sorted list.
Tensor native::isin_Tensor_Tensor(const Tensor& elements, const Tensor& test_elements,
                                  bool assume_unique, bool invert) {
  (void)assume_unique;  // a hint that this algorithm has no use for
  const ScalarType type = promote_types(elements.scalar_type(), test_elements.scalar_type());
  check_searchable(elements.scalar_type());
  check_searchable(test_elements.scalar_type());
  const int64_t n = test_elements.numel();
  if (n == 0) {
    return full(elements.sizes(), invert, elements.options().dtype(kBool));
  }
  const Tensor values = elements.to(type);
  const Tensor sorted = std::get<0>(test_elements.to(type).reshape({-1}).sort(0, false));
  const Tensor place = search(sorted, values, {.nans_last = true}).clamp_max(n - 1);
  const Tensor found = sorted.index_select(0, place.reshape({-1})).reshape(values.sizes());
  return invert ? found != values : found == values;
}

void native::isin_tensor_scalar_check(const Tensor& elements, const Scalar& test_element, bool,
                                      bool) {
  check_searchable(elements.scalar_type());
  check_searchable(test_element);
}

void native::isin_scalar_tensor_check(const Scalar& element, const Tensor& test_elements, bool,
                                      bool) {
  check_searchable(element);
  check_searchable(test_elements.scalar_type());
}

}  // namespace tenon
