#include "aten/sparse/sparse_kernels.h"

#include <limits>

#include "aten/sparse/sparse_tensor.h"
#include "tenon/native/_sparse_log_softmax.h"
#include "tenon/native/_sparse_log_softmax_backward_data.h"
#include "tenon/native/_sparse_softmax.h"
#include "tenon/native/_sparse_softmax_backward_data.h"
#include "tenon/native/_sparse_sum.h"
#include "tenon/native/_sparse_sum_backward.h"
#include "tenon/ops/_log_softmax.h"
#include "tenon/ops/_softmax.h"
#include "tenon/ops/_sparse_coo_tensor_unsafe.h"
#include "tenon/ops/_sparse_log_softmax.h"
#include "tenon/ops/_sparse_softmax.h"
#include "tenon/ops/_sparse_sum.h"
#include "tenon/ops/any.h"
#include "tenon/ops/coalesce.h"
#include "tenon/ops/exp.h"
#include "tenon/ops/expand.h"
#include "tenon/ops/full.h"
#include "tenon/ops/index_add.h"
#include "tenon/ops/index_reduce.h"
#include "tenon/ops/index_select.h"
#include "tenon/ops/linalg_vector_norm.h"
#include "tenon/ops/log.h"
#include "tenon/ops/mul.h"
#include "tenon/ops/reshape.h"
#include "tenon/ops/sparse_mask.h"
#include "tenon/ops/stack.h"
#include "tenon/ops/sub.h"
#include "tenon/ops/sum.h"
#include "tenon/ops/to.h"
#include "tenon/ops/unsqueeze.h"
#include "tenon/ops/values.h"
#include "tenon/ops/values_backward.h"
#include "tenon/ops/zeros.h"

