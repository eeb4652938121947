#pragma once

#include "tenon/tensor.h"

namespace tenon::native {

/// The dimension of `data` that segments lie along, of which `offsets` has an entry more than there
/// are segments and `lengths` one for each.
struct SegmentAxis {
  int64_t dim, count;

  SegmentAxis(const Tensor& data, const std::optional<Tensor>& lengths,
              const std::optional<Tensor>& offsets, int64_t axis)
      : dim(wrap_dim(axis, data.dim())) {
    TENON_CHECK(lengths || offsets, "[segment_reduce] Either lengths or offsets must be defined.");
    const Tensor& given = offsets ? *offsets : *lengths;
    const char* name = offsets ? "offsets" : "lengths";
    TENON_CHECK_NOT_IMPLEMENTED(given.scalar_type() == kLong || given.scalar_type() == kInt,
                                "[segment_reduce] is not implemented for ", name, " of ",
                                given.scalar_type());
    TENON_CHECK(data.dim() >= given.dim(), "[segment_reduce] Expected data.dim() >= ", name,
                ".dim(), got sizes ", data.sizes(), " and ", given.sizes());
    TENON_CHECK(dim == given.dim() - 1,
                "[segment_reduce] Expected axis to be the last dimension of ", name, " but got ",
                dim, ".");
    TENON_CHECK(given.sizes().slice(0, static_cast<size_t>(dim)) ==
                    data.sizes().slice(0, static_cast<size_t>(dim)),
                "[segment_reduce] Expected data and ", name,
                " to have the same sizes before axis, got ", data.sizes(), " and ", given.sizes());
    count = given.sizes()[dim] - (offsets ? 1 : 0);
    TENON_CHECK(count >= 0, "[segment_reduce] offsets must not be empty");
  }
};

}  // namespace tenon::native
