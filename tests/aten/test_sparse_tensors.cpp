#include <catch2/catch.hpp>

#include "aten/core/error.h"
#include "tenon/ops/_sparse_mm.h"
#include "tenon/ops/add.h"
#include "tenon/ops/arange.h"
#include "tenon/ops/embedding.h"
#include "tenon/ops/equal.h"
#include "tenon/ops/mul.h"
#include "tenon/ops/reshape.h"
#include "tenon/ops/sin.h"
#include "tenon/ops/sparse_coo_tensor.h"
#include "tenon/ops/sparse_csr_tensor.h"
#include "tenon/ops/sum.h"
#include "tenon/ops/zeros.h"

using namespace tenon;

namespace {

Tensor sparse_places() {
  const Tensor t = zeros({2, 3}, kLong);
  auto a = t.accessor<int64_t, 2>();
  a[0][0] = 1, a[0][1] = 0, a[0][2] = 1;
  a[1][0] = 2, a[1][1] = 0, a[1][2] = 2;
  return t;
}

}  // namespace

TEST_CASE("coalesce adds duplicates", "[sparse]") {
  const Tensor s = sparse_coo_tensor(sparse_places(), arange(1, 4, kFloat), {2, 3});
  CHECK(s.is_sparse());
  CHECK_FALSE(s.is_coalesced());
  const Tensor c = s.coalesce();
  CHECK(c._nnz() == 2);
  CHECK(c.values().select(0, 0).item<float>() == 2);
  CHECK(c.values().select(0, 1).item<float>() == 4);
  const Tensor dense = s.to_dense();
  CHECK(dense.select(0, 1).select(0, 2).item<float>() == 4);
  CHECK(equal(dense, c.to_sparse_csr().to_dense()));
  CHECK(equal(dense, dense.to_sparse_bsr({2, 3}).to_dense()));
}

TEST_CASE("sparse matrices are multiplied and differentiated", "[sparse]") {
  const Tensor values = arange(1, 4, kDouble).set_requires_grad(true);
  const Tensor s = sparse_coo_tensor(sparse_places(), values, {2, 3});
  const Tensor w = arange(6, kDouble).reshape({3, 2});
  const Tensor product = _sparse_mm(s, w);
  CHECK(equal(product.detach(), s.detach().to_dense().mm(w)));
  product.sum().backward();
  // The gradient of an element is the sum of a row of w.
  CHECK(values.grad().select(0, 0).item<double>() == 9);
  CHECK(values.grad().select(0, 1).item<double>() == 1);
}

TEST_CASE("a layout runs operators that keep zero on the elements", "[sparse]") {
  const Tensor s = sparse_coo_tensor(sparse_places(), arange(1, 4, kDouble), {2, 3});
  CHECK(equal(sin(s).to_dense(), sin(s.to_dense())));
  CHECK_THROWS_AS(s.cos(), NotImplementedError);
  CHECK_THROWS_AS(s.data_ptr(), NotImplementedError);
}

TEST_CASE("gradients of embedding can be sparse", "[sparse]") {
  const Tensor weight = zeros({4, 2}, kDouble).set_requires_grad(true);
  const Tensor rows = sparse_places().select(0, 0);
  embedding(weight, rows, -1, false, true).sum().backward();
  CHECK(weight.grad().is_sparse());
  CHECK(weight.grad().to_dense().select(0, 1).select(0, 0).item<double>() == 2);
  embedding(weight, rows, -1, false, false).sum().backward();
  CHECK_FALSE(weight.grad().is_sparse());
  CHECK(weight.grad().select(0, 1).select(0, 0).item<double>() == 4);
}

TEST_CASE("indices that lead out of a sparse tensor are errors", "[sparse]") {
  CHECK_THROWS_AS(sparse_coo_tensor(sparse_places(), arange(1, 4, kFloat), {2, 2}), Error);
  CHECK_THROWS_AS(
      sparse_csr_tensor(arange(3, kLong), arange(2, kLong) + 4, arange(2, kFloat), {2, 3}), Error);
}
