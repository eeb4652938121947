#include <algorithm>
#include <limits>
#include <numeric>

#include "aten/core/generator.h"
#include "aten/generated_support/tensor_factories.h"
#include "tenon/ops/argsort.h"
#include "tenon/ops/randint.h"
#include "tenon/ops/scalar_tensor.h"
#include "tenon/ops/sort.h"
#include "tenon/ops/topk.h"
#include "tenon/ops/zeros.h"
#include "tests/aten/test_support.h"

using namespace tenon;
using tenon::test::check_error;
using tenon::test::close;
using tenon::test::values;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// Order of a stable sort with NaN as the largest number.
std::vector<double> order_of(const std::vector<double>& x, bool descending) {
  std::vector<double> order(x.size());
  std::iota(order.begin(), order.end(), 0);
  const auto less = [](double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; };
  std::stable_sort(order.begin(), order.end(), [&](double i, double j) {
    const double a = x[static_cast<size_t>(i)], b = x[static_cast<size_t>(j)];
    return descending ? less(b, a) : less(a, b);
  });
  return order;
}

}  // namespace

TEST_CASE("sort is stable for every dtype and length") {
  manual_seed(1);
  for (ScalarType type : {kFloat, kDouble, kHalf, kBFloat16, kLong, kInt, kShort, kByte, kChar}) {
    for (int64_t n : {1, 2, 40, 63, 64, 1000, 5000}) {
      const Tensor t = tenon::randint(-20, 20, {n}).to(type);
      for (bool descending : {false, true}) {
        INFO(type << " n " << n << " descending " << descending);
        const auto [v, at] = tenon::sort(t, 0, descending);
        CHECK(close(values(at), order_of(values(t), descending)));
        CHECK(close(values(t.gather(0, at)), values(v)));
      }
    }
  }
}

TEST_CASE("sort and topk order int64 numbers that differ in all bits") {
  manual_seed(2);
  for (int64_t n : {5, 64, 3000}) {
    const Tensor t = tenon::randint(-8, 8, {n}).to(kLong) * (int64_t{1} << 60);
    for (bool descending : {false, true}) {
      INFO("n " << n << " descending " << descending);
      const std::vector<double> expected = order_of(values(t), descending);
      const auto [v, at] = tenon::sort(t, 0, descending);
      CHECK(close(values(at), expected));
      CHECK(close(values(t.gather(0, at)), values(v)));
      const Tensor first = std::get<1>(tenon::topk(t, 5, 0, descending));
      CHECK(close(values(first), {expected.begin(), expected.begin() + 5}));
    }
  }
}

TEST_CASE("sort puts NaN last and keeps the sign of zero") {
  const Tensor t = tenon::tensor({2., kNan, -1., 0., -0., kNan, 1.});
  for (const Tensor& x : {t, t.to(kDouble)}) {
    CHECK(close(values(std::get<1>(tenon::sort(x))), {2, 3, 4, 6, 0, 1, 5}));
    CHECK(close(values(std::get<1>(tenon::sort(x, 0, true))), {1, 5, 0, 6, 3, 4, 2}));
    CHECK(std::signbit(values(std::get<0>(tenon::sort(x)))[2]));
  }
}

TEST_CASE("sort and topk along any dimension") {
  const Tensor t = tenon::tensor({{3., 1., 2.}, {1., 5., 0.}});
  CHECK(close(values(std::get<0>(tenon::sort(t, 0))), {1, 1, 0, 3, 5, 2}));
  CHECK(close(values(tenon::argsort(t)), {1, 2, 0, 2, 0, 1}));
  const auto [v, at] = tenon::topk(t, 2);
  CHECK(close(values(v), {3, 2, 5, 1}));
  CHECK(close(values(at), {0, 2, 1, 0}));
  CHECK(close(values(std::get<0>(tenon::topk(t, 1, 0, false))), {1, 1, 0}));
  CHECK(std::get<0>(tenon::topk(t, 0)).sizes() == IntArrayRef({2, 0}));
  CHECK(std::get<0>(tenon::sort(tenon::scalar_tensor(3))).item<double>() == 3);
  CHECK(std::get<0>(tenon::sort(tenon::zeros({0}))).numel() == 0);
  check_error([&] { tenon::topk(t, 5); }, "selected index k out of range");
  check_error([] { tenon::sort(tenon::zeros({2}, kComplexFloat)); },
              "does not support complex dtypes");
}

TEST_CASE("topk agrees with sort") {
  manual_seed(2);
  for (int64_t n : {10, 300, 5000, 100000}) {
    for (ScalarType type : {kFloat, kDouble, kInt}) {
      const Tensor t = tenon::randint(-1000, 1000, {n}).to(type);
      for (int64_t k : {int64_t{1}, int64_t{7}, n / 2, n}) {
        for (bool largest : {true, false}) {
          INFO("n " << n << " k " << k << " " << type << " largest " << largest);
          const auto [v, at] = tenon::topk(t, k, 0, largest);
          const auto [sorted, order] = tenon::sort(t, 0, largest);
          CHECK(close(values(v), values(sorted.slice(0, 0, k))));
          CHECK(close(values(at), values(order.slice(0, 0, k))));
        }
      }
    }
  }
}
