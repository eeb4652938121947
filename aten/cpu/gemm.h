#pragma once

#include <cstdint>

namespace tenon::native {

/// A strided matrix: element (i, j) is data[i * row + j * col].
template <class T>
struct Matrix {
  T* data;
  int64_t row;
  int64_t col;

  Matrix transposed() const { return {data, col, row}; }
};

/// out = alpha * a @ b + beta * out + bias, for a [m, k], b [k, n], out [m, n] with `out.col == 1`
/// or `out.row == 1` (or one row or column), bias [n] or null. `out` is not read when beta is 0 and
/// may not overlap the operands. For float and double; on several threads where that pays.
template <class T>
void gemm(int64_t m, int64_t n, int64_t k, T alpha, Matrix<const T> a, Matrix<const T> b, T beta,
          Matrix<T> out, const T* bias = nullptr);

extern template void gemm<float>(int64_t, int64_t, int64_t, float, Matrix<const float>,
                                 Matrix<const float>, float, Matrix<float>, const float*);
extern template void gemm<double>(int64_t, int64_t, int64_t, double, Matrix<const double>,
                                  Matrix<const double>, double, Matrix<double>, const double*);

/// sum of a[i] * b[i]; unit strides are the fast case.
template <class T>
T dot_product(int64_t n, const T* a, int64_t a_step, const T* b, int64_t b_step);

extern template float dot_product<float>(int64_t, const float*, int64_t, const float*, int64_t);
extern template double dot_product<double>(int64_t, const double*, int64_t, const double*, int64_t);

}  // namespace tenon::native
