#include "aten/cpu/gemm.h"
#include "tenon/native/addmm.h"
#include "tenon/native/baddbmm.h"
#include "tenon/native/bmm.h"
#include "tenon/native/dot.h"
#include "tenon/native/linear.h"
#include "tenon/native/mm.h"
#include "tenon/native/mv.h"
#include "tests/aten/cpu/reference.h"

using namespace tenon;
using namespace tenon::test;

namespace {

/// a [batch, m, k] @ b [batch, k, n]
Values product(const Values& a, const Values& b, int64_t batch, int64_t m, int64_t n, int64_t k) {
  Values out(batch * m * n, 0.0);
  for (int64_t l = 0; l < batch; ++l) {
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t p = 0; p < k; ++p) {
        for (int64_t j = 0; j < n; ++j) {
          out[(l * m + i) * n + j] += a[(l * m + i) * k + p] * b[(l * k + p) * n + j];
        }
      }
    }
  }
  return out;
}

Tensor mm(const Tensor& a, const Tensor& b) {
  const TensorSpec spec = native::mm_meta(a, b);
  Tensor out = empty(spec.sizes, spec.dtype, kCPU);
  native::mm_cpu(a, b, out);
  return out;
}

double tolerance_of(ScalarType t) {
  return t == kBFloat16 ? 5e-2 : t == kHalf ? 5e-3 : t == kFloat ? 1e-5 : 1e-12;
}

constexpr int64_t kSizes[][3] = {{1, 1, 1},     {4, 4, 4},    {3, 5, 7},      {16, 16, 16},
                                 {17, 33, 65},  {14, 32, 9},  {15, 31, 300},  {1, 100, 77},
                                 {100, 1, 77},  {49, 50, 60}, {130, 70, 513}, {340, 40, 30},
                                 {2, 2100, 20}, {64, 3, 257}};

}  // namespace

TEST_CASE("mm of every dtype, size and layout") {
  for (const ScalarType dtype : {kFloat, kDouble, kHalf, kBFloat16, kLong, kInt, kShort}) {
    for (const auto& [m, n, k] : kSizes) {
      for (int layout = 0; layout < 4; ++layout) {
        const Tensor a = layout & 1 ? random_strided({m, k}, dtype) : random_tensor({m, k}, dtype);
        const Tensor b = layout & 2 ? random_strided({k, n}, dtype) : random_tensor({k, n}, dtype);
        INFO(m << "x" << k << " @ " << k << "x" << n << " of " << dtype << ", layout " << layout);
        require_close(mm(a, b), product(values(a), values(b), 1, m, n, k),
                      tolerance_of(dtype) * std::sqrt(double(k)));
      }
    }
  }
}

TEST_CASE("mm of transposed operands reads them in place") {
  for (const auto& [m, n, k] : kSizes) {
    for (const ScalarType dtype : {kFloat, kDouble, kBFloat16}) {
      const Tensor a = random_tensor({k, m}, dtype), b = random_tensor({n, k}, dtype);
      const Tensor at = make_view(a, {m, k}, {1, m}, 0), bt = make_view(b, {k, n}, {1, k}, 0);
      require_close(mm(at, bt), product(values(at), values(bt), 1, m, n, k),
                    tolerance_of(dtype) * std::sqrt(double(k)));
    }
  }
}

TEST_CASE("mm writes any layout of out") {
  for (const ScalarType dtype : {kFloat, kDouble, kBFloat16, kLong}) {
    const Tensor a = random_tensor({37, 21}, dtype), b = random_tensor({21, 19}, dtype);
    const Values wanted = product(values(a), values(b), 1, 37, 19, 21);
    const Tensor strided = random_strided({37, 19}, dtype);
    native::mm_cpu(a, b, strided);
    require_close(strided, wanted, tolerance_of(dtype) * 5);
    const Tensor columns = empty_strided({37, 19}, {1, 37}, dtype, kCPU);
    native::mm_cpu(a, b, columns);
    require_close(columns, wanted, tolerance_of(dtype) * 5);
  }
}

