#include "tenon/native/values.h"

#include "aten/sparse/sparse_tensor.h"
#include "tenon/native/_coalesced.h"
#include "tenon/native/_indices.h"
#include "tenon/native/_nnz.h"
#include "tenon/native/_values.h"
#include "tenon/native/ccol_indices.h"
#include "tenon/native/col_indices.h"
#include "tenon/native/crow_indices.h"
#include "tenon/native/dense_dim.h"
#include "tenon/native/indices.h"
#include "tenon/native/is_coalesced.h"
#include "tenon/native/row_indices.h"
#include "tenon/native/sparse_dim.h"
#include "tenon/native/sparse_resize.h"
#include "tenon/native/sparse_resize_and_clear.h"
#include "tenon/ops/cat.h"
#include "tenon/ops/zeros.h"

namespace tenon {
namespace {

void check_coo(const char* op, const Tensor& self) {
  TENON_CHECK(self.layout() == kSparse, op, " expected sparse coordinate tensor layout but got ",
              sparse::name_of(self.layout()));
}

void check_sparse(const char* op, const Tensor& self) {
  TENON_CHECK(self.layout() != kStrided, op, " expected sparse tensor layout but got Strided");
}

void check_compressed(const char* op, const Tensor& self, bool rows) {
  TENON_CHECK(sparse::is_compressed(self.layout()) &&
                  sparse::compresses_rows(self.layout()) == rows,
              op, " expected sparse ", rows ? "row" : "column",
              " compressed tensor layout but got ", sparse::name_of(self.layout()));
}

void check_is_coalesced(const char* op, const Tensor& self) {
  TENON_CHECK(sparse::content_of(self).coalesced, "Cannot get ", op,
              " on an uncoalesced tensor, please call .coalesce() first");
}

}  // namespace

int64_t native::sparse_dim(const Tensor& self) {
  return self.layout() == kStrided ? 0 : sparse::content_of(self).sparse_dim;
}

int64_t native::dense_dim(const Tensor& self) {
  return self.layout() == kStrided ? self.dim() : sparse::content_of(self).dense_dim;
}

int64_t native::_nnz(const Tensor& self) {
  check_sparse("_nnz", self);
  const SparseValue& content = sparse::content_of(self);
  return self.layout() == kSparse ? content.indices->sizes[1] : content.plain_indices->sizes.back();
}

bool native::is_coalesced(const Tensor& self) {
  check_coo("is_coalesced", self);
  return sparse::content_of(self).coalesced;
}

Tensor& native::_coalesced_(Tensor& self, bool coalesced) {
  check_coo("_coalesced_", self);
  sparse::content_of(self).coalesced = coalesced;
  return self;
}

Tensor native::_indices(const Tensor& self) {
  check_coo("_indices", self);
  return sparse::indices_of(self);
}

Tensor native::_values(const Tensor& self) {
  check_coo("_values", self);
  return sparse::values_of(self);
}

Tensor native::indices(const Tensor& self) {
  check_coo("indices", self);
  check_is_coalesced("indices", self);
  return sparse::indices_of(self);
}

Tensor native::values(const Tensor& self) {
  check_sparse("values", self);
  if (self.layout() == kSparse) check_is_coalesced("values", self);
  return sparse::values_of(self);
}

Tensor native::crow_indices(const Tensor& self) {
  check_compressed("crow_indices", self, true);
  return sparse::compressed_of(self);
}

Tensor native::col_indices(const Tensor& self) {
  check_compressed("col_indices", self, true);
  return sparse::plain_of(self);
}

Tensor native::ccol_indices(const Tensor& self) {
  check_compressed("ccol_indices", self, false);
  return sparse::compressed_of(self);
}

Tensor native::row_indices(const Tensor& self) {
  check_compressed("row_indices", self, false);
  return sparse::plain_of(self);
}

Tensor& native::sparse_resize_and_clear_(Tensor& self, IntArrayRef size, int64_t sparse_dim,
                                         int64_t dense_dim) {
  check_coo("sparse_resize_and_clear_", self);
  TENON_CHECK(sparse_dim >= 0 && dense_dim >= 0 &&
                  sparse_dim + dense_dim == static_cast<int64_t>(size.size()),
              "'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = ", size.size(),
              ", sparse_dim = ", sparse_dim, ", dense_dim = ", dense_dim);
  DimVector row;
  row.push_back(0);
  for (const int64_t one : size.slice(static_cast<size_t>(sparse_dim))) row.push_back(one);
  sparse::become(self, sparse::make_coo(size, sparse_dim, tenon::zeros({sparse_dim, 0}, kLong),
                                        tenon::zeros(row, self.scalar_type()), true));
  return self;
}

Tensor& native::sparse_resize_(Tensor& self, IntArrayRef size, int64_t sparse_dim,
                               int64_t dense_dim) {
  check_coo("sparse_resize_", self);
  const SparseValue& content = sparse::content_of(self);
  if (content.indices->sizes[1] == 0)
    return sparse_resize_and_clear_(self, size, sparse_dim, dense_dim);
  TENON_CHECK(sparse_dim == content.sparse_dim && dense_dim == content.dense_dim,
              "[sparse_resize_] the numbers of dimensions of a tensor with elements must stay ",
              content.sparse_dim, " and ", content.dense_dim, ", got ", sparse_dim, " and ",
              dense_dim);
  const auto n = static_cast<size_t>(sparse_dim);
  for (size_t d = 0; d < size.size(); ++d) {
    TENON_CHECK(d < n ? size[d] >= self.sizes()[d] : size[d] == self.sizes()[d],
                "[sparse_resize_] a tensor with elements can only grow, along its sparse "
                "dimensions, got sizes ",
                size, " for ", self.sizes());
  }
  sparse::become(self, sparse::make_coo(size, sparse_dim, sparse::indices_of(self),
                                        sparse::values_of(self), content.coalesced));
  return self;
}

}  // namespace tenon
