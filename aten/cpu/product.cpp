#include "aten/cpu/product.h"

#include <algorithm>
#include <complex>
#include <memory>
#include <type_traits>
#include <utility>

#include "aten/core/parallel.h"
#include "aten/cpu/gemm.h"
#include "aten/cpu/integer_product.h"
#include "aten/cpu/onednn.h"

namespace tenon::native {
namespace {

// Matrices of a batch smaller than this are computed side by side, larger ones one after the other
// by all threads.
constexpr int64_t kLargeMatrix = int64_t{1} << 22;
constexpr int64_t kParallelWork = int64_t{1} << 19;

/// Integers: sums modulo 2^32 or 2^64, of which the low bits are the result's.
template <class T>
void integer_matrices(int64_t m, int64_t n, int64_t k, T alpha, Matrix<const T> a,
                      Matrix<const T> b, T beta, Matrix<T> out, const T* bias) {
  using W = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  const int64_t width = integer_panel<W>(), panels = (n + width - 1) / width;
  const std::unique_ptr<W[]> packed(new W[panels * width * k]());
  for (int64_t p = 0; p < k; ++p) {
    for (int64_t j = 0; j < n; ++j) {
      packed[(j / width * k + p) * width + j % width] =
          static_cast<W>(b.data[p * b.row + j * b.col]);
    }
  }
  constexpr int64_t kRows = 16;  // at a time
  const auto rows = [&](int64_t begin, int64_t end) {
    const std::unique_ptr<W[]> x(new W[kRows * k]), sums(new W[kRows * panels * width]);
    for (int64_t at = begin; at < end; at += kRows) {
      const int64_t count = std::min(kRows, end - at);
      for (int64_t i = 0; i < count; ++i) {
        for (int64_t p = 0; p < k; ++p)
          x[i * k + p] = static_cast<W>(a.data[(at + i) * a.row + p * a.col]);
      }
      integer_product<W>(count, panels, k, x.get(), packed.get(), sums.get());
      for (int64_t i = 0; i < count; ++i) {
        for (int64_t j = 0; j < n; ++j) {
          T& o = out.data[(at + i) * out.row + j * out.col];
          W r = static_cast<W>(alpha) * sums[i * panels * width + j];
          if (beta != T(0)) r += static_cast<W>(beta) * static_cast<W>(o);
          if (bias) r += static_cast<W>(bias[j]);
          o = static_cast<T>(r);
        }
      }
    }
  };
  parallel_for(0, m, std::max(kRows, kParallelWork / std::max<int64_t>(1, n * k)), rows);
}

/// Float and double: gemm, by way of a row-major copy where neither rows nor columns of out are
/// contiguous.
template <class T>
void float_product(int64_t m, int64_t n, int64_t k, T alpha, Matrix<const T> a, Matrix<const T> b,
                   T beta, Matrix<T> out, const T* bias) {
  if (out.col == 1 || out.row == 1 || (m == 1 && n == 1)) {
    return gemm<T>(m, n, k, alpha, a, b, beta, out, bias);
  }
  const std::unique_ptr<T[]> buffer(new T[m * n]);
  const Matrix<T> rows{buffer.get(), n, 1};
  gemm<T>(m, n, k, alpha, a, b, T(0), rows, bias);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      T& o = out.data[i * out.row + j * out.col];
      o = beta == 0 ? rows.data[i * n + j] : beta * o + rows.data[i * n + j];
    }
  }
}

