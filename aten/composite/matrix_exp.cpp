#include "tenon/native/matrix_exp.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "aten/iterator/element_copy.h"
#include "aten/meta/matrices.h"
#include "tenon/native/_matrix_exp_differential.h"
#include "tenon/ops/abs.h"
#include "tenon/ops/add.h"
#include "tenon/ops/amax.h"
#include "tenon/ops/cat.h"
#include "tenon/ops/conj.h"
#include "tenon/ops/div.h"
#include "tenon/ops/empty.h"
#include "tenon/ops/empty_like.h"
#include "tenon/ops/exp.h"
#include "tenon/ops/index_select.h"
#include "tenon/ops/matmul.h"
#include "tenon/ops/matrix_exp.h"
#include "tenon/ops/mul.h"
#include "tenon/ops/sum.h"
#include "tenon/ops/to.h"
#include "tenon/ops/zeros_like.h"

/// The exponential by Taylor polynomials of degrees 1, 2, 4, 8, 12 and 18 that take 0 to 5 products
/// of matrices (Bader, Blanes and Casas 2019), of A / 2^s where the norm is larger than the last is
/// exact for; that is then squared s times.
namespace tenon {
namespace {

constexpr std::array<int, 6> kDegrees = {1, 2, 4, 8, 12, 18};
/// Largest 1-norms for which a polynomial's backward error is below the unit roundoff: of its
/// series log(exp(-x) T(x)), with the sizes of all coefficients.
constexpr std::array<double, 6> kFloatNorms = {1.192092801e-07, 5.978858894e-04, 5.116619363e-02,
                                               5.800524628e-01, 1.461661507e+00, 3.010066362e+00};
constexpr std::array<double, 6> kDoubleNorms = {2.220446016e-16, 2.580956803e-08, 3.397168840e-04,
                                                4.991228871e-02, 2.996158914e-01, 1.090863719e+00};

/// c[0] I + c[1] matrices[0] + c[2] matrices[1] + ...
Tensor combine(std::initializer_list<double> c, std::initializer_list<const Tensor*> matrices) {
  const double* factor = c.begin() + 1;
  Tensor sum;
  for (const Tensor* matrix : matrices) {
    if (sum.defined()) {
      sum.add_(*matrix, *factor);
    } else {
      sum = *matrix * *factor;
    }
    ++factor;
  }
  if (*c.begin() != 0) sum.diagonal(0, -2, -1).add_(*c.begin());
  return sum;
}

Tensor taylor8(const Tensor& A, const Tensor& A2) {
  const double root = std::sqrt(177.0), x3 = 2.0 / 3;
  const Tensor A4 =
      matmul(A2, combine({0, x3 * (1 + root) / 88, x3 * (1 + root) / 352}, {&A, &A2}));
  const Tensor A8 = matmul(combine({0, x3, 1}, {&A2, &A4}),
                           combine({(-271 + 29 * root) / (315 * x3), 11 * (-1 + root) / (1260 * x3),
                                    11 * (-9 + root) / (5040 * x3), (89 - root) / (5040 * x3 * x3)},
                                   {&A, &A2, &A4}));
  return combine({1, 1, (857 - 58 * root) / 630, 1}, {&A, &A2, &A8});
}

Tensor taylor12(const Tensor& A, const Tensor& A2) {
  const Tensor A3 = matmul(A, A2);
  const auto of = [&](double c0, double c1, double c2, double c3) {
    return combine({c0, c1, c2, c3}, {&A, &A2, &A3});
  };
  const Tensor B4 =
      of(0, -0.13181061013830184015, -0.02027855540589259079, -0.00675951846863086359);
  const Tensor A6 = of(0.21169311829980944294, 0.15822438471572672537, 0.16563516943672741501,
                       0.01078627793157924250) +
                    matmul(B4, B4);
  const Tensor B2 = of(4.6, 0.99287510353848683614, -0.13244556105279963884, 0.0017299);
  return of(-0.01860232051462055322, -0.00500702322573317730, -0.57342012296052226390,
            -0.13339969394389205970) +
         matmul(B2 + A6, A6);
}

Tensor taylor18(const Tensor& A, const Tensor& A2) {
  const Tensor A3 = matmul(A, A2), A6 = matmul(A3, A3);
  const auto of = [&](double c0, double c1, double c2, double c3, double c6) {
    return combine({c0, c1, c2, c3, c6}, {&A, &A2, &A3, &A6});
  };
  const Tensor B1 =
      combine({0, -0.10036558103014462001, -0.00802924648241156960, -0.00089213849804572995},
              {&A, &A2, &A3});
  const Tensor B5 =
      combine({0, -0.09233646193671185927, -0.01693649390020817171, -0.00001400867981820361},
              {&A2, &A3, &A6});
  const Tensor A9 =
      matmul(B1, B5) + of(-0.09043168323908105619, -0.06764045190713819075, 0.06759613017704596460,
                          0.02955525704293155274, -0.00001391802575160607);
  const Tensor B3 = of(-10.9676396052962062593, 1.68015813878906197182, 0.05717798464788655127,
                       -0.00698210122488052084, 0.00003349750170860705);
  const Tensor B2 = of(0, 0.39784974949964507614, 1.36783778460411719922, 0.49828962252538267755,
                       -0.00063789819459472330);
  return B2 + matmul(B3 + A9, A9);
}

Tensor polynomial(const Tensor& A, int degree) {
  if (degree == 1) return combine({1, 1}, {&A});
  const Tensor A2 = matmul(A, A);
  switch (degree) {
  case 2: return combine({1, 1, 0.5}, {&A, &A2});
  case 4:
    return combine({1, 1}, {&A}) + matmul(A2, combine({1.0 / 2, 1.0 / 6, 1.0 / 24}, {&A, &A2}));
  case 8: return taylor8(A, A2);
  case 12: return taylor12(A, A2);
  default: return taylor18(A, A2);
  }
}

/// Of matrices [count, n, n] whose norms descend.
Tensor exponential(const Tensor& A, const std::vector<double>& norms,
                   const std::array<double, 6>& limits) {
  const Tensor result = empty_like(A, TensorOptions(), MemoryFormat::Contiguous);
  const auto count = static_cast<int64_t>(norms.size());
  const auto range = [](const Tensor& t, int64_t begin, int64_t end) {
    return t.narrow(0, begin, end - begin);
  };
  int64_t end = count;
  // From the smallest norm on. What is beyond all limits, NaN among it, is scaled.
  for (size_t i = 0; end > 0 && i < limits.size(); ++i) {
    int64_t begin = end;
    while (begin > 0 && norms[static_cast<size_t>(begin - 1)] <= limits[i]) --begin;
    if (begin < end) {
      native::copy(range(result, begin, end), polynomial(range(A, begin, end), kDegrees[i]));
    }
    end = begin;
  }
  if (end == 0) return result;
  std::vector<int> halvings(static_cast<size_t>(end));
  const Tensor factors = empty({end, 1, 1}, TensorOptions(kDouble));
  for (size_t i = 0; i < halvings.size(); ++i) {
    const double ratio = std::log2(norms[i] / limits.back());
    // Beyond that, as for NaN and infinities, nothing of it is finite.
    halvings[i] = ratio < 2048 ? static_cast<int>(std::ceil(ratio)) : 0;
    factors.mutable_data_ptr<double>()[i] = std::ldexp(1.0, -halvings[i]);
  }
  const ScalarType real = to_real(A.scalar_type());
  Tensor scaled = polynomial(range(A, 0, end) * factors.to(TensorOptions(A.device()).dtype(real)),
                             kDegrees.back());
  // Matrices that are done are behind those that are not.
  for (int step = 0; end > 0; ++step) {
    int64_t left = end;
    while (left > 0 && halvings[static_cast<size_t>(left - 1)] <= step) --left;
    if (left < end) native::copy(range(result, left, end), range(scaled, left, end));
    end = left;
    if (end > 0) scaled = matmul(range(scaled, 0, end), range(scaled, 0, end));
  }
  return result;
}

}  // namespace

Tensor native::matrix_exp(const Tensor& self) {
  meta::check_square("linalg.matrix_exp", "A", self);
  TENON_CHECK_NOT_IMPLEMENTED(is_differentiable(self.scalar_type()),
                              "[linalg.matrix_exp] Expected a floating point or complex tensor as "
                              "input. Got ",
                              self.scalar_type());
  if (self.numel() == 0 || self.device().type() == DeviceType::Meta) {
    return empty_like(self, TensorOptions(), MemoryFormat::Contiguous);
  }
  const int64_t n = self.size(-1);
  if (n == 1) return self.exp();
  // Half types are rounded once.
  const bool half = is_reduced_floating_point(self.scalar_type());
  const Tensor x = (half ? self.to(kFloat) : self).reshape({-1, n, n});
  const Tensor sums = x.abs().sum(IntArrayRef(-2), false).amax(-1, false).to(kCPU).to(kDouble);
  const int64_t count = x.size(0);
  const double* const found = sums.const_data_ptr<double>();
  Tensor order = empty({count}, TensorOptions(kLong)), back = empty({count}, TensorOptions(kLong));
  int64_t* const places = order.mutable_data_ptr<int64_t>();
  std::iota(places, places + count, int64_t{0});
  // NaN is first.
  const auto size = [found](int64_t i) {
    return std::isnan(found[i]) ? std::numeric_limits<double>::infinity() : found[i];
  };
  const bool sorted = std::is_sorted(places, places + count,
                                     [&](int64_t a, int64_t b) { return size(a) > size(b); });
  std::vector<double> norms(static_cast<size_t>(count));
  if (!sorted) {
    std::stable_sort(places, places + count,
                     [&](int64_t a, int64_t b) { return size(a) > size(b); });
    for (int64_t i = 0; i < count; ++i) back.mutable_data_ptr<int64_t>()[places[i]] = i;
  }
  for (int64_t i = 0; i < count; ++i) norms[static_cast<size_t>(i)] = size(places[i]);
  const auto& limits = to_real(x.scalar_type()) == kDouble ? kDoubleNorms : kFloatNorms;
  Tensor result = exponential(sorted ? x : x.index_select(0, order.to(x.device())), norms, limits);
  if (!sorted) result = result.index_select(0, back.to(x.device()));
  return (half ? result.to(self.scalar_type()) : result).view(self.sizes());
}

/// The change of exp(A) for that of A, or with `adjoint` the gradient: the upper right of
/// exp([[A, D], [0, A]]), which of A^H is the adjoint (Al-Mohy and Higham 2009).
Tensor native::_matrix_exp_differential(const Tensor& self, const Tensor& direction, bool adjoint) {
  if (self.numel() == 0) return zeros_like(self);
  const Tensor A = adjoint ? self.transpose(-2, -1).conj() : self;
  const int64_t n = A.size(-1);
  const Tensor upper = cat({A, direction}, -1), lower = cat({zeros_like(A), A}, -1);
  return tenon::matrix_exp(cat({upper, lower}, -2)).narrow(-2, 0, n).narrow(-1, n, n);
}

}  // namespace tenon
