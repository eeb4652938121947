#pragma once

#include <algorithm>

#include "aten/common/check_device.h"
#include "aten/meta/tensor_spec.h"

/// Checks and results of operators on matrices [..., m, n]. `op` is the name in messages, as
/// "linalg.inv".
namespace tenon::meta {

/// All dimensions but the last two.
inline DimVector batch_sizes(const TensorBase& t) {
  return DimVector(t.sizes().begin(), t.sizes().end() - 2);
}

inline void check_matrix(const char* op, const char* name, const TensorBase& t) {
  TENON_CHECK(t.dim() >= 2, "[", op, "] The input tensor ", name,
              " must have at least 2 dimensions, got ", t.sizes());
}

inline void check_square(const char* op, const char* name, const TensorBase& t) {
  check_matrix(op, name, t);
  TENON_CHECK(t.size(-1) == t.size(-2), "[", op, "] ", name,
              " must be batches of square matrices, but they are ", t.size(-2), " by ", t.size(-1),
              " matrices");
}

/// float, double and their complex types, which LAPACK has.
inline void check_lapack_dtype(const char* op, const TensorBase& t) {
  TENON_CHECK_NOT_IMPLEMENTED(is_differentiable(t.scalar_type()), "[", op,
                              "] Expected a floating point or complex tensor as input. Got ",
                              t.scalar_type());
  TENON_CHECK_NOT_IMPLEMENTED(!is_reduced_floating_point(t.scalar_type()), "[", op,
                              "] Low precision dtypes not supported. Got ", t.scalar_type());
}

/// A X = B, or X A = B if not left, for matrices: dtypes and sizes fit. `a` names A.
inline void check_system(const char* op, const char* a, const TensorBase& A, const TensorBase& B,
                         bool left) {
  TENON_CHECK(A.scalar_type() == B.scalar_type(), "[", op, "] Expected ", a,
              " and B to have the same dtype, but found ", a, " of type ", A.scalar_type(),
              " and B of type ", B.scalar_type(), " instead");
  check_same_device(op, a, A, "B", B);
  TENON_CHECK(left ? A.size(-2) == B.size(-2) : A.size(-1) == B.size(-1), "[", op,
              "] Incompatible shapes of A and B for the equation ", left ? "AX = B" : "XA = B",
              " (", A.size(-2), "x", A.size(-1), " and ", B.size(-2), "x", B.size(-1), ")");
}

/// The sizes that both batches are broadcast to.
inline DimVector broadcast_batch(const char* op, IntArrayRef a, IntArrayRef b) {
  const size_t dims = std::max(a.size(), b.size());
  DimVector sizes(dims, 1);
  for (size_t i = 1; i <= dims; ++i) {
    const int64_t x = i <= a.size() ? a[a.size() - i] : 1, y = i <= b.size() ? b[b.size() - i] : 1;
    TENON_CHECK(x == y || x == 1 || y == 1, "[", op, "] The size of tensor a (", x,
                ") must match the size of tensor b (", y, ") at non-singleton dimension ",
                dims - i);
    sizes[dims - i] = x == 1 ? y : x;
  }
  return sizes;
}

/// Matrices in the last two dimensions, one after the other, each column by column.
inline TensorSpec column_major(DimVector batch, int64_t rows, int64_t columns,
                               const TensorBase& like) {
  DimVector& sizes = batch;
  sizes.push_back(rows);
  sizes.push_back(columns);
  DimVector strides(sizes.size(), 1);
  int64_t step = std::max<int64_t>(rows, 1) * std::max<int64_t>(columns, 1);
  for (auto d = static_cast<int64_t>(sizes.size()) - 3; d >= 0; --d) {
    strides[static_cast<size_t>(d)] = step;
    step *= std::max<int64_t>(sizes[static_cast<size_t>(d)], 1);
  }
  strides.back() = std::max<int64_t>(rows, 1);
  return TensorSpec(sizes, strides, like.scalar_type(), like.device());
}

}  // namespace tenon::meta