/// Complex numbers as one real product of twice the depth and width: a row of a, read as the reals
/// (re, im, re, im, ...), times rows of b that stand for 1 and for i.
template <class R>
void complex_product(int64_t m, int64_t n, int64_t k, std::complex<R> alpha,
                     Matrix<const std::complex<R>> a, Matrix<const std::complex<R>> b,
                     std::complex<R> beta, Matrix<std::complex<R>> out,
                     const std::complex<R>* bias) {
  using T = std::complex<R>;
  const bool one = alpha == T(1);
  const auto times = [](T x, T y) {  // without the library's care for infinities
    return T(x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real());
  };
  const bool in_place = out.col == 1 && beta.imag() == 0, rows_lie = a.col == 1;
  const std::unique_ptr<T[]> buffer(
      new T[2 * k * n + (rows_lie ? 0 : m * k) + (in_place ? 0 : m * n)]);
  T* pairs = buffer.get();
  T* rows = pairs + 2 * k * n;
  T* result = rows + (rows_lie ? 0 : m * k);
  for (int64_t p = 0; p < k; ++p) {
    T* re = pairs + 2 * p * n;
    T* im = re + n;
    for (int64_t j = 0; j < n; ++j) {
      T x = b.data[p * b.row + j * b.col];
      if (!one) x = times(alpha, x);
      re[j] = x;
      im[j] = T(-x.imag(), x.real());
    }
  }
  for (int64_t i = 0; !rows_lie && i < m; ++i) {
    for (int64_t p = 0; p < k; ++p) rows[i * k + p] = a.data[i * a.row + p * a.col];
  }
  const auto reals = [](auto* p) { return reinterpret_cast<const R*>(p); };
  const Matrix<const R> left = rows_lie ? Matrix<const R>{reals(a.data), 2 * a.row, 1}
                                        : Matrix<const R>{reals(rows), 2 * k, 1};
  const Matrix<R> to = in_place ? Matrix<R>{reinterpret_cast<R*>(out.data), 2 * out.row, 1}
                                : Matrix<R>{reinterpret_cast<R*>(result), 2 * n, 1};
  gemm<R>(m, 2 * n, 2 * k, R(1), left, {reals(pairs), 2 * n, 1}, in_place ? beta.real() : R(0), to,
          bias ? reals(bias) : nullptr);
  for (int64_t i = 0; !in_place && i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      T& o = out.data[i * out.row + j * out.col];
      o = beta == T(0) ? result[i * n + j] : times(beta, o) + result[i * n + j];
    }
  }
}

/// Half types, in float.
template <class T>
void reduced_product(int64_t m, int64_t n, int64_t k, float alpha, Matrix<const T> a,
                     Matrix<const T> b, float beta, Matrix<T> out, const T* bias) {
  const std::unique_ptr<float[]> buffer(new float[m * k + k * n + m * n + n]);
  float* fa = buffer.get();
  float* fb = fa + m * k;
  float* fo = fb + k * n;
  float* fbias = fo + m * n;
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t p = 0; p < k; ++p) fa[i * k + p] = a.data[i * a.row + p * a.col];
  }
  // Kept in the order of memory, so that the conversion runs along it.
  const Matrix<const T> bt = b.col == 1 ? b : b.transposed();
  const int64_t outer = b.col == 1 ? k : n, inner = b.col == 1 ? n : k;
  for (int64_t i = 0; i < outer; ++i) {
    for (int64_t p = 0; p < inner; ++p) fb[i * inner + p] = bt.data[i * bt.row + p * bt.col];
  }
  if (bias) std::copy_n(bias, n, fbias);
  const Matrix<const float> stored{fb, inner, 1};
  gemm<float>(m, n, k, alpha, {fa, k, 1}, b.col == 1 ? stored : stored.transposed(), 0, {fo, n, 1},
              bias ? fbias : nullptr);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      T& o = out.data[i * out.row + j * out.col];
      o = T(beta == 0 ? fo[i * n + j] : beta * static_cast<float>(o) + fo[i * n + j]);
    }
  }
}

