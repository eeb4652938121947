#include "tenon/ops/arange.h"
#include "tenon/ops/cat.h"
#include "tenon/ops/constant_pad_nd.h"
#include "tenon/ops/hstack.h"
#include "tenon/ops/stack.h"
#include "tenon/ops/tile.h"
#include "tenon/ops/vstack.h"
#include "tenon/ops/zeros.h"
#include "tests/aten/test_support.h"

using namespace tenon;
using tenon::test::check_error;
using tenon::test::close;
using tenon::test::values;

namespace {

Tensor numbered(IntArrayRef sizes) { return tenon::arange(numel_of(sizes)).to(kFloat).view(sizes); }

}  // namespace

TEST_CASE("cat") {
  const Tensor a = numbered({2, 2});
  const Tensor b = numbered({1, 2});
  CHECK(close(values(tenon::cat({a, b})), {0, 1, 2, 3, 0, 1}));
  CHECK(close(values(tenon::cat({a, a.t()}, 1)), {0, 1, 0, 2, 2, 3, 1, 3}));
  CHECK(close(values(tenon::cat({tenon::zeros({0}), a}, -1)), {0, 1, 2, 3}));
  CHECK(tenon::cat({a, a.to(kInt)}).scalar_type() == kFloat);
  CHECK(close(values(tenon::cat({a.to(kInt), a})), {0, 1, 2, 3, 0, 1, 2, 3}));
  CHECK_THROWS_AS(tenon::cat(TensorList()), Error);
  check_error(
      [&] {
        tenon::cat({a, numbered({2, 3})});
      },
      "Sizes of tensors must match except in dimension 0. Expected size 2 but got size 3 for "
      "tensor number 1 in the list.");
  check_error(
      [&] {
        tenon::cat({a, numbered({2})});
      },
      "Tensors must have same number of dimensions: got 2 and 1");
  check_error(
      [] {
        tenon::cat({tenon::zeros({}), tenon::zeros({})});
      },
      "zero-dimensional tensor (at position 0) cannot be concatenated");
}

TEST_CASE("cat of pieces across threads, of a large result and of mixed layouts") {
  const int64_t large = (int64_t{4} << 20) + 3;  // 16 MiB of floats bypass the caches
  const Tensor a = arange(large), b = arange(5), c = arange(70001);
  const Tensor joined = cat({a, b, c}, 0);
  CHECK(joined.slice(0, 0, large).equal(a));
  CHECK(joined.slice(0, large, large + 5).equal(b));
  CHECK(joined.slice(0, large + 5).equal(c));
  // By columns: contiguous, transposed and of another type side by side.
  const Tensor x = arange(300).to(kFloat).view({100, 3}),
               y = arange(700).to(kFloat).view({7, 100}).t(), z = arange(100).view({100, 1});
  const Tensor columns = cat({x, y, z}, 1);
  CHECK(columns.scalar_type() == kFloat);
  CHECK(columns.slice(1, 0, 3).equal(x));
  CHECK(columns.slice(1, 3, 10).equal(y));
  CHECK(columns.slice(1, 10).equal(z.to(kFloat)));
}

TEST_CASE("stack, hstack, vstack") {
  const Tensor a = numbered({2});
  CHECK(close(values(tenon::stack({a, a}, 1)), {0, 0, 1, 1}));
  CHECK(tenon::hstack({a, a}).sizes() == IntArrayRef({4}));
  CHECK(tenon::vstack({a, a}).sizes() == IntArrayRef({2, 2}));
  check_error(
      [&] {
        tenon::stack({a, numbered({3})});
      },
      "stack expects each tensor to be equal size, but got [2] at entry 0 and [3] at entry 1");
  check_error([] { tenon::stack(TensorList()); }, "stack expects a non-empty TensorList");
}

TEST_CASE("repeat and tile") {
  CHECK(close(values(numbered({2}).repeat({2, 2})), {0, 1, 0, 1, 0, 1, 0, 1}));
  CHECK(close(values(numbered({2, 2}).t().repeat({1, 2})), {0, 2, 0, 2, 1, 3, 1, 3}));
  CHECK(numbered({2}).repeat({0, 2}).sizes() == IntArrayRef({0, 4}));
  CHECK(close(values(tenon::tile(numbered({1, 2}), {2})), {0, 1, 0, 1}));
  check_error(
      [] {
        numbered({2, 3}).repeat({2});
      },
      "Number of dimensions of repeat dims can not be smaller");
}

TEST_CASE("flip and roll") {
  const Tensor t = numbered({2, 3});
  CHECK(close(values(t.flip({0})), {3, 4, 5, 0, 1, 2}));
  CHECK(close(values(t.flip({0, -1})), {5, 4, 3, 2, 1, 0}));
  CHECK(close(values(t.t().flip({1})), {3, 0, 4, 1, 5, 2}));
  CHECK(close(values(t.roll({1}, {1})), {2, 0, 1, 5, 3, 4}));
  CHECK(close(values(t.roll({-1})), {1, 2, 3, 4, 5, 0}));
  CHECK(close(values(t.roll({1, 1}, {0, 1})), {5, 3, 4, 2, 0, 1}));
  check_error([&] { t.flip({0, 0}); }, "dim 0 appears multiple times in the list of dims");
  check_error([&] { t.roll({1, 2}, {0}); }, "shifts and dimensions must align. shifts: 2, dims:1");
  check_error([&] { t.roll(IntArrayRef()); }, "`shifts` required");
}

TEST_CASE("constant_pad_nd") {
  const Tensor t = numbered({2, 2});
  CHECK(close(values(tenon::constant_pad_nd(t, {1, 1})), {0, 0, 1, 0, 0, 2, 3, 0}));
  CHECK(close(values(tenon::constant_pad_nd(t, {-1, 0, 0, 1}, 9)), {1, 3, 9}));
  check_error([&] { tenon::constant_pad_nd(t, {1}); },
              "Length of pad must be even but instead it equals 1");
  check_error([&] { tenon::constant_pad_nd(t, {-3, 0}); }, "resulted in a negative output size");
}

TEST_CASE("tril and triu") {
  const Tensor t = numbered({3, 3});
  CHECK(close(values(t.tril()), {0, 0, 0, 3, 4, 0, 6, 7, 8}));
  CHECK(close(values(t.triu(1)), {0, 1, 2, 0, 0, 5, 0, 0, 0}));
  CHECK(close(values(t.tril(-5)), std::vector<double>(9, 0)));
  CHECK(close(values(t.t().triu()), {0, 3, 6, 0, 4, 7, 0, 0, 8}));
  Tensor inplace = numbered({2, 2}).clone();
  inplace.tril_();
  CHECK(close(values(inplace), {0, 0, 2, 3}));
  check_error([] { numbered({3}).tril(); }, "input tensor must have at least 2 dimensions");
}