TEST_CASE("mm of complex matrices") {
  using C = std::complex<double>;
  const Tensor a = empty({3, 2}, kComplexDouble, kCPU), b = empty({2, 4}, kComplexDouble, kCPU);
  for (int i = 0; i < 6; ++i) a.data_ptr<C>()[i] = C(i, 1 - i);
  for (int i = 0; i < 8; ++i) b.data_ptr<C>()[i] = C(2 - i, i);
  const Tensor out = mm(a, b);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 4; ++j) {
      const C wanted = a.data_ptr<C>()[i * 2] * b.data_ptr<C>()[j] +
                       a.data_ptr<C>()[i * 2 + 1] * b.data_ptr<C>()[4 + j];
      REQUIRE(std::abs(out.data_ptr<C>()[i * 4 + j] - wanted) < 1e-12);
    }
  }
}

namespace {

template <class C>
void check_complex(ScalarType dtype, double tolerance) {
  for (const auto& [m, n, k] : kSizes) {
    for (int layout = 0; layout < 8; ++layout) {
      const auto make = [&](int64_t rows, int64_t columns, bool transposed) {
        return transposed ? empty_strided({rows, columns}, {1, rows}, dtype, kCPU)
                          : empty({rows, columns}, dtype, kCPU);
      };
      const Tensor a = make(m, k, layout & 1), b = make(k, n, layout & 2),
                   c = make(m, n, layout & 4);
      const auto fill = [](const Tensor& t) {
        const Values re = values(random_tensor(t.numel())), im = values(random_tensor(t.numel()));
        for (int64_t i = 0; i < t.numel(); ++i) t.data_ptr<C>()[i] = C(re[i], im[i]);
      };
      const auto at = [](const Tensor& t, int64_t i, int64_t j) {
        return std::complex<double>(t.data_ptr<C>()[i * t.stride(0) + j * t.stride(1)]);
      };
      const C *left = a.data_ptr<C>(), *right = b.data_ptr<C>();
      const int64_t left_step = a.stride(1), right_step = b.stride(0);
      fill(a), fill(b), fill(c);
      const std::complex<double> alpha = layout & 1 ? std::complex<double>(0.5, -2) : 1,
                                 beta = layout & 2 ? std::complex<double>(1, 3) : 2;
      const Tensor product = make(m, n, layout & 4), sum = make(m, n, layout & 4);
      native::mm_cpu(a, b, product);
      native::addmm_cpu(c, a, b, beta, alpha, sum);
      for (int64_t i = 0; i < m; ++i) {
        for (int64_t j = 0; j < n; ++j) {
          // In real numbers, and with pointers that move on: without optimization, calls are most
          // of the time.
          double real = 0, imag = 0;
          const C *x = left + i * a.stride(0), *y = right + j * b.stride(1);
          for (int64_t p = 0; p < k; ++p, x += left_step, y += right_step) {
            const auto& u = reinterpret_cast<const typename C::value_type(&)[2]>(*x);
            const auto& v = reinterpret_cast<const typename C::value_type(&)[2]>(*y);
            const double ur = u[0], ui = u[1], vr = v[0], vi = v[1];
            real += ur * vr - ui * vi;
            imag += ur * vi + ui * vr;
          }
          const std::complex<double> wanted(real, imag);
          const double bound = tolerance * std::sqrt(double(k)) * 4;
          if (std::abs(at(product, i, j) - wanted) < bound &&
              std::abs(at(sum, i, j) - (beta * at(c, i, j) + alpha * wanted)) < 4 * bound) {
            continue;
          }
          INFO(m << "x" << k << " @ " << k << "x" << n << ", layout " << layout << " at " << i
                 << ", " << j);
          REQUIRE(false);
        }
      }
    }
  }
}

}  // namespace

TEST_CASE("mm and addmm of complex matrices of every size and layout") {
  check_complex<std::complex<float>>(kComplexFloat, 1e-5);
  check_complex<std::complex<double>>(kComplexDouble, 1e-13);
}

TEST_CASE("mm of integers wraps around") {
  const auto check = [](ScalarType dtype, double x, double y, double wanted) {
    const Tensor a = tensor_of({1, 2}, dtype, {x, 1}), b = tensor_of({2, 1}, dtype, {y, 5});
    require_close(mm(a, b), {wanted}, 0);
  };
  check(kInt, 65536, 65536, 5);
  check(kInt, -3, 7, -16);
  check(kShort, 256, 256, 5);
  check(kByte, 200, 3, 93);
  check(kChar, -100, 2, 61);
  check(kLong, 4294967296.0, 4294967296.0, 5);
  check(kLong, -4294967296.0, 2, -8589934587.0);
}

