// Row operators whose calls say a dtype, or leave out a number.
#include <catch2/catch.hpp>

#include <cmath>
#include <optional>
#include <vector>

#include "aten/core/generator.h"
#include "autograd/tools/gradcheck.h"
#include "rowtest/ops/beside.h"
#include "rowtest/ops/bits.h"
#include "rowtest/ops/guarded.h"
#include "rowtest/ops/raised.h"
#include "rowtest/ops/remainder_of_extremes.h"
#include "rowtest/ops/scaled.h"
#include "rowtest/ops/total.h"
#include "rowtest/ops/variance.h"
#include "rowtest/ops/weighted_softmax.h"
#include "tenon/ops/empty.h"
#include "tenon/ops/ones.h"
#include "tenon/ops/randn.h"
#include "tests/rows/support.h"

using namespace tenon;
using namespace tenon::test;

TEST_CASE("rows: inputs are converted to the dtype of the call first") {
  const Tensor x = tensor_of({1.75, 2.5, -3.75, 300}, {4});
  // Each element is cut off, and then added up: 1 + 2 - 3 + 300.
  const Tensor whole = rowtest::total(x, {}, false, kLong);
  REQUIRE(whole.scalar_type() == kLong);
  REQUIRE(values(whole) == Values{300});
  REQUIRE(rowtest::total(x, {}, false, kInt).scalar_type() == kInt);
  REQUIRE(values(rowtest::total(x, {}, false, kInt)) == Values{300});
  // 300 is 44 as a byte, and -3 is 253: their sum is 300, and 44 again in a byte.
  REQUIRE(values(rowtest::total(x.to(kInt), {}, false, kByte)) == Values{44});
  REQUIRE(rowtest::total(x.to(kInt)).scalar_type() == kLong);
  // A half has 2048 and 2050, but not 2049.
  const Tensor odd = tensor_of({2049, 1}, {2}, kFloat);
  REQUIRE(values(rowtest::total(odd, {}, false, kHalf)) == Values{2048});
  REQUIRE(values(rowtest::total(odd)) == Values{2050});
  REQUIRE(values(rowtest::total(odd, {}, false, kDouble)) == Values{2050});
  // What a float would lose.
  const Tensor big = tensor_of({16777217, 1}, {2}, kInt);
  REQUIRE(values(rowtest::total(big, {}, false, kDouble)) == Values{16777218});
  REQUIRE(rowtest::total(big, {}, false, kFloat).scalar_type() == kFloat);

  const Tensor matrix = tensor_of({1, 2, 3, 4}, {2, 2}, kByte);
  REQUIRE(values(rowtest::total(matrix, 0, true, kFloat)) == Values{4, 6});
  const Tensor meta = empty({2, 3}, TensorOptions(kFloat).device(kMeta));
  REQUIRE(rowtest::total(meta, 1, false, kHalf).scalar_type() == kHalf);
  Tensor out = empty({0}, TensorOptions(kDouble));
  rowtest::total_out(out, matrix, 0, false, kDouble);
  REQUIRE(values(out) == Values{4, 6});
}

TEST_CASE("rows: integers divided by zero are an error of that call alone") {
  const Tensor good = tensor_of({7, 9, 5, 8, 4, 6}, {3, 2}, kLong);
  REQUIRE(values(rowtest::remainder_of_extremes(good, 1)) == Values{2, 3, 2});
  REQUIRE(values(rowtest::remainder_of_extremes(good.t().contiguous(), 0)) == Values{2, 3, 2});
  REQUIRE(values(good % 4) == Values{3, 1, 1, 0, 0, 2});
  // One call, many rows, and a row in pieces.
  for (const int64_t rows : {3, 4096, 1}) {
    Tensor bad = ones({rows, rows == 1 ? 300000 : 7}, TensorOptions(kLong));
    bad.narrow(0, rows - 1, 1).narrow(1, 5, 1).fill_(0);
    for (const Tensor& x : {bad, bad.to(kInt)}) {
      REQUIRE_THROWS_WITH(rowtest::remainder_of_extremes(x, 1),
                          Catch::Contains("remainder_of_extremes] integer division by zero"));
      REQUIRE_NOTHROW(good % 4);
    }
  }
}

