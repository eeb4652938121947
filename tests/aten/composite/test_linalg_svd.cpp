#include <catch2/catch.hpp>
#include <cmath>
#include <complex>
#include <limits>
#include <string>

#include "aten/generated_support/tensor_factories.h"
#include "autograd/autograd.h"
#include "autograd/tools/gradcheck.h"
#include "tenon/ops/abs.h"
#include "tenon/ops/add.h"
#include "tenon/ops/conj.h"
#include "tenon/ops/eye.h"
#include "tenon/ops/item.h"
#include "tenon/ops/linalg_svd.h"
#include "tenon/ops/linalg_svdvals.h"
#include "tenon/ops/matmul.h"
#include "tenon/ops/max.h"
#include "tenon/ops/mul.h"
#include "tenon/ops/ones.h"
#include "tenon/ops/randn.h"
#include "tenon/ops/sub.h"
#include "tenon/ops/zeros.h"

using namespace tenon;

namespace {

double largest(const Tensor& t) { return t.numel() == 0 ? 0 : t.abs().max().item().toDouble(); }

Tensor adjoint(const Tensor& t) { return t.transpose(-2, -1).conj(); }

Tensor normal(IntArrayRef sizes, ScalarType dtype) {
  const Tensor real = randn(sizes, TensorOptions(kDouble));
  if (!is_complex(dtype)) return real.to(dtype);
  return (real + randn(sizes, TensorOptions(kDouble)) * Scalar(std::complex<double>(0, 1)))
      .to(dtype);
}

void check_parts(const Tensor& A, bool full, double tolerance) {
  const auto [U, S, Vh] = linalg_svd(A, full);
  const int64_t m = A.size(-2), n = A.size(-1), k = std::min(m, n);
  CHECK(U.size(-1) == (full ? m : k));
  CHECK(Vh.size(-2) == (full ? n : k));
  const double size = std::max(largest(A), std::numeric_limits<double>::min());
  CHECK(largest(matmul(U.narrow(-1, 0, k) * S.unsqueeze(-2), Vh.narrow(-2, 0, k)) - A) <=
        tolerance * size);
  const Tensor of_u = eye(U.size(-1), A.options()), of_v = eye(Vh.size(-2), A.options());
  CHECK(largest(matmul(adjoint(U), U) - of_u) <= tolerance);
  CHECK(largest(matmul(Vh, adjoint(Vh)) - of_v) <= tolerance);
  for (int64_t i = 0; i + 1 < k && S.dim() == 1; ++i) {
    CHECK(S.select(0, i).item().toDouble() >= S.select(0, i + 1).item().toDouble());
  }
}

}  // namespace

TEST_CASE("a matrix is the product of its singular vectors and values") {
  manual_seed(3);
  for (const bool full : {false, true}) {
    for (const ScalarType dtype : {kDouble, kComplexDouble}) {
      CAPTURE(full, dtype);
      check_parts(normal({5, 5}, dtype), full, 1e-13);
      check_parts(normal({7, 3}, dtype), full, 1e-13);
      check_parts(normal({2, 6}, dtype), full, 1e-13);
      check_parts(normal({2, 3, 4, 2}, dtype), full, 1e-13);
      check_parts(normal({3, 4}, dtype).transpose(0, 1), full, 1e-13);
      check_parts(normal({3, 4}, dtype) * 1e200, full, 1e-13);
      check_parts(normal({3, 4}, dtype) * 1e-200, full, 1e-13);
      // Of rank 1, and of rank 0.
      check_parts(ones({6, 4}, TensorOptions(dtype)), full, 1e-13);
      check_parts(zeros({3, 5}, TensorOptions(dtype)), full, 1e-13);
      check_parts(normal({0, 3}, dtype), full, 1e-13);
    }
    check_parts(normal({6, 4}, kFloat), full, 1e-6);
    check_parts(normal({4, 6}, kComplexFloat), full, 1e-6);
  }
}

TEST_CASE("what is not finite has no singular values") {
  for (const double bad :
       {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    std::string message;
    try {
      linalg_svdvals(tensor({{1.0, bad}, {0.0, 1.0}}));
    } catch (const Error& error) {
      message = error.what();
    }
    CHECK(message.find("[linalg.svd]") != std::string::npos);
    CHECK(message.find("non-finite") != std::string::npos);
  }
}

TEST_CASE("gradients of what phases do not change are those of differences") {
  manual_seed(4);
  const auto product = [](const std::vector<Tensor>& in) -> std::vector<Tensor> {
    const auto [U, S, Vh] = linalg_svd(in[0], false);
    return {matmul(U * S.unsqueeze(-2) * S.unsqueeze(-2), Vh), (U * U.conj()).abs()};
  };
  autograd::GradcheckOptions options;
  options.check_forward_ad = true;
  for (const ScalarType dtype : {kDouble, kComplexDouble}) {
    for (const auto& sizes : {std::vector<int64_t>{3, 3}, {4, 2}, {2, 3}}) {
      CAPTURE(dtype, sizes);
      CHECK(autograd::gradcheck(product, {normal(sizes, dtype).requires_grad_()}, options));
    }
  }
}

TEST_CASE("a gradient that depends on the phases of complex vectors is refused") {
  manual_seed(5);
  const Tensor A = normal({3, 3}, kComplexDouble).requires_grad_();
  const Tensor U = std::get<0>(linalg_svd(A));
  std::string message;
  try {
    autograd::backward({U.sum()}, {normal({}, kComplexDouble)});
  } catch (const Error& error) {
    message = error.what();
  }
  CHECK(message.find("phi") != std::string::npos);
}
