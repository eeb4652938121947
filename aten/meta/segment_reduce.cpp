#include "aten/meta/segment_reduce.h"

#include "aten/meta/checks.h"
#include "aten/meta/tensor_spec.h"
#include "tenon/native/_segment_reduce_backward.h"
#include "tenon/native/segment_reduce.h"

namespace tenon {
namespace {

void check_devices(const Tensor& data, const std::optional<Tensor>& lengths,
                   const std::optional<Tensor>& offsets) {
  if (lengths) meta::check_same_device("segment_reduce", "data", data, "lengths", *lengths);
  if (offsets) meta::check_same_device("segment_reduce", "data", data, "offsets", *offsets);
}

}  // namespace

TensorSpec native::segment_reduce_meta(const Tensor& data, std::string_view reduce,
                                       const std::optional<Tensor>& lengths,
                                       const std::optional<Tensor>& indices,
                                       const std::optional<Tensor>& offsets, int64_t axis, bool,
                                       const std::optional<Scalar>&) {
  TENON_CHECK(!indices, "[segment_reduce] indices based reduction is not supported yet.");
  TENON_CHECK(reduce == "sum" || reduce == "prod" || reduce == "mean" || reduce == "max" ||
                  reduce == "min" || reduce == "amax" || reduce == "amin",
              "[segment_reduce] reduce argument must be either sum, prod, mean, amax or amin, got ",
              reduce);
  TENON_CHECK_NOT_IMPLEMENTED(data.is_floating_point(), "[segment_reduce] is not implemented for '",
                              data.scalar_type(), "'");
  check_devices(data, lengths, offsets);
  const SegmentAxis segments(data, lengths, offsets, axis);
  DimVector sizes(data.sizes());
  sizes[segments.dim] = segments.count;
  return TensorSpec(sizes, data).kept_apart();
}

TensorSpec native::_segment_reduce_backward_meta(const Tensor& grad_output, const Tensor& output,
                                                 const Tensor& data, std::string_view,
                                                 const std::optional<Tensor>& lengths,
                                                 const std::optional<Tensor>& offsets, int64_t axis,
                                                 const std::optional<Scalar>&) {
  check_devices(data, lengths, offsets);
  const SegmentAxis segments(data, lengths, offsets, axis);
  DimVector sizes(data.sizes());
  sizes[segments.dim] = segments.count;
  for (const Tensor* t : {&grad_output, &output}) {
    TENON_CHECK(t->sizes() == IntArrayRef(sizes) && t->scalar_type() == data.scalar_type(),
                "[_segment_reduce_backward] expected gradient and output of sizes ",
                IntArrayRef(sizes), " and dtype ", data.scalar_type(), ", got ", t->sizes(), " of ",
                t->scalar_type());
  }
  return TensorSpec(data.sizes(), data).kept_apart();
}

}  // namespace tenon