TEST_CASE("rows: numbers and columns that the elements' dtype does not hold") {
  const Tensor x = tensor_of({1, 2, 3, 6}, {2, 2}, kInt);
  REQUIRE(values(rowtest::bits(x, 10)) == Values{30, 50});
  REQUIRE(values(rowtest::bits(x, 2.0)) == Values{6, 10});
  REQUIRE_THROWS_WITH(rowtest::bits(x, 0.5),
                      Catch::Contains("rowtest::bits] computes in Int, the dtype of the elements, "
                                      "which does not hold the number 0.5"));
  REQUIRE_THROWS_WITH(rowtest::bits(x, Scalar(std::complex<double>(1, 2))),
                      Catch::Contains("rowtest::bits] is not implemented for complex numbers"));
  REQUIRE_THROWS_WITH(rowtest::bits(x.to(kFloat), 1),
                      Catch::Contains("rowtest::bits] is not implemented for 'Float'"));

  const Tensor half = rowtest::raised(x, 0.5);
  REQUIRE(half.scalar_type() == kFloat);
  REQUIRE(values(half) == Values{1, 3});
  REQUIRE(rowtest::raised(x.to(kDouble), 0.5).scalar_type() == kDouble);

  const Tensor w = tensor_of({0.5, 1}, {2}, kFloat);
  REQUIRE(values(rowtest::beside(x.to(kDouble), w)) == Values{2.5, 7.5});
  REQUIRE(values(rowtest::beside(x, w.to(kBool))) == Values{3, 9});
  REQUIRE_THROWS_WITH(
      rowtest::beside(x, w),
      Catch::Contains("'weight' of dtype Float cannot be computed with in Int, the dtype of the"));
  REQUIRE_THROWS_WITH(rowtest::beside(x.to(kFloat), w, Scalar(std::complex<double>(1, 2))),
                      Catch::Contains("rowtest::beside] is not implemented for complex numbers"));
}

TEST_CASE("rows: what decides a pick is known whatever the call wants") {
  const Tensor x = tensor_of({3, 4, 0.1, 0.2}, {2, 2});
  const Tensor target = tensor_of({9, 1}, {2}, kLong);
  const auto [picked, root] = rowtest::guarded(x, target);
  REQUIRE(picked[0].item<double>() == 0);
  REQUIRE(picked[1].item<double>() == 0.2);
  REQUIRE(root[0].item<double>() == Approx(std::log(5.0)));
}

TEST_CASE("rows: the dtype concerns all operands and no position") {
  manual_seed(9);
  const Tensor x = randn({3, 7}, TensorOptions(kDouble)), w = randn({7}, TensorOptions(kDouble));
  for (const bool weighted : {false, true}) {
    const std::optional<Tensor> weight = weighted ? std::optional(w) : std::nullopt;
    const auto as_float = weighted ? std::optional(w.to(kFloat)) : std::nullopt;
    const auto [result, place] = rowtest::weighted_softmax(x, weight, kFloat);
    const auto [wanted, same] = rowtest::weighted_softmax(x.to(kFloat), as_float);
    REQUIRE(result.scalar_type() == kFloat);
    REQUIRE(place.scalar_type() == kLong);
    REQUIRE(values(result) == values(wanted));
    REQUIRE(values(place) == values(same));
  }
  REQUIRE_THROWS_WITH(rowtest::weighted_softmax(x, {}, kLong),
                      Catch::Contains("'dtype' must be a floating type, got Long"));
  REQUIRE_THROWS_WITH(rowtest::weighted_softmax(x, {}, kComplexFloat),
                      Catch::Contains("is not implemented for 'ComplexFloat'"));
}

TEST_CASE("rows: gradients where a call says the dtype") {
  manual_seed(10);
  Tensor x = randn({3, 5}, TensorOptions(kFloat)).requires_grad_();
  Tensor w = randn({5}, TensorOptions(kBFloat16)).requires_grad_();
  const Tensor result = std::get<0>(rowtest::weighted_softmax(x, w, kDouble));
  REQUIRE(result.scalar_type() == kDouble);
  const Tensor seed = randn({3, 5}, TensorOptions(kDouble));
  result.backward(seed);
  REQUIRE(x.grad().scalar_type() == kFloat);
  REQUIRE(w.grad().scalar_type() == kBFloat16);
  Tensor xd = x.detach().to(kDouble).requires_grad_(), wd = w.detach().to(kDouble).requires_grad_();
  std::get<0>(rowtest::weighted_softmax(xd, wd)).backward(seed);
  REQUIRE(values(x.grad()) == values(xd.grad().to(kFloat)));
  REQUIRE(values(w.grad()) == values(wd.grad().to(kBFloat16)));
  REQUIRE_FALSE(rowtest::total(x, {}, false, kLong).requires_grad());
  // And of gradients, which operators compute.
  const auto f = [](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{std::get<0>(rowtest::weighted_softmax(in[0], in[1], kDouble))};
  };
  REQUIRE(autograd::gradgradcheck(f, {xd, wd}));
}

