#include "aten/cpu/product.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "aten/core/parallel.h"
#include "aten/cpu/gemm.h"
#include "aten/cpu/onednn.h"
#include "aten/iterator/copy.h"

namespace tenon::native {
namespace {

// Matrices of a batch smaller than this are computed side by side, larger ones one after the other
// by all threads.
constexpr int64_t kLargeMatrix = int64_t{1} << 22;
constexpr int64_t kParallelWork = int64_t{1} << 19;

template <class T>
struct Wrapping {
  using type = T;  // of the arithmetic, in which integers do not overflow into undefined behaviour
};
template <>
struct Wrapping<int32_t> {
  using type = uint32_t;
};
template <>
struct Wrapping<int64_t> {
  using type = uint64_t;
};

/// Integers and complex numbers: a plain loop, in the order that runs along the rows of b and out.
template <class T>
void simple_product(int64_t m, int64_t n, int64_t k, T alpha, Matrix<const T> a, Matrix<const T> b,
                    T beta, Matrix<T> out, const T* bias) {
  using W = typename Wrapping<T>::type;
  parallel_for(0, m, std::max<int64_t>(1, kParallelWork / 8 / std::max<int64_t>(1, n * k)),
               [&](int64_t begin, int64_t end) {
                 std::vector<W> sums(n);
                 for (int64_t i = begin; i < end; ++i) {
                   std::fill(sums.begin(), sums.end(), W(0));
                   for (int64_t p = 0; p < k; ++p) {
                     const W x = static_cast<W>(a.data[i * a.row + p * a.col]);
                     const T* row = b.data + p * b.row;
                     for (int64_t j = 0; j < n; ++j) sums[j] += x * static_cast<W>(row[j * b.col]);
                   }
                   for (int64_t j = 0; j < n; ++j) {
                     T& o = out.data[i * out.row + j * out.col];
                     W r = static_cast<W>(alpha) * sums[j];
                     if (beta != T(0)) r += static_cast<W>(beta) * static_cast<W>(o);
                     if (bias) r += static_cast<W>(bias[j]);
                     o = static_cast<T>(r);
                   }
                 }
               });
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
  } else {
    simple_product<T>(m, n, k, alpha.to<T>(), a, b, beta.to<T>(), out, bias);
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

}  // namespace

MatrixBatch matrices_of(const TensorBase& t) {
  const int64_t d = t.dim();
  return {t.data_ptr(), d > 2 ? t.stride(d - 3) : 0, t.stride(d - 2), t.stride(d - 1)};
}

void matrix_product(const char* op, ScalarType dtype, ProductSizes sizes, const Scalar& alpha,
                    MatrixBatch a, MatrixBatch b, const Scalar& beta, MatrixBatch out,
                    const void* bias) {
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

TensorBase as_contiguous(const TensorBase& t) {
  if (t.is_contiguous()) return t;
  TensorBase fresh = empty(t.sizes(), t.scalar_type(), t.device());
  copy(fresh, t);
  return fresh;
}

}  // namespace tenon::native