TEST_CASE("mm with an empty dimension") {
  require_close(mm(random_tensor({3, 0}), random_tensor({0, 40})), Values(120, 0.0));
  require_close(mm(random_tensor({30, 0}, kDouble), random_tensor({0, 40}, kDouble)),
                Values(1200, 0.0));
  require_close(mm(random_tensor({3, 0}, kLong), random_tensor({0, 4}, kLong)), Values(12, 0.0));
  require_close(mm(random_tensor({3, 0}, kBFloat16), random_tensor({0, 4}, kBFloat16)),
                Values(12, 0.0));
  REQUIRE(mm(random_tensor({0, 3}), random_tensor({3, 4})).numel() == 0);
}

TEST_CASE("mm propagates NaN and infinity") {
  const double nan = std::nan("");
  const Tensor a = tensor_of({2, 2}, kFloat, {nan, 1, 2, INFINITY});
  const Tensor b = tensor_of({2, 2}, kFloat, {0, 1, 1, 1});
  require_close(mm(a, b), {nan, nan, INFINITY, INFINITY});
}

TEST_CASE("addmm: beta, alpha and the forms of self") {
  for (const ScalarType dtype : {kFloat, kDouble, kLong, kBFloat16}) {
    const Tensor a = random_tensor({20, 30}, dtype), b = random_tensor({30, 18}, dtype);
    const Values ab = product(values(a), values(b), 1, 20, 18, 30);
    for (const auto& sizes :
         {DimVector{18}, DimVector{20, 18}, DimVector{20, 1}, DimVector{1}, DimVector{}}) {
      const Tensor self = random_tensor(sizes, dtype);
      const Values s = values(self);
      for (const int beta : {0, 1, 2}) {
        for (const int alpha : {1, 3}) {
          Values wanted(20 * 18);
          for (int i = 0; i < 20; ++i) {
            for (int j = 0; j < 18; ++j) {
              const size_t at = self.numel() == 1   ? 0
                                : self.dim() == 1   ? j
                                : self.size(1) == 1 ? i
                                                    : i * 18 + j;
              wanted[i * 18 + j] = beta * s[at] + alpha * ab[i * 18 + j];
            }
          }
          const TensorSpec spec = native::addmm_meta(self, a, b, beta, alpha);
          const Tensor out = empty(spec.sizes, spec.dtype, kCPU);
          native::addmm_cpu(self, a, b, beta, alpha, out);
          require_close(out, wanted, tolerance_of(dtype) * 20);
        }
      }
    }
  }
}

TEST_CASE("addmm with beta 0 ignores NaN in self") {
  const Tensor self = tensor_of({2, 2}, kFloat, Values(4, std::nan("")));
  const Tensor a = tensor_of({2, 1}, kFloat, {1, 2}), b = tensor_of({1, 2}, kFloat, {3, 4});
  native::addmm_cpu(self, a, b, 0, 1, self);
  require_close(self, {3, 4, 6, 8});
}

TEST_CASE("bmm and baddbmm") {
  for (const ScalarType dtype : {kFloat, kDouble, kInt, kHalf}) {
    for (const auto& [batch, m, n, k] : {std::array<int64_t, 4>{3, 5, 7, 9},
                                         {7, 16, 16, 16},
                                         {2, 40, 50, 30},
                                         {0, 3, 4, 5},
                                         {2, 3, 4, 0}}) {
      const Tensor a = random_strided({batch, m, k}, dtype),
                   b = random_tensor({batch, k, n}, dtype);
      const Values ab = product(values(a), values(b), batch, m, n, k);
      const Tensor out = empty(native::bmm_meta(a, b).sizes, dtype, kCPU);
      native::bmm_cpu(a, b, out);
      require_close(out, ab, tolerance_of(dtype) * 10);
      const Tensor self = random_tensor({m, 1}, dtype);
      native::baddbmm_meta(self, a, b, 2, 3);
      native::baddbmm_cpu(self, a, b, 2, 3, out);
      Values wanted(ab.size());
      for (size_t i = 0; i < ab.size(); ++i) wanted[i] = 2 * values(self)[i / n % m] + 3 * ab[i];
      require_close(out, wanted, tolerance_of(dtype) * 30);
    }
  }
}