template <class T>
void one_product(int64_t m, int64_t n, int64_t k, const Scalar& alpha, Matrix<const T> a,
                 Matrix<const T> b, const Scalar& beta, Matrix<T> out, const T* bias) {
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    float_product<T>(m, n, k, alpha.to<T>(), a, b, beta.to<T>(), out, bias);
  } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    reduced_product<T>(m, n, k, alpha.to<float>(), a, b, beta.to<float>(), out, bias);
  } else if constexpr (std::is_integral_v<T>) {
    integer_matrices<T>(m, n, k, alpha.to<T>(), a, b, beta.to<T>(), out, bias);
  } else {
    complex_product<typename T::value_type>(m, n, k, alpha.to<T>(), a, b, beta.to<T>(), out, bias);
  }
}

template <class T>
void typed_product(ProductSizes s, const Scalar& alpha, MatrixBatch a, MatrixBatch b,
                   const Scalar& beta, MatrixBatch out, const void* bias) {
  const auto one = [&](int64_t l) {
    one_product<T>(
        s.m, s.n, s.k, alpha, {static_cast<const T*>(a.data) + l * a.batch, a.row, a.col},
        {static_cast<const T*>(b.data) + l * b.batch, b.row, b.col}, beta,
        {static_cast<T*>(out.data) + l * out.batch, out.row, out.col}, static_cast<const T*>(bias));
  };
  if (s.batch == 1) return one(0);
  const int64_t work = std::max<int64_t>(1, s.m * s.n * std::max<int64_t>(s.k, 1));
  if (work >= kLargeMatrix && s.batch % get_num_threads() != 0) {
    for (int64_t l = 0; l < s.batch; ++l) one(l);
    return;
  }
  parallel_for(0, s.batch, std::max<int64_t>(1, kParallelWork / work),
               [&](int64_t begin, int64_t end) {
                 for (int64_t l = begin; l < end; ++l) one(l);
               });
}

/// Whether the rows of all matrices, `rows` each, are those of one matrix.
bool are_rows_of_one(const MatrixBatch& x, int64_t rows) {
  return rows == 1 || x.batch == rows * x.row;
}

}  // namespace

void matrix_product(const char* op, ScalarType dtype, ProductSizes sizes, const Scalar& alpha,
                    MatrixBatch a, MatrixBatch b, const Scalar& beta, MatrixBatch out,
                    const void* bias) {
  // A batch whose second matrix is always the same, as an expanded one is: one product.
  if (sizes.batch > 1 && b.batch == 0 && are_rows_of_one(a, sizes.m) &&
      are_rows_of_one(out, sizes.m)) {
    if (sizes.m == 1) {
      a.row = a.batch;
      out.row = out.batch;
    }
    sizes.m *= std::exchange(sizes.batch, 1);
  }
  if (dtype == kFloat && sizes.batch == 1) {  // the common case, without the switch and the loop
    return float_product<float>(sizes.m, sizes.n, sizes.k, alpha.to<float>(),
                                {static_cast<const float*>(a.data), a.row, a.col},
                                {static_cast<const float*>(b.data), b.row, b.col}, beta.to<float>(),
                                {static_cast<float*>(out.data), out.row, out.col},
                                static_cast<const float*>(bias));
  }
  if (sizes.batch == 0 || sizes.m == 0 || sizes.n == 0) return;
  if (is_reduced_floating_point(dtype) && alpha.equal(1) && beta.equal(0) &&
      onednn::matrix_product(dtype, sizes, a, b, out, bias)) {
    return;
  }
  switch (dtype) {
#define TENON_PRODUCT(T, Name) \
  case ScalarType::Name: return typed_product<T>(sizes, alpha, a, b, beta, out, bias);
    TENON_FORALL_INTEGRAL(TENON_PRODUCT)
    TENON_FORALL_FLOATING(TENON_PRODUCT)
    TENON_FORALL_REDUCED_FLOATING(TENON_PRODUCT)
    TENON_FORALL_COMPLEX(TENON_PRODUCT)
#undef TENON_PRODUCT
  default:
    detail::raise<NotImplementedError>("[", op, "] is not implemented for ", to_string(dtype));
  }
}

}  // namespace tenon::native
