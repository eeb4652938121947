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
#include "tenon/ops/clamp_min.h"
#include "tenon/ops/constant_pad_nd.h"
#include "tenon/ops/copy.h"
#include "tenon/ops/diagonal.h"
#include "tenon/ops/div.h"
#include "tenon/ops/index_add.h"
#include "tenon/ops/new_ones.h"
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

/// Whether two elements may lie at one place: some stride is not beyond what the smaller ones
/// reach.
bool may_overlap(IntArrayRef sizes, IntArrayRef strides) {
  std::vector<std::pair<int64_t, int64_t>> dims;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] > 1) dims.emplace_back(strides[i], sizes[i]);
  }
  std::sort(dims.begin(), dims.end());
  int64_t reach = 0;
  for (const auto& [stride, size] : dims) {
    if (stride <= reach) return true;
    reach += stride * (size - 1);
  }
  return false;
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
  const auto counted = [](IntArrayRef sizes, IntArrayRef strides, int64_t from) {
    bool valid = sizes.size() == strides.size() && from >= 0;
    for (const int64_t s : strides) valid &= s >= 0;
    return valid && numel_of(sizes) >= 0;
  };
  TENON_CHECK_VALUE(counted(self_sizes, self_strides, self_offset) &&
                        counted(size, stride, offset) && grad.sizes() == size,
                    "[as_strided_backward] a geometry has as many strides as sizes, none negative, "
                    "and grad has the view's sizes; got ",
                    self_sizes, " with ", self_strides, ", ", size, " with ", stride, ", grad ",
                    grad.sizes());
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
  const auto places = [&](IntArrayRef sizes, IntArrayRef strides, int64_t from) {
    return ops::reshape::call(ops::as_strided::call(all, sizes, strides, from), {-1});
  };
  const Tensor zeros = tenon::new_zeros(grad, extent);
  Tensor storage = ops::index_add::call(zeros, 0, places(size, stride, offset - first),
                                        ops::reshape::call(grad, {-1}), 1);
  if (may_overlap(self_sizes, self_strides)) {
    // Elements of self that share memory share its gradient, so that it counts once in their sum.
    const Tensor own = places(self_sizes, self_strides, self_offset - first);
    const Tensor count =
        ops::index_add::call(zeros, 0, own, tenon::new_ones(grad, IntArrayRef(own.numel())), 1);
    storage = storage.div(count.clamp_min(1));
  }
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