TEST_CASE("mv and dot") {
  for (const ScalarType dtype : {kFloat, kDouble, kLong, kBFloat16}) {
    for (const auto& [m, k] :
         {std::array<int64_t, 2>{3, 4}, {100, 33}, {1, 1000}, {517, 260}, {4, 0}}) {
      const Tensor a = random_tensor({m, k}, dtype), at = random_strided({m, k}, dtype);
      const Tensor x = random_tensor(k, dtype), xs = random_strided(k, dtype);
      require_close(native::mv_cpu(a, x), product(values(a), values(x), 1, m, 1, k),
                    tolerance_of(dtype) * 40);
      require_close(native::mv_cpu(at, xs), product(values(at), values(xs), 1, m, 1, k),
                    tolerance_of(dtype) * 40);
      require_close(native::dot_cpu(x, xs), product(values(x), values(xs), 1, 1, 1, k),
                    tolerance_of(dtype) * 40);
      require_close(native::dot_cpu(x, x), product(values(x), values(x), 1, 1, 1, k),
                    tolerance_of(dtype) * 200);
    }
  }
}

TEST_CASE("linear over every rank of input") {
  for (const ScalarType dtype : {kFloat, kDouble, kBFloat16}) {
    const Tensor w = random_tensor({12, 35}, dtype), bias = random_tensor(12, dtype);
    for (const auto& sizes : {DimVector{35}, DimVector{1, 35}, DimVector{20, 35},
                              DimVector{2, 3, 35}, DimVector{2, 0, 35}}) {
      for (const bool strided : {false, true}) {
        const Tensor x = strided ? random_strided(sizes, dtype) : random_tensor(sizes, dtype);
        const int64_t rows = x.numel() / 35;
        Values wanted(rows * 12), xv = values(x), wv = values(w), bv = values(bias);
        for (int64_t r = 0; r < rows; ++r) {
          for (int64_t o = 0; o < 12; ++o) {
            double sum = bv[o];
            for (int64_t i = 0; i < 35; ++i) sum += xv[r * 35 + i] * wv[o * 35 + i];
            wanted[r * 12 + o] = sum;
          }
        }
        const Tensor out = native::linear_cpu(x, w, bias);
        DimVector shape(sizes);
        shape.back() = 12;
        REQUIRE(out.sizes() == IntArrayRef(shape));
        require_close(out, wanted, tolerance_of(dtype) * 6);
      }
    }
  }
}

TEST_CASE("matrix products name what does not fit") {
  const Tensor a = random_tensor({2, 3}), v = random_tensor(3);
  require_error([&] { native::mm_meta(a, a); },
                "[mm] mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)");
  require_error([&] { native::mm_meta(a, v); }, "mat2 must be a matrix");
  require_error(
      [&] {
        native::mm_meta(a, random_tensor({3, 2}, kDouble));
      },
      "same dtype, but got: Float != Double");
  require_error(
      [&] {
        mm(empty({1, 1}, kBool, kCPU), empty({1, 1}, kBool, kCPU));
      },
      "[mm] is not implemented for Bool");
  require_error(
      [&] {
        native::addmm_meta(random_tensor(4), a, random_tensor({3, 2}), 1, 1);
      },
      "cannot be expanded");
  require_error(
      [&] {
        native::bmm_meta(random_tensor({2, 3, 4}), random_tensor({2, 3, 4}));
      },
      "Expected size for first two dimensions of batch2 tensor to be: [2, 4] but got: [2, 3].");
  require_error([&] { native::mv_cpu(a, random_tensor(2)); },
                "size mismatch, got input (2), mat (2x3), vec (2)");
  require_error([&] { native::dot_cpu(a, v); }, "1D tensors expected, but got 2D and 1D tensors");
  require_error(
      [&] {
        native::linear_cpu(a, random_tensor({4, 2}), {});
      },
      "[linear] mat1 and mat2 shapes cannot be multiplied (2x3 and 2x4)");
}
