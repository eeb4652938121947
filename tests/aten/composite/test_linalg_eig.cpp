#include <catch2/catch.hpp>
#include <complex>
#include <string>

#include "autograd/autograd.h"
#include "autograd/tools/gradcheck.h"
#include "tenon/ops/abs.h"
#include "tenon/ops/add.h"
#include "tenon/ops/adjoint.h"
#include "tenon/ops/conj.h"
#include "tenon/ops/exp.h"
#include "tenon/ops/eye.h"
#include "tenon/ops/item.h"
#include "tenon/ops/linalg_eig.h"
#include "tenon/ops/linalg_eigh.h"
#include "tenon/ops/linalg_eigvals.h"
#include "tenon/ops/linalg_eigvalsh.h"
#include "tenon/ops/linalg_matrix_sqrth.h"
#include "tenon/ops/linalg_polar.h"
#include "tenon/ops/linalg_solve.h"
#include "tenon/ops/matmul.h"
#include "tenon/ops/max.h"
#include "tenon/ops/mul.h"
#include "tenon/ops/ones.h"
#include "tenon/ops/randn.h"
#include "tenon/ops/sub.h"
#include "tenon/ops/sum.h"
#include "tenon/ops/tril.h"
#include "tenon/ops/triu.h"

using namespace tenon;

namespace {

double largest(const Tensor& t) { return t.numel() == 0 ? 0 : t.abs().max().item().toDouble(); }

Tensor normal(IntArrayRef sizes, ScalarType dtype) {
  const Tensor real = randn(sizes, TensorOptions(kDouble));
  if (!is_complex(dtype)) return real.to(dtype);
  return (real + randn(sizes, TensorOptions(kDouble)) * Scalar(std::complex<double>(0, 1)))
      .to(dtype);
}

Tensor hermitian(const Tensor& t) { return t + adjoint(t); }

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

using Tensors = std::vector<Tensor>;

/// Gradients, tangents and the gradients of gradients are those of differences.
void check_derivatives(const autograd::CheckedFunction& function, const Tensor& at) {
  autograd::GradcheckOptions options;
  options.check_forward_ad = true;
  CHECK(autograd::gradcheck(function, {at.detach().requires_grad_()}, options));
  CHECK(autograd::gradgradcheck(function, {at.detach().requires_grad_()}));
}

}  // namespace

TEST_CASE("a Hermitian matrix is the product of its eigenvectors and eigenvalues") {
  manual_seed(3);
  for (const ScalarType dtype : {kDouble, kComplexDouble, kFloat, kComplexFloat}) {
    const double tolerance = to_real(dtype) == kDouble ? 1e-12 : 1e-4;
    for (const auto& sizes : {std::vector<int64_t>{5, 5}, {2, 3, 4, 4}, {40, 40}, {0, 0}}) {
      CAPTURE(dtype, sizes);
      const Tensor A = hermitian(normal(sizes, dtype));
      for (const bool upper : {false, true}) {
        // The other triangle is not read.
        const Tensor half = upper ? triu(A) : tril(A);
        const auto [L, V] = linalg_eigh(half, upper ? "U" : "L");
        CHECK(largest(matmul(V * L.unsqueeze(-2), adjoint(V)) - A) <= tolerance * 10);
        CHECK(largest(matmul(adjoint(V), V) - eye(A.size(-1), A.options())) <= tolerance);
        CHECK(largest(linalg_eigvalsh(half, upper ? "u" : "l") - L) <= tolerance * 10);
      }
    }
  }
}

TEST_CASE("eigenvectors of any matrix have norm 1 and its eigenvalues") {
  manual_seed(4);
  for (const ScalarType dtype : {kDouble, kComplexDouble, kFloat, kComplexFloat}) {
    const double tolerance = to_real(dtype) == kDouble ? 1e-11 : 1e-3;
    for (const auto& sizes : {std::vector<int64_t>{5, 5}, {2, 3, 4, 4}, {31, 31}, {1, 1}, {0, 0}}) {
      CAPTURE(dtype, sizes);
      const Tensor A = normal(sizes, dtype);
      const auto [L, V] = linalg_eig(A);
      CHECK(L.scalar_type() == to_complex(dtype));
      CHECK(largest(matmul(A.to(V.scalar_type()), V) - V * L.unsqueeze(-2)) <= tolerance);
      const Tensor norms = (V * V.conj()).abs().sum(IntArrayRef(-2), false);
      CHECK(largest(norms - ones(norms.sizes(), norms.options())) <= tolerance);
      CHECK(largest(linalg_eigvals(A).sum() - L.sum()) <= tolerance * 10);
    }
  }
}

TEST_CASE("derivatives of what the phases of eigenvectors do not change") {
  manual_seed(5);
  const auto of_hermitian = [](const Tensors& in) -> Tensors {
    const auto [L, V] = linalg_eigh(hermitian(in[0]));
    return {L, (V * V.conj()).abs(), matmul(V * (L * L).unsqueeze(-2), adjoint(V))};
  };
  const auto of_any = [](const Tensors& in) -> Tensors {
    const auto [L, V] = linalg_eig(in[0]);
    return {L, (V * V.conj()).abs(), linalg_solve(adjoint(V), adjoint(V * L.exp().unsqueeze(-2)))};
  };
  const auto values = [](const Tensors& in) -> Tensors {
    return {linalg_eigvals(in[0]), linalg_eigvalsh(hermitian(in[0]))};
  };
  for (const ScalarType dtype : {kDouble, kComplexDouble}) {
    CAPTURE(dtype);
    check_derivatives(of_hermitian, normal({3, 3}, dtype));
    check_derivatives(of_any, normal({3, 3}, dtype));
    check_derivatives(values, normal({2, 3, 3}, dtype));
  }
}

TEST_CASE("a gradient that depends on the phases of complex eigenvectors is refused") {
  manual_seed(6);
  const Tensor A = normal({3, 3}, kComplexDouble).requires_grad_();
  const Tensor gradient = normal({}, kComplexDouble);
  CHECK(
      message_of([&] {
        autograd::backward({std::get<1>(linalg_eigh(A)).sum()}, {gradient});
      }).find("[linalg_eigh_backward] The eigenvectors in the complex case are specified up to") ==
      0);
  CHECK(message_of([&] {
          autograd::backward({std::get<1>(linalg_eig(A)).sum()}, {gradient});
        }).find("[linalg_eig_backward] The eigenvectors in the complex case are specified up to") ==
        0);
}

TEST_CASE("square roots and polar factors have derivatives where eigenvalues are equal") {
  manual_seed(7);
  const auto root = [](const Tensors& in) -> Tensors {
    return {linalg_matrix_sqrth(hermitian(in[0]) + eye(3, in[0].options()) * 9)};
  };
  const auto factors = [](const Tensors& in) -> Tensors {
    const auto [U, H] = linalg_polar(in[0]);
    return {U, H};
  };
  for (const ScalarType dtype : {kDouble, kComplexDouble}) {
    CAPTURE(dtype);
    const Tensor same = eye(3, TensorOptions(dtype));
    check_derivatives(root, same);
    check_derivatives(root, normal({3, 3}, dtype));
    check_derivatives(factors, same * 2);
    check_derivatives(factors, normal({4, 3}, dtype));
    const Tensor X = linalg_matrix_sqrth(same * 4);
    CHECK(largest(X - same * 2) <= 1e-14);
  }
}
