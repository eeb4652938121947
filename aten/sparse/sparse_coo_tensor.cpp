#include "tenon/native/sparse_coo_tensor.h"

#include "aten/common/ivalue.h"
#include "aten/sparse/sparse_tensor.h"
#include "tenon/native/_sparse_coo_tensor_unsafe.h"
#include "tenon/native/_sparse_coo_tensor_with_dims_and_tensors.h"
#include "tenon/native/_validate_sparse_coo_tensor_args.h"
#include "tenon/ops/_sparse_coo_tensor_unsafe.h"
#include "tenon/ops/_sparse_coo_tensor_with_dims_and_tensors.h"
#include "tenon/ops/_validate_sparse_coo_tensor_args.h"
#include "tenon/ops/amax.h"
#include "tenon/ops/amin.h"
#include "tenon/ops/any.h"
#include "tenon/ops/expand.h"
#include "tenon/ops/le.h"
#include "tenon/ops/sparse_coo_tensor.h"
#include "tenon/ops/to.h"

namespace tenon {
namespace {

using sparse::flat_positions;

/// A number is the value of one place.
Tensor values_for(const Tensor& values, std::optional<ScalarType> dtype) {
  const Tensor all = values.dim() == 0 ? values.expand({1}) : values;
  return dtype ? all.to(*dtype) : all;
}

void check_layout(std::optional<Layout> layout) {
  TENON_CHECK(!layout || *layout == kSparse, "expected sparse layout, but got layout ", *layout);
}

void check_index_shape(const Tensor& indices) {
  TENON_CHECK(indices.dim() == 2, "indices must be sparse_dim x nnz, but got: ", indices.sizes());
}

void check_nonnegative(const Tensor& smallest) {
  for (int64_t d = 0; d < smallest.numel(); ++d) {
    const auto least = smallest.select(0, d).item<int64_t>();
    TENON_CHECK(least >= 0, "found negative index ", least, " for dim ", d);
  }
}

}  // namespace

Tensor native::_sparse_coo_tensor_with_dims_and_tensors(
    int64_t sparse_dim, int64_t, IntArrayRef size, const Tensor& indices, const Tensor& values,
    std::optional<ScalarType> dtype, std::optional<Layout> layout, std::optional<Device>,
    std::optional<bool>, std::optional<bool> is_coalesced) {
  check_layout(layout);
  TENON_CHECK(indices.layout() == kStrided && values.layout() == kStrided,
              "indices and values of a sparse tensor must be strided, got ", indices.layout(),
              " and ", values.layout());
  const Tensor elements = dtype ? values.to(*dtype) : values;
  check_index_shape(indices);
  TENON_CHECK(
      sparse_dim == indices.size(0) && elements.dim() >= 1 && elements.size(0) == indices.size(1) &&
          static_cast<int64_t>(size.size()) == sparse_dim + elements.dim() - 1 &&
          elements.sizes().slice(1) == size.slice(static_cast<size_t>(sparse_dim)),
      "a sparse tensor of sizes ", size, " with ", sparse_dim,
      " sparse dimensions cannot have indices ", indices.sizes(), " and values ", elements.sizes());
  return sparse::make_coo(size, sparse_dim, indices.to(kLong), elements,
                          is_coalesced.value_or(false));
}

Tensor native::_sparse_coo_tensor_unsafe(const Tensor& indices, const Tensor& values,
                                         IntArrayRef size, std::optional<ScalarType> dtype,
                                         std::optional<Layout> layout, std::optional<Device> device,
                                         std::optional<bool> pin_memory,
                                         std::optional<bool> is_coalesced) {
  check_index_shape(indices);
  const Tensor elements = values_for(values, dtype);
  const int64_t sparse_dim = indices.size(0), dense_dim = elements.dim() - 1;
  return ops::_sparse_coo_tensor_with_dims_and_tensors::call(
      sparse_dim, dense_dim, size, indices.to(kLong), elements, dtype, layout, device, pin_memory,
      is_coalesced);
}

Tensor native::sparse_coo_tensor_size(IntArrayRef size, std::optional<ScalarType> dtype,
                                      std::optional<Layout> layout, std::optional<Device> device,
                                      std::optional<bool>) {
  check_layout(layout);
  return sparse::empty_of_layout(kSparse, size, dtype.value_or(get_default_dtype()),
                                 device.value_or(kCPU));
}

Tensor native::sparse_coo_tensor_indices_size(const Tensor& indices, const Tensor& values,
                                              IntArrayRef size, std::optional<ScalarType> dtype,
                                              std::optional<Layout> layout,
                                              std::optional<Device> device,
                                              std::optional<bool> pin_memory,
                                              std::optional<bool> is_coalesced) {
  check_index_shape(indices);
  const Tensor elements = values_for(values, dtype);
  ops::_validate_sparse_coo_tensor_args::call(indices, elements, size, is_coalesced, pin_memory);
  return ops::_sparse_coo_tensor_unsafe::call(indices, elements, size, dtype, layout, device,
                                              pin_memory, is_coalesced);
}

Tensor native::sparse_coo_tensor_indices(const Tensor& indices, const Tensor& values,
                                         std::optional<ScalarType> dtype,
                                         std::optional<Layout> layout, std::optional<Device> device,
                                         std::optional<bool> pin_memory,
                                         std::optional<bool> is_coalesced) {
  check_index_shape(indices);
  const Tensor elements = values_for(values, dtype);
  const int64_t sparse_dim = indices.size(0);
  DimVector size;
  if (indices.size(1) > 0) {
    const Tensor places = indices.to(kLong);
    check_nonnegative(ops::amin::call(places, {1}, false));
    const Tensor largest = ops::amax::call(places, {1}, false);
    for (int64_t d = 0; d < sparse_dim; ++d)
      size.push_back(largest.select(0, d).item<int64_t>() + 1);
  } else {
    for (int64_t d = 0; d < sparse_dim; ++d) size.push_back(0);
  }
  for (const int64_t row : elements.sizes().slice(elements.dim() == 0 ? 0 : 1)) size.push_back(row);
  return ops::sparse_coo_tensor_indices_size::call(indices, elements, size, dtype, layout, device,
                                                   pin_memory, is_coalesced);
}

void native::_validate_sparse_coo_tensor_args(const Tensor& indices, const Tensor& values,
                                              IntArrayRef size, std::optional<bool> is_coalesced,
                                              std::optional<bool>) {
  check_index_shape(indices);
  TENON_CHECK(!is_complex(indices.scalar_type()), "indices must be integers, got ",
              indices.scalar_type());
  const int64_t sparse_dim = indices.size(0), nnz = indices.size(1);
  const int64_t dense_dim = values.dim() - 1;
  TENON_CHECK(static_cast<int64_t>(size.size()) == sparse_dim + dense_dim,
              "'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = ", size.size(),
              ", sparse_dim = ", sparse_dim, ", dense_dim = ", dense_dim);
  TENON_CHECK(values.dim() > 0 && values.size(0) == nnz,
              "indices and values must have same nnz, but got nnz from indices: ", nnz,
              ", nnz from values: ", values.dim() > 0 ? values.size(0) : 1);
  const IntArrayRef row = size.slice(static_cast<size_t>(sparse_dim));
  if (!(values.sizes().slice(1) == row)) {
    DimVector expected;
    expected.push_back(nnz);
    for (const int64_t one : row) expected.push_back(one);
    detail::raise<Error>("values has incorrect size, expected ", expected, ", got ",
                         values.sizes());
  }
  for (const int64_t one : size) {
    TENON_CHECK(one >= 0, "size of a sparse tensor must be non-negative, got ", size);
  }
  if (nnz == 0 || sparse_dim == 0) return;
  const Tensor places = indices.to(kLong);
  check_nonnegative(ops::amin::call(places, {1}, false));
  const Tensor largest = ops::amax::call(places, {1}, false);
  for (int64_t d = 0; d < sparse_dim; ++d) {
    const auto most = largest.select(0, d).item<int64_t>();
    TENON_CHECK(most < size[static_cast<size_t>(d)], "size is inconsistent with indices: for dim ",
                d, ", size is ", size[static_cast<size_t>(d)], " but found index ", most);
  }
  if (!is_coalesced.value_or(false) || nnz < 2) return;
  const Tensor flat = flat_positions(places, size.slice(0, static_cast<size_t>(sparse_dim)));
  const Tensor unordered = flat.narrow(0, 1, nnz - 1) <= flat.narrow(0, 0, nnz - 1);
  TENON_CHECK(!ops::any::call(unordered).item<bool>(),
              "cannot set is_coalesced to true if indices correspond to uncoalesced COO tensor");
}

}  // namespace tenon