TEST_CASE("rows: numbers that are left out") {
  const Tensor x = tensor_of({1, 2, 4, 5}, {4});
  REQUIRE(rowtest::variance(x).item<double>() == Approx(10.0 / 3));
  REQUIRE(rowtest::variance(x, {}, 0).item<double>() == Approx(2.5));
  REQUIRE(rowtest::variance(x, 0, 2).item<double>() == Approx(5));
  REQUIRE(values(rowtest::scaled(x)) == Values{-2 * 2.5 / 3, -1 * 2.5 / 3, 2.5 / 3, 2 * 2.5 / 3});
  REQUIRE(values(rowtest::scaled(x, 6.0, 2, false)) == Values{3, 6, 12, 15});
  Tensor leaf = randn({3, 4}, TensorOptions(kDouble)).requires_grad_();
  for (const std::optional<Scalar>& correction :
       {std::optional<Scalar>(), std::optional<Scalar>(0)}) {
    const auto f = [&](const std::vector<Tensor>& in) {
      return std::vector<Tensor>{rowtest::variance(in[0], 1, correction)};
    };
    CHECK(autograd::gradcheck(f, {leaf}));
    CHECK(autograd::gradgradcheck(f, {leaf}));
  }
  const auto f = [](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{rowtest::scaled(in[0]), rowtest::scaled(in[0], 0.5, 7, true)};
  };
  CHECK(autograd::gradcheck(f, {leaf}));
  CHECK(autograd::gradgradcheck(f, {leaf}));
}

TEST_CASE("rows: operators use the dtype and the numbers as the kernel does") {
  manual_seed(12);
  const DispatchKeySet elsewhere(Backend::PrivateUse1);
  const auto same = [](const Tensor& got, const Tensor& wanted) {
    REQUIRE(got.scalar_type() == wanted.scalar_type());
    check_rows(
        wanted.reshape({-1, 1}), got.reshape({-1}), [](const Values& row) { return row; },
        4 * unit_of(wanted.scalar_type()));
  };
  const Tensor x = randn({3, 6}, TensorOptions(kFloat)) * 5, w = randn({6}, TensorOptions(kDouble));
  for (const std::optional<ScalarType> dtype :
       {std::optional<ScalarType>(), std::optional(kDouble), std::optional(kHalf)}) {
    for (const std::optional<Tensor>& weight :
         {std::optional<Tensor>(), std::optional(w.to(kFloat))}) {
      const auto [got, at] =
          rowtest::ops::weighted_softmax::redispatch(elsewhere, x, weight, dtype);
      const auto [wanted, place] = rowtest::weighted_softmax(x, weight, dtype);
      same(got, wanted);
      same(at, place);
    }
  }
  for (const ScalarType dtype : {kLong, kInt, kByte, kDouble, kFloat}) {
    INFO(dtype);
    same(rowtest::ops::total::redispatch(elsewhere, x.abs(), 1, false, dtype),
         rowtest::total(x.abs(), 1, false, dtype));
  }
  same(rowtest::ops::variance::redispatch(elsewhere, x, 1, std::nullopt, true),
       rowtest::variance(x, 1, std::nullopt, true));
  same(rowtest::ops::variance::redispatch(elsewhere, x, 1, Scalar(2), false),
       rowtest::variance(x, 1, 2));
  same(rowtest::ops::scaled::redispatch(elsewhere, x, std::nullopt, std::nullopt, std::nullopt),
       rowtest::scaled(x));
  same(rowtest::ops::scaled::redispatch(elsewhere, x, 0.5, 2, false),
       rowtest::scaled(x, 0.5, 2, false));
  REQUIRE_THROWS_WITH(rowtest::ops::weighted_softmax::redispatch(elsewhere, x, std::nullopt, kLong),
                      Catch::Contains("'dtype' must be a floating type, got Long"));
}
