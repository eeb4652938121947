#include "tenon/native/as_strided_backward.h"
#include "tenon/native/constant_pad_nd_backward.h"
#include "tenon/native/diagonal_backward.h"
#include "tenon/native/repeat_backward.h"
#include "tenon/native/roll_backward.h"
#include "tenon/native/select_backward.h"
#include "tenon/native/slice_backward.h"
#include "tenon/native/unfold_backward.h"
#include "tenon/ops/arange.h"
#include "tenon/ops/as_strided.h"
#include "tenon/ops/constant_pad_nd.h"
#include "tenon/ops/copy.h"
#include "tenon/ops/diagonal.h"
#include "tenon/ops/index_add.h"
#include "tenon/ops/new_zeros.h"
#include "tenon/ops/reshape.h"
#include "tenon/ops/roll.h"
#include "tenon/ops/select.h"
#include "tenon/ops/slice.h"
#include "tenon/ops/sum.h"
#include "tenon/ops/to.h"
#include "tenon/ops/unfold.h"

#include <algorithm>

namespace tenon {
namespace {

/// Zeros of `sizes` with grad written to the part that `view` shows.
template <class View>
Tensor embed(const Tensor& grad, IntArrayRef sizes, View&& view) {
  Tensor result = tenon::new_zeros(grad, sizes);
  Tensor part = view(Tensor(make_detached(result)));
  ops::copy_::call(part, grad, false);
  return result;
}

}  // namespace

Tensor native::select_backward(const Tensor& grad_output, IntArrayRef input_sizes, int64_t dim,
                               int64_t index) {
  return embed(grad_output, input_sizes,
               [&](const Tensor& t) { return ops::select_int::call(t, dim, index); });
}

Tensor native::slice_backward(const Tensor& grad_output, IntArrayRef input_sizes, int64_t dim,
                              std::optional<int64_t> start, std::optional<int64_t> end,
                              int64_t step) {
  return embed(grad_output, input_sizes,
               [&](const Tensor& t) { return ops::slice_Tensor::call(t, dim, start, end, step); });
}

Tensor native::diagonal_backward(const Tensor& grad_output, IntArrayRef input_sizes, int64_t offset,
                                 int64_t dim1, int64_t dim2) {
  return embed(grad_output, input_sizes,
               [&](const Tensor& t) { return ops::diagonal::call(t, offset, dim1, dim2); });
}

/// Every element gets the sum over the windows it is in.
Tensor native::unfold_backward(const Tensor& grad_in, IntArrayRef input_sizes, int64_t dim,
                               int64_t size, int64_t step) {
  Tensor places =
      tenon::arange(numel_of(input_sizes), TensorOptions(kLong).device(grad_in.device()));
  places = ops::reshape::call(places, input_sizes);
  places = ops::reshape::call(ops::unfold::call(places, dim, size, step), {-1});
  const Tensor zeros = tenon::new_zeros(grad_in, numel_of(input_sizes));
  const Tensor sums = ops::index_add::call(zeros, 0, places, ops::reshape::call(grad_in, {-1}), 1);
  return ops::reshape::call(sums, input_sizes);
}

/// The same for arbitrary strides: places are those of the storage.
Tensor native::as_strided_backward(const Tensor& grad, IntArrayRef self_sizes,
                                   IntArrayRef self_strides, int64_t self_offset, IntArrayRef size,
                                   IntArrayRef stride, std::optional<int64_t> storage_offset) {
  const int64_t offset = storage_offset.value_or(self_offset);
  int64_t extent = 1;
  const auto reach = [&extent](IntArrayRef sizes, IntArrayRef strides, int64_t from) {
    int64_t last = from;
    for (size_t i = 0; i < sizes.size(); ++i)
      last += std::max<int64_t>(sizes[i] - 1, 0) * strides[i];
    extent = std::max(extent, last + 1);
  };
  const int64_t first = std::min(offset, self_offset);
  reach(self_sizes, self_strides, self_offset - first);
  reach(size, stride, offset - first);
  const Tensor all = tenon::arange(extent, TensorOptions(kLong).device(grad.device()));
  const Tensor places = ops::as_strided::call(all, size, stride, offset - first);
  const Tensor storage =
      ops::index_add::call(tenon::new_zeros(grad, extent), 0, ops::reshape::call(places, {-1}),
                           ops::reshape::call(grad, {-1}), 1);
  // Where elements of self share memory each of them gets the whole.
  return ops::as_strided::call(storage, self_sizes, self_strides, self_offset - first).clone();
}

Tensor native::repeat_backward(const Tensor& grad, IntArrayRef repeats, IntArrayRef self_sizes) {
  const auto added = repeats.size() - self_sizes.size();
  DimVector shape;
  DimVector dims;
  for (size_t i = 0; i < repeats.size(); ++i) {
    dims.push_back(static_cast<int64_t>(shape.size()));
    shape.push_back(repeats[i]);
    if (i >= added) shape.push_back(self_sizes[i - added]);
  }
  if (dims.empty()) return grad;
  return ops::sum_dim_IntList::call(ops::reshape::call(grad, shape), IntArrayRef(dims), false,
                                    std::nullopt);
}

Tensor native::roll_backward(const Tensor& grad, IntArrayRef shifts, IntArrayRef dims) {
  DimVector back(shifts);
  for (int64_t& shift : back) shift = -shift;
  return ops::roll::call(grad, back, dims);
}

Tensor native::constant_pad_nd_backward(const Tensor& grad, IntArrayRef pad) {
  DimVector negative(pad);
  for (int64_t& p : negative) p = -p;
  return ops::constant_pad_nd::call(grad, negative, 0);
}

}  // namespace tenon
