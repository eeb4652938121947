#pragma once

#include <cstdint>

namespace tenon::native {

/// out = alpha * a @ b + beta * out + bias with rows of `out` contiguous: what the kernels of each
/// instruction set get.
template <class T>
struct GemmProblem {
  int64_t m, n, k;
  T alpha;
  const T* a;
  int64_t a_row, a_col;
  const T* b;
  int64_t b_row, b_col;
  T beta;
  T* out;
  int64_t out_row;
  const T* bias;      ///< per column, or null
  const T* row_bias;  ///< per row, or null

  /// The part with the given rows and columns of `out`.
  GemmProblem part(int64_t row, int64_t rows, int64_t column, int64_t columns) const {
    GemmProblem p = *this;
    p.m = rows;
    p.n = columns;
    p.a += row * a_row;
    p.b += column * b_col;
    p.out += row * out_row + column;
    if (bias) p.bias += column;
    if (row_bias) p.row_bias += row;
    return p;
  }
};

}  // namespace tenon::native