namespace tenon {
namespace {

using Dims = std::vector<bool>;

Dims summed_dims(const Tensor& self, IntArrayRef dim) {
  TENON_CHECK(!dim.empty(), "dim must be non-empty");
  Dims summed(static_cast<size_t>(self.dim()));
  for (const int64_t d : dim) {
    const auto place = static_cast<size_t>(wrap_dim(d, self.dim()));
    TENON_CHECK(!summed[place], "dim ", place, " appears multiple times in the list of dims");
    summed[place] = true;
  }
  return summed;
}

/// The rows of indices for the sparse dimensions that stay.
Tensor kept_indices(const Tensor& indices, const Dims& summed) {
  std::vector<Tensor> kept;
  for (int64_t d = 0; d < indices.size(0); ++d)
    if (!summed[static_cast<size_t>(d)]) kept.push_back(indices.select(0, d));
  return kept.empty() ? Tensor(tenon::zeros({0, indices.size(1)}, kLong))
                      : ops::stack::call(kept, 0);
}

/// For each element of a COO tensor, which line along the sparse dimension `dim` it is of.
sparse::Groups lines(const Tensor& coo, int64_t dim) {
  DimVector sizes;
  Dims without(static_cast<size_t>(coo.dim()));
  without[static_cast<size_t>(dim)] = true;
  for (int64_t d = 0; d < sparse::content_of(coo).sparse_dim; ++d)
    if (d != dim) sizes.push_back(coo.size(d));
  const Tensor kept = kept_indices(sparse::indices_of(coo), without);
  return sparse::group_equal(sparse::flat_positions(kept, sizes));
}

/// Softmax of the elements that there are; the others count as -inf.
Tensor softmax_of(const char* op, const Tensor& self, int64_t dim, bool log) {
  TENON_CHECK_NOT_IMPLEMENTED(self.layout() == kSparse, "[", op,
                              "] expected a sparse_coo tensor, got layout ", self.layout());
  TENON_CHECK_NOT_IMPLEMENTED(self.is_floating_point(), "[", op, "] is not implemented for ",
                              self.scalar_type());
  const Tensor coo = ops::coalesce::call(self);
  const SparseValue& content = sparse::content_of(coo);
  const Tensor values = sparse::values_of(coo);
  dim = wrap_dim(dim, self.dim());
  if (dim >= content.sparse_dim) {
    const int64_t of_row = dim - content.sparse_dim + 1;
    return sparse::with_values(coo, log ? ops::_log_softmax::call(values, of_row, false)
                                        : ops::_softmax::call(values, of_row, false));
  }
  const sparse::Groups groups = lines(coo, dim);
  const int64_t count = groups.keys.numel();
  DimVector sizes(values.sizes());
  sizes[0] = count;
  const double least = -std::numeric_limits<double>::infinity();
  const Tensor most = tenon::full(sizes, least, values.scalar_type())
                          .index_reduce(0, groups.group, values, "amax", true);
  const Tensor shifted = values - ops::index_select::call(most, 0, groups.group);
  const Tensor raised = ops::exp::call(shifted);
  const Tensor sums =
      ops::index_select::call(sparse::sum_groups(raised, groups.group, count), 0, groups.group);
  return sparse::with_values(coo, log ? shifted - ops::log::call(sums) : raised / sums);
}

Tensor softmax_gradient(const Tensor& grad_output, const Tensor& output, int64_t dim, bool log) {
  const SparseValue& content = sparse::content_of(output);
  dim = wrap_dim(dim, output.dim());
  const Tensor grad = ops::values::call(ops::sparse_mask::call(grad_output, output));
  const Tensor values = ops::values::call(output);
  const Tensor weighted = log ? grad : grad * values;
  Tensor sums;
  if (dim >= content.sparse_dim) {
    sums = ops::sum_dim_IntList::call(weighted, IntArrayRef{dim - content.sparse_dim + 1}, true,
                                      std::nullopt);
  } else {
    const sparse::Groups groups = lines(output, dim);
    sums = ops::index_select::call(sparse::sum_groups(weighted, groups.group, groups.keys.numel()),
                                   0, groups.group);
  }
  const Tensor result = log ? grad - ops::exp::call(values) * sums : values * (grad - sums);
  return tenon::values_backward(result, output);
}

}  // namespace

Tensor native::_sparse_sum(const Tensor& self) {
  return ops::sum::call(
      ops::values::call(self.layout() == kSparse ? ops::coalesce::call(self) : self), std::nullopt);
}

Tensor native::_sparse_sum_dtype(const Tensor& self, ScalarType dtype) {
  return ops::sum::call(
      ops::values::call(self.layout() == kSparse ? ops::coalesce::call(self) : self), dtype);
}

Tensor native::_sparse_sum_dim_dtype(const Tensor& self, IntArrayRef dim, ScalarType dtype) {
  return ops::_sparse_sum_dim::call(self.to(dtype), dim);
}

Tensor native::_sparse_sum_dim(const Tensor& self, IntArrayRef dim) {
  TENON_CHECK_NOT_IMPLEMENTED(self.layout() == kSparse,
                              "[_sparse_sum] expected a sparse_coo tensor, got layout ",
                              self.layout());
  const Dims summed = summed_dims(self, dim);
  const SparseValue& content = sparse::content_of(self);
  const auto n = static_cast<size_t>(content.sparse_dim);
  Tensor values = sparse::values_of(self);
  DimVector of_row, sizes;
  for (size_t d = 0; d < summed.size(); ++d) {
    if (!summed[d]) {
      sizes.push_back(self.sizes()[d]);
    } else if (d >= n) {
      of_row.push_back(static_cast<int64_t>(d - n) + 1);
    }
  }
  if (!of_row.empty())
    values = ops::sum_dim_IntList::call(values, IntArrayRef(of_row), false, std::nullopt);
  if (is_integral(values.scalar_type(), true)) values = values.to(kLong);
  const Tensor places = kept_indices(sparse::indices_of(self), summed);
  if (places.size(0) == 0)
    return ops::sum_dim_IntList::call(values, IntArrayRef{0}, false, std::nullopt);
  return sparse::make_coo(sizes, places.size(0), places, values, false);
}

Tensor native::_sparse_sum_backward(const Tensor& grad, const Tensor& input, IntArrayRef dim) {
  const Tensor self = ops::coalesce::call(input);
  const Dims summed = summed_dims(self, dim);
  const SparseValue& content = sparse::content_of(self);
  const auto n = static_cast<size_t>(content.sparse_dim);
  const Tensor places = kept_indices(sparse::indices_of(self), summed);
  Tensor rows =
      places.size(0) == 0 ? ops::unsqueeze::call(grad, 0) : sparse::elements_at(grad, places);
  for (size_t d = n; d < summed.size(); ++d)
    if (summed[d]) rows = ops::unsqueeze::call(rows, static_cast<int64_t>(d - n) + 1);
  const Tensor values = rows.expand(IntArrayRef(content.values->sizes)).contiguous();
  return ops::_sparse_coo_tensor_unsafe::call(sparse::indices_of(self), values, self.sizes(),
                                              std::nullopt, std::nullopt, std::nullopt,
                                              std::nullopt, content.coalesced);
}

Tensor native::_sparse_softmax(const Tensor& self, int64_t dim, bool) {
  return softmax_of("_sparse_softmax", self, dim, false);
}

Tensor native::_sparse_log_softmax(const Tensor& self, int64_t dim, bool) {
  return softmax_of("_sparse_log_softmax", self, dim, true);
}

Tensor native::_sparse_softmax_int(const Tensor& self, int64_t dim,
                                   std::optional<ScalarType> dtype) {
  return ops::_sparse_softmax::call(dtype ? self.to(*dtype) : self, dim, false);
}

Tensor native::_sparse_log_softmax_int(const Tensor& self, int64_t dim,
                                       std::optional<ScalarType> dtype) {
  return ops::_sparse_log_softmax::call(dtype ? self.to(*dtype) : self, dim, false);
}

Tensor native::_sparse_softmax_backward_data(const Tensor& grad_output, const Tensor& output,
                                             int64_t dim, const Tensor&) {
  return softmax_gradient(grad_output, output, dim, false);
}

Tensor native::_sparse_log_softmax_backward_data(const Tensor& grad_output, const Tensor& output,
                                                 int64_t dim, const Tensor&) {
  return softmax_gradient(grad_output, output, dim, true);
}

namespace sparse {

Tensor sum(const Tensor& self, std::optional<ScalarType> dtype) {
  return ops::sum::call(values_of(self), dtype);
}

Tensor sum_dim(const Tensor& self, OptionalIntArrayRef dim, bool keepdim,
               std::optional<ScalarType> dtype) {
  if (is_compressed(self.layout())) {
    TENON_CHECK(keepdim, "reduction operations on CSR tensors with keepdim=False is unsupported");
    const Tensor coo = coo_of_compressed(self);
    const Tensor reduced = ops::coalesce::call(sum_dim(coo, dim, true, dtype));
    return Tensor(reduced.to_sparse(self.layout()));
  }
  const Tensor typed = dtype ? self.to(*dtype) : self;
  DimVector dims;
  if (dim && !dim->empty()) {
    dims = DimVector(*dim);
  } else {
    for (int64_t d = 0; d < self.dim(); ++d) dims.push_back(d);
  }
  if (dims.empty()) return sparse::sum(typed, std::nullopt);
  const Dims summed = summed_dims(self, dims);
  if (!keepdim) {
    const Tensor reduced = native::_sparse_sum_dim(typed, dims);
    return reduced.layout() == kSparse ? ops::coalesce::call(reduced) : reduced;
  }
  // A summed dimension has the place 0 alone.
  const SparseValue& content = content_of(typed);
  DimVector sizes(self.sizes()), of_row;
  Tensor indices = indices_of(typed).clone();
  for (size_t d = 0; d < summed.size(); ++d) {
    if (!summed[d]) continue;
    sizes[d] = 1;
    if (static_cast<int64_t>(d) < content.sparse_dim) {
      indices.select(0, static_cast<int64_t>(d)).zero_();
    } else {
      of_row.push_back(static_cast<int64_t>(d) - content.sparse_dim + 1);
    }
  }
  Tensor values = values_of(typed);
  if (!of_row.empty())
    values = ops::sum_dim_IntList::call(values, IntArrayRef(of_row), true, std::nullopt);
  if (is_integral(values.scalar_type(), true)) values = values.to(kLong);
  return ops::coalesce::call(make_coo(sizes, content.sparse_dim, indices, values, false));
}

Tensor vector_norm(const Tensor& self, const Scalar& ord, OptionalIntArrayRef dim, bool keepdim,
                   std::optional<ScalarType> dtype) {
  TENON_CHECK_NOT_IMPLEMENTED((!dim || dim->empty()) && !keepdim && ord.toDouble() >= 0,
                              "the norm of a sparse tensor is over all dimensions and of an order "
                              "from 0 on, got order ",
                              ord.toDouble(), ". Convert it with to_dense()");
  const Tensor t = self.layout() == kSparse ? ops::coalesce::call(self) : self;
  Tensor values = values_of(t);
  if (values.numel() == 0) values = tenon::zeros({1}, values.scalar_type());
  return ops::linalg_vector_norm::call(values, ord, std::nullopt, false, dtype);
}

Tensor any(const Tensor& self) {
  const Tensor t = self.layout() == kSparse ? ops::coalesce::call(self) : self;
  return ops::any::call(values_of(t));
}

Scalar item(const Tensor& self) {
  TENON_CHECK(self.numel() == 1, "a Tensor with ", self.numel(),
              " elements cannot be converted to Scalar");
  return self.to_dense().item();
}

}  // namespace sparse
}  // namespace tenon
