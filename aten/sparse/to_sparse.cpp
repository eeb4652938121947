#include "tenon/native/to_sparse.h"

#include "aten/sparse/sparse_tensor.h"
#include "tenon/native/_to_sparse.h"
#include "tenon/native/to_sparse_backward.h"
#include "tenon/native/to_sparse_bsc.h"
#include "tenon/native/to_sparse_bsr.h"
#include "tenon/native/to_sparse_csc.h"
#include "tenon/native/to_sparse_csr.h"
#include "tenon/ops/_to_sparse.h"
#include "tenon/ops/any.h"
#include "tenon/ops/coalesce.h"
#include "tenon/ops/index_select.h"
#include "tenon/ops/ne.h"
#include "tenon/ops/nonzero.h"
#include "tenon/ops/reshape.h"
#include "tenon/ops/zeros.h"

namespace tenon {
namespace {

using sparse::compresses_rows;
using sparse::has_blocks;
using Block = std::array<int64_t, 2>;

/// The elements of a strided tensor, as rows of its last dimensions, that are not all zero.
Tensor coo_of_strided(const Tensor& self, int64_t sparse_dim) {
  const auto n = static_cast<size_t>(sparse_dim);
  int64_t count = 1, width = 1;
  DimVector rows_sizes;
  for (size_t d = 0; d < self.sizes().size(); ++d) (d < n ? count : width) *= self.sizes()[d];
  rows_sizes.push_back(count);
  for (const int64_t size : self.sizes().slice(n)) rows_sizes.push_back(size);
  const Tensor rows = ops::reshape::call(self, rows_sizes);
  const Tensor matrix = ops::reshape::call(rows, {count, width});
  const Tensor kept = ops::any_dim::call(ops::ne_Scalar::call(matrix, 0), 1, false);
  const Tensor places = ops::reshape::call(ops::nonzero::call(kept), {-1});
  return sparse::make_coo(self.sizes(), sparse_dim,
                          sparse::indices_at(places, self.sizes().slice(0, n)),
                          ops::index_select::call(rows, 0, places), true);
}

/// CSR of a coalesced matrix: its elements are in the order of the rows.
Tensor csr_of_coo(const Tensor& coo) {
  const Tensor indices = sparse::indices_of(coo).contiguous();
  Tensor starts = tenon::zeros({coo.size(0) + 1}, kLong);
  auto* const start = starts.data_ptr<int64_t>();
  const auto* const row = indices.const_data_ptr<int64_t>();
  for (int64_t i = 0; i < indices.size(1); ++i) ++start[row[i] + 1];
  for (int64_t r = 0; r < coo.size(0); ++r) start[r + 1] += start[r];
  return sparse::make_compressed(kSparseCsr, coo.sizes(), starts, indices.select(0, 1).clone(),
                                 sparse::values_of(coo).clone());
}

/// The rows of a coalesced tensor with `batch` dimensions before the last two sparse ones, in the
/// order of its slots: rows or columns, of blocks.
Tensor compressed_of_coo(const Tensor& coo, Layout layout, Block block) {
  const auto n = static_cast<size_t>(sparse::content_of(coo).sparse_dim), batch = n - 2;
  if (layout == kSparseCsr && batch == 0) return csr_of_coo(coo);
  const IntArrayRef sizes = coo.sizes();
  const bool rows = compresses_rows(layout);
  const int64_t height = block[0], width = block[1], area = height * width;
  const int64_t slots = rows ? sizes[batch] / height : sizes[batch + 1] / width;
  const int64_t places = rows ? sizes[batch + 1] / width : sizes[batch] / height;
  const Tensor indices = sparse::indices_of(coo).contiguous();
  const int64_t nnz = indices.size(1);
  const auto* const index = indices.const_data_ptr<int64_t>();
  Tensor keys = tenon::zeros({nnz}, kLong), within = tenon::zeros({nnz}, kLong);
  auto* const key = keys.data_ptr<int64_t>();
  auto* const inner = within.data_ptr<int64_t>();
  int64_t batches = 1;
  for (size_t d = 0; d < batch; ++d) batches *= sizes[d];
  for (int64_t i = 0; i < nnz; ++i) {
    int64_t b = 0;
    for (size_t d = 0; d < batch; ++d) b = b * sizes[d] + index[static_cast<int64_t>(d) * nnz + i];
    const int64_t row = index[static_cast<int64_t>(batch) * nnz + i];
    const int64_t column = index[static_cast<int64_t>(batch + 1) * nnz + i];
    const int64_t slot = rows ? row / height : column / width;
    const int64_t place = rows ? column / width : row / height;
    key[i] = (b * slots + slot) * places + place;
    inner[i] = row % height * width + column % width;
  }
  const sparse::Groups groups = sparse::group_equal(keys);
  const int64_t count = groups.keys.numel();
  TENON_CHECK(batches == 0 ? count == 0 : count % batches == 0,
              "Expect the same number of specified elements per batch.");
  const int64_t each = batches == 0 ? 0 : count / batches;

  DimVector starts_sizes(sizes.slice(0, batch)), plain_sizes(starts_sizes);
  starts_sizes.push_back(slots + 1);
  plain_sizes.push_back(each);
  Tensor starts = tenon::zeros(starts_sizes, kLong), plain = tenon::zeros(plain_sizes, kLong);
  auto* const start = starts.data_ptr<int64_t>();
  auto* const place = plain.data_ptr<int64_t>();
  const auto* const kept = groups.keys.const_data_ptr<int64_t>();
  for (int64_t i = 0; i < count; ++i) {
    const int64_t line = kept[i] / places, b = line / slots;
    TENON_CHECK(b == i / each, "Expect the same number of specified elements per batch.");
    ++start[b * (slots + 1) + line % slots + 1];
    place[i] = kept[i] % places;
  }
  for (int64_t b = 0; b < batches; ++b) {
    for (int64_t s = 0; s < slots; ++s)
      start[b * (slots + 1) + s + 1] += start[b * (slots + 1) + s];
  }

  DimVector value_sizes(plain_sizes);
  if (has_blocks(layout)) {
    value_sizes.push_back(height);
    value_sizes.push_back(width);
  }
  const Tensor values = sparse::values_of(coo);
  for (const int64_t size : values.sizes().slice(1)) value_sizes.push_back(size);
  const Tensor filled = sparse::sum_groups(values, groups.group * area + within, count * area);
  return sparse::make_compressed(layout, sizes, starts, plain,
                                 ops::reshape::call(filled, value_sizes));
}

Block required_block(const Tensor& self, Layout layout, OptionalIntArrayRef blocksize,
                     size_t batch) {
  const std::string op =
      detail::concat(self.layout() == kStrided ? "dense" : "sparse", "_to_sparse",
                     layout == kSparseBsr   ? "_bsr"
                     : layout == kSparseBsc ? "_bsc"
                                            : "");
  if (!has_blocks(layout)) {
    TENON_CHECK(!blocksize, op, ": conversion from ", sparse::name_of(self.layout()), " to ",
                sparse::name_of(layout), " with blocksize argument given is not supported");
    return {1, 1};
  }
  TENON_CHECK(blocksize && blocksize->size() == 2, op, ": conversion from ",
              sparse::name_of(self.layout()), " to ", sparse::name_of(layout),
              " without blocksize argument given is not supported");
  const Block block = {(*blocksize)[0], (*blocksize)[1]};
  TENON_CHECK(block[0] > 0 && block[1] > 0, op, ": blocksize needs to be positive, but got (",
              block[0], ",", block[1], ")");
  const int64_t height = self.sizes()[batch], width = self.sizes()[batch + 1];
  TENON_CHECK(height % block[0] == 0 && width % block[1] == 0, op, ": tensor sparse size (", height,
              ",", width, ") must be divisible by given blocksize (", block[0], ",", block[1], ")");
  return block;
}

}  // namespace

Tensor native::_to_sparse_sparse_dim(const Tensor& self, int64_t sparse_dim) {
  if (self.layout() != kStrided)
    return native::_to_sparse(self, kSparse, OptionalIntArrayRef(), std::nullopt);
  TENON_CHECK(sparse_dim >= 0 && sparse_dim <= self.dim(),
              "dense_to_sparse: sparse_dim argument must be in [0,", self.dim(), "] range, but ",
              sparse_dim, " is given");
  TENON_CHECK(sparse_dim > 0 || self.dim() == 0,
              "dense_to_sparse: sparse_dim argument must be in [1,", self.dim(),
              "] range when dim > 0, but ", sparse_dim, " is given");
  return coo_of_strided(self, sparse_dim);
}

Tensor native::_to_sparse(const Tensor& self, std::optional<Layout> layout,
                          OptionalIntArrayRef blocksize, std::optional<int64_t> dense_dim) {
  const Layout wanted = layout.value_or(kSparse);
  TENON_CHECK(wanted != kStrided,
              "to_sparse: conversion to Strided is not supported, use to_dense");
  const bool strided = self.layout() == kStrided;
  TENON_CHECK(strided || !dense_dim || *dense_dim == sparse::content_of(self).dense_dim,
              "to_sparse: conversion from ", sparse::name_of(self.layout()), " to ",
              sparse::name_of(wanted), " with dense_dim argument given is not supported");
  const int64_t dense = strided ? dense_dim.value_or(0) : sparse::content_of(self).dense_dim;
  const int64_t sparse_dim = self.dim() - dense;
  if (wanted == kSparse) {
    TENON_CHECK(!blocksize, "to_sparse: conversion from ", sparse::name_of(self.layout()),
                " to Sparse with blocksize argument given is not supported");
    TENON_CHECK(dense >= 0 && sparse_dim >= 0, "to_sparse: dense_dim must be in [0,", self.dim(),
                "] range, but ", dense, " is given");
    if (strided) return coo_of_strided(self, sparse_dim);
    if (self.layout() == kSparse) return Tensor(make_detached(self));
    return ops::coalesce::call(sparse::coo_of_compressed(self));
  }
  TENON_CHECK(dense >= 0 && sparse_dim >= 2, strided ? "dense" : "sparse",
              "_to_sparse: conversion to ", sparse::name_of(wanted),
              " needs two dimensions that are not dense, got a tensor of ", self.dim(),
              " dimensions and dense_dim ", dense);
  TENON_CHECK(self.layout() != kSparse || sparse_dim == 2,
              "sparse_to_sparse: conversion from Sparse to ", sparse::name_of(wanted),
              " for input "
              "tensors with sparse_dim()!=2 is not supported");
  if (self.layout() == wanted && (!blocksize || IntArrayRef(sparse::block_of(self)) == *blocksize))
    return Tensor(make_detached(self));
  const Block block = required_block(self, wanted, blocksize, static_cast<size_t>(sparse_dim - 2));
  const Tensor coo = strided ? coo_of_strided(self, sparse_dim)
                     : self.layout() == kSparse
                         ? ops::coalesce::call(self)
                         : ops::coalesce::call(sparse::coo_of_compressed(self));
  return compressed_of_coo(coo, wanted, block);
}

Tensor native::to_sparse_sparse_dim(const Tensor& self, int64_t sparse_dim) {
  if (self.layout() != kStrided) {
    TENON_CHECK(sparse_dim == sparse::content_of(self).sparse_dim, "to_sparse: conversion from ",
                sparse::name_of(self.layout()),
                " to Sparse with "
                "sparse_dim argument !=self.sparse_dim() is not supported");
    if (self.layout() == kSparse) return self;
  }
  return ops::_to_sparse_sparse_dim::call(self, sparse_dim);
}

Tensor native::to_sparse(const Tensor& self, std::optional<Layout> layout,
                         OptionalIntArrayRef blocksize, std::optional<int64_t> dense_dim) {
  if (self.layout() == layout.value_or(kSparse) && !blocksize && !dense_dim) return self;
  return ops::_to_sparse::call(self, layout, blocksize, dense_dim);
}

Tensor native::to_sparse_csr(const Tensor& self, std::optional<int64_t> dense_dim) {
  return ops::_to_sparse::call(self, kSparseCsr, std::nullopt, dense_dim);
}

Tensor native::to_sparse_csc(const Tensor& self, std::optional<int64_t> dense_dim) {
  return ops::_to_sparse::call(self, kSparseCsc, std::nullopt, dense_dim);
}

Tensor native::to_sparse_bsr(const Tensor& self, IntArrayRef blocksize,
                             std::optional<int64_t> dense_dim) {
  return ops::_to_sparse::call(self, kSparseBsr, blocksize, dense_dim);
}

Tensor native::to_sparse_bsc(const Tensor& self, IntArrayRef blocksize,
                             std::optional<int64_t> dense_dim) {
  return ops::_to_sparse::call(self, kSparseBsc, blocksize, dense_dim);
}

/// The gradient has the layout of self.
Tensor native::to_sparse_backward(const Tensor& grad, const Tensor& self) {
  if (self.layout() == grad.layout()) return grad;
  if (self.layout() == kStrided) return grad.to_dense();
  OptionalIntArrayRef blocksize;
  const Block block = has_blocks(self.layout()) ? sparse::block_of(self) : Block{1, 1};
  if (has_blocks(self.layout())) blocksize = IntArrayRef(block);
  return ops::_to_sparse::call(grad, self.layout(), blocksize, std::nullopt);
}

}  // namespace tenon
