#pragma once

#include "aten/common/contiguous.h"
#include "aten/cuda/copy.h"
#include "aten/cuda/gemm.h"

namespace tenon::cuda {

/// A tensor whose last two dimensions cuBLAS can read: `t` itself if one of them is dense, else a
/// copy.
inline TensorBase readable_matrices(const TensorBase& t) {
  const int64_t rows = t.size(-2), cols = t.size(-1);
  const bool by_rows = (t.stride(-1) == 1 || cols == 1) && (rows == 1 || t.stride(-2) >= cols);
  const bool by_columns = (t.stride(-2) == 1 || rows == 1) && (cols == 1 || t.stride(-1) >= rows);
  return by_rows || by_columns ? t : native::contiguous(t);
}

/// out = alpha * a @ b + beta * self, for a [(b,) m, k], b [(b,) k, n]; self broadcasts to out and
/// is null where nothing is added.
inline void add_product(const char* op, const TensorBase* self, const TensorBase& mat1,
                        const TensorBase& mat2, const Scalar& beta, const Scalar& alpha,
                        const TensorBase& out) {
  const TensorBase a = readable_matrices(mat1), b = readable_matrices(mat2);
  const ProductSizes sizes{a.dim() > 2 ? a.size(0) : 1, a.size(-2), b.size(-1), a.size(-1)};
  const bool adds = self && !beta.equal(0);
  // A row added to every row is fused into the product.
  const bool is_row = adds && self->dim() == 1 && self->size(0) == sizes.n &&
                      self->is_contiguous() && beta.equal(1) &&
                      self->scalar_type() == out.scalar_type();
  if (adds && !is_row) copy(out, *self);
  matrix_product(op, out.scalar_type(), sizes, alpha, native::matrices_of(a),
                 native::matrices_of(b), adds && !is_row ? beta : Scalar(0),
                 native::matrices_of(out), out.device(), is_row ? self->const_data_ptr() : nullptr);
}

}  // namespace tenon::cuda
