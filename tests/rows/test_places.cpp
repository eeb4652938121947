// Reductions of a row to positions, numbers of elements and extremes of numbers beside loops.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "aten/core/generator.h"
#include "aten/core/parallel.h"
#include "rowtest/ops/ahead.h"
#include "rowtest/ops/amax.h"
#include "rowtest/ops/argmax.h"
#include "rowtest/ops/argmin.h"
#include "rowtest/ops/count.h"
#include "rowtest/ops/farthest.h"
#include "rowtest/ops/numbers.h"
#include "tenon/ops/full.h"
#include "tenon/ops/randn.h"
#include "tenon/ops/var.h"
#include "tests/rows/support.h"

using namespace tenon;
using namespace tenon::test;

namespace {

int64_t first_extreme(const Values& row, bool largest) {
  size_t best = 0;
  for (size_t i = 1; i < row.size(); ++i) {
    if (std::isnan(row[best])) break;
    const bool better = largest ? row[i] > row[best] : row[i] < row[best];
    if (better || std::isnan(row[i])) best = i;
  }
  return static_cast<int64_t>(best);
}

}  // namespace

TEST_CASE("rows: positions of extremes") {
  manual_seed(7);
  for (const ScalarType dtype : {kDouble, kFloat, kHalf, kBFloat16, kByte, kInt, kLong, kBool}) {
    for (const int64_t n : kLengths) {
      INFO(dtype << ", rows of " << n);
      // Few values, so that most rows have ties.
      const Tensor x = (randn({5, n}, TensorOptions(kDouble)) * 2).round().abs().to(dtype);
      const Tensor high = rowtest::argmax(x, 1), low = rowtest::argmin(x, 1);
      REQUIRE(high.scalar_type() == kLong);
      const auto place = [](bool largest) {
        return [largest](const Values& row) {
          return Values{static_cast<double>(first_extreme(row, largest))};
        };
      };
      check_rows(x, high, place(true), 0);
      check_rows(x, low, place(false), 0);
    }
  }
  // A NaN is the extreme of both, the first of several; infinities are numbers.
  for (const ScalarType dtype : {kDouble, kFloat, kBFloat16}) {
    const Tensor x = tensor_of(
        {1, kNaN, kInf, kNaN, -kInf, -kInf, -kInf, -kInf, kInf, kInf, kInf, kInf, 0, -0.0, 0, -0.0},
        {4, 4}, dtype);
    REQUIRE(values(rowtest::argmax(x, 1)) == Values{1, 0, 0, 0});
    REQUIRE(values(rowtest::argmin(x, 1)) == Values{1, 0, 0, 0});
  }
  // Whole numbers beyond what a double tells apart.
  Tensor big = full({2}, int64_t{1} << 60, TensorOptions(kLong));
  big.data_ptr<int64_t>()[1] += 1;
  REQUIRE(rowtest::argmax(big).item<int64_t>() == 1);
}

TEST_CASE("rows: positions in rows side by side") {
  manual_seed(9);
  const auto place = [](bool largest) {
    return [largest](const Values& row) {
      return Values{static_cast<double>(first_extreme(row, largest))};
    };
  };
  using Sizes = std::pair<int64_t, int64_t>;
  // The last is computed in pieces.
  for (const auto& [n, rows] : {Sizes{1, 5}, {3, 16}, {40, 33}, {17, 600}, {9000, 7}}) {
    for (const ScalarType dtype : {kDouble, kFloat, kBFloat16, kInt}) {
      INFO(dtype << ", " << rows << " rows of " << n);
      Tensor x = (randn({n, rows}, TensorOptions(kDouble)) * 3).round();
      if (dtype != kInt) {
        x.select(1, 0).fill_(-kInf);
        x.select(1, 1).fill_(kInf);
        x.select(1, 2).select(0, n / 2).fill_(kNaN);
        x.select(1, 3).select(0, n - 1).fill_(kNaN);
        x.select(1, 3).select(0, n / 3).fill_(kNaN);
      }
      x = x.to(dtype);
      check_rows(x.t(), rowtest::argmax(x, 0), place(true), 0);
      check_rows(x.t(), rowtest::argmin(x, 0), place(false), 0);
      const auto [ahead, product] = rowtest::ahead(x, 0);
      REQUIRE(ahead.scalar_type() == kLong);
      check_rows(x.t(), ahead, place(true), 0);
      const auto times_place = [](const Values& row) {
        Values result;
        const auto place = static_cast<double>(first_extreme(row, false));
        for (const double v : row) result.push_back(v * place);
        return result;
      };
      check_rows(x.t(), product.t(), times_place, unit_of(dtype));
      const auto [count, all] = rowtest::count(x, {0});
      check_rows(
          x.t(), count,
          [](const Values& row) {
            return Values{static_cast<double>(row.size()) -
                          static_cast<double>(std::count(row.begin(), row.end(), 0.0))};
          },
          0);
    }
  }
}

TEST_CASE("rows: extremes of integers of every width, along rows and across") {
  manual_seed(10);
  for (const ScalarType dtype : {kByte, kChar, kShort, kInt, kLong, kBool}) {
    for (const int64_t n : {1, 3, 40, 300}) {
      INFO(dtype << ", rows of " << n);
      // Beyond the narrow ones, so that their ends are there.
      const Tensor x = (randn({n, 33}, TensorOptions(kDouble)) * 1e4).to(kLong).to(dtype);
      const auto largest = [](const Values& row) {
        return Values{*std::max_element(row.begin(), row.end())};
      };
      const auto place = [](const Values& row) {
        return Values{static_cast<double>(first_extreme(row, false))};
      };
      REQUIRE(rowtest::amax(x, {0}).scalar_type() == dtype);
      check_rows(x.t(), rowtest::amax(x, {0}), largest, 0);
      check_rows(x.t(), rowtest::amax(x.t().contiguous(), {1}), largest, 0);
      check_rows(x.t(), rowtest::argmin(x, 0), place, 0);
      check_rows(x.t(), rowtest::argmin(x.t().contiguous(), 1), place, 0);
    }
  }
}

TEST_CASE("rows: positions among more bytes than a byte counts vectors of") {
  manual_seed(12);
  // In one stretch, in several, in pieces; the last three of rows side by side.
  using Sizes = std::pair<int64_t, int64_t>;
  for (const auto& [rows, n] :
       {Sizes{7, 700}, {3, 9000}, {3, 40000}, {1, 200000}, {130, 300}, {70, 1000}, {65, 9000}}) {
    for (const ScalarType dtype : {kByte, kBool}) {
      INFO(dtype << ", " << rows << " rows of " << n);
      const bool side_by_side = rows >= 65;
      Tensor x = full({rows, n}, int64_t{1}, TensorOptions(dtype));
      uint8_t* const p = static_cast<uint8_t*>(x.data_ptr());
      for (int64_t r = 0; r < rows; ++r) {
        // One element beyond the others at the end of the row, twice before, or nowhere.
        uint8_t* const row = p + r * n;
        if (r % 3 == 0) row[n - 1 - r % 5] = 0;
        if (r % 3 == 1) row[n / 2 + r % 7] = row[n / 2 + 40 + r % 7] = 0;
        if (dtype == kByte && r % 2 == 0) row[n - 3 - r % 64] = 255;
      }
      if (side_by_side) x = x.t().contiguous().t();
      for (const bool largest : {false, true}) {
        const auto place = [largest](const Values& row) {
          return Values{static_cast<double>(first_extreme(row, largest))};
        };
        check_rows(x, largest ? rowtest::argmax(x, 1) : rowtest::argmin(x, 1), place, 0);
      }
      const auto top = [](const Values& row) {
        return Values{*std::max_element(row.begin(), row.end())};
      };
      check_rows(x, rowtest::amax(x, {1}), top, 0);
    }
  }
}

TEST_CASE("rows: rows of segments that lie among those of other rows") {
  manual_seed(13);
  // More rows than are taken at a time, and not a multiple; segments shorter than a vector; the
  // last in pieces.
  for (const auto& sizes : {DimVector{3, 40, 50}, {5, 70, 3}, {2, 17, 300}, {14, 19, 10000}}) {
    for (const ScalarType dtype : {kDouble, kFloat, kBFloat16, kInt, kByte}) {
      INFO(dtype << " " << IntArrayRef(sizes));
      const Tensor x = (randn(sizes, TensorOptions(kDouble)) * 5).round().abs().to(dtype);
      const Tensor rows = x.transpose(0, 1).reshape({sizes[1], -1});
      const auto top = [](const Values& row) {
        return Values{*std::max_element(row.begin(), row.end())};
      };
      const auto others = [](const Values& row) {
        return Values{static_cast<double>(row.size()) -
                      static_cast<double>(std::count(row.begin(), row.end(), 0.0))};
      };
      check_rows(rows, rowtest::amax(x, {0, 2}), top, 0);
      check_rows(rows, std::get<0>(rowtest::count(x, {0, 2})), others, 0);
      if (!is_floating_point(dtype)) continue;
      const auto variance = [](const Values& row) {
        double mean = 0, squares = 0;
        for (const double v : row) mean += v / static_cast<double>(row.size());
        for (const double v : row) squares += (v - mean) * (v - mean);
        return Values{squares / static_cast<double>(row.size() - 1)};
      };
      check_rows(rows, x.var({0, 2}), variance, std::max(4 * unit_of(dtype), 1e-12));
    }
  }
}

TEST_CASE("rows: positions over any dimensions") {
  const Tensor x = tensor_of({4, 9, 2, 7, 7, 9}, {2, 3}, kFloat);
  REQUIRE(values(rowtest::argmax(x)) == Values{1});
  REQUIRE(rowtest::argmax(x).sizes() == IntArrayRef{});
  REQUIRE(rowtest::argmax(x, std::nullopt, true).sizes() == IntArrayRef({1, 1}));
  REQUIRE(values(rowtest::argmax(x, 0)) == Values{1, 0, 1});
  REQUIRE(rowtest::argmax(x, -1, true).sizes() == IntArrayRef({2, 1}));
  REQUIRE(values(rowtest::argmin(x.transpose(0, 1), 0)) == Values{2, 0});
  REQUIRE(rowtest::argmax(full({}, 3.0)).item<int64_t>() == 0);
  REQUIRE(rowtest::argmax(empty({0, 3}, TensorOptions(kFloat)), 1).sizes() == IntArrayRef({0}));
  REQUIRE_THROWS_WITH(rowtest::argmax(empty({3, 0}, TensorOptions(kFloat)), 1),
                      Catch::Contains("to have non-zero size"));
  REQUIRE_THROWS_WITH(rowtest::argmax(x, 2), Catch::Contains("Dimension out of range"));
  REQUIRE_FALSE(rowtest::argmax(x.clone().requires_grad_(), 1).requires_grad());
}

TEST_CASE("rows: positions in rows that are computed in pieces") {
  constexpr int64_t kLength = 3 * 65536 + 17;
  const int before = get_num_threads();
  Tensor x = full({kLength}, 1.0, TensorOptions(kFloat));
  float* const p = x.data_ptr<float>();
  for (const int threads : {1, 3}) {
    set_num_threads(threads);
    CHECK(rowtest::argmax(x).item<int64_t>() == 0);
    p[kLength - 4] = p[kLength - 1] = 2;
    CHECK(rowtest::argmax(x).item<int64_t>() == kLength - 4);
    p[140000] = p[70000] = 0;
    CHECK(rowtest::argmin(x).item<int64_t>() == 70000);
    const auto [count, all] = rowtest::count(x);
    CHECK(count.item<int64_t>() == kLength - 2);
    CHECK_FALSE(all.item<bool>());
    p[65535] = p[131072] = std::numeric_limits<float>::quiet_NaN();
    CHECK(rowtest::argmax(x).item<int64_t>() == 65535);
    CHECK(rowtest::argmin(x).item<int64_t>() == 65535);
    x.fill_(1.0);
  }
  set_num_threads(before);
}

TEST_CASE("rows: positions and numbers of elements beyond what a float has") {
  constexpr int64_t kLength = (int64_t{1} << 24) + 5;
  Tensor x = full({kLength}, 1.0, TensorOptions(kFloat));
  x.data_ptr<float>()[kLength - 4] = 2;
  CHECK(rowtest::argmax(x).item<int64_t>() == kLength - 4);
  x.data_ptr<float>()[3] = 0;
  const auto [count, all] = rowtest::count(x);
  CHECK(count.scalar_type() == kLong);
  CHECK(count.item<int64_t>() == kLength - 1);
  // In a computation a position is a float, which has no such value.
  REQUIRE_THROWS_WITH(rowtest::farthest(x, 0),
                      Catch::Contains("positions beyond 2^24 are no values of float"));
}

TEST_CASE("rows: the element at a computed position") {
  const Tensor x = tensor_of({1, -5, 3, 5, 0, 2}, {2, 3}, kFloat);
  for (const ScalarType dtype : {kFloat, kDouble, kHalf, kInt}) {
    const auto [value, place, count] = rowtest::farthest(x.to(dtype));
    REQUIRE(value.scalar_type() == dtype);
    REQUIRE(values(value) == Values{-5, 5});
    REQUIRE(place.scalar_type() == kLong);
    REQUIRE(values(place) == Values{1, 0});
    REQUIRE(values(count) == Values{1, 0});
  }
  Tensor leaf = x.clone().requires_grad_();
  const auto [value, place, count] = rowtest::farthest(leaf);
  REQUIRE_FALSE(place.requires_grad());
  REQUIRE_FALSE(count.requires_grad());
  value.sum().backward();
  REQUIRE(values(leaf.grad()) == Values{0, 1, 0, 1, 0, 0});
}

TEST_CASE("rows: extremes of the numbers alone") {
  manual_seed(8);
  for (const ScalarType dtype : kFloats) {
    for (const int64_t n : kLengths) {
      INFO(dtype << ", rows of " << n);
      Tensor x = randn({4, n}, TensorOptions(kDouble));
      for (int64_t i = 0; i < x.numel(); i += 3) x.data_ptr<double>()[i] = kNaN;
      x = x.to(dtype);
      const auto [largest, smallest] = rowtest::numbers(x);
      const auto extreme = [](auto f) {
        return [f](const Values& row) {
          double result = kNaN;
          for (const double v : row) result = f(result, v);
          return Values{result};
        };
      };
      check_rows(x, largest, extreme([](double a, double b) { return std::fmax(a, b); }), 0);
      check_rows(x, smallest, extreme([](double a, double b) { return std::fmin(a, b); }), 0);
    }
  }
  const auto [largest, smallest] =
      rowtest::numbers(tensor_of({kNaN, -kInf, kNaN, kNaN, kInf, -kInf}, {3, 2}, kFloat));
  REQUIRE(values(largest)[0] == -kInf);
  REQUIRE(std::isnan(values(largest)[1]));
  REQUIRE(values(largest)[2] == kInf);
  REQUIRE(values(smallest)[2] == -kInf);
  const auto [most, least] = rowtest::numbers(tensor_of({3, -7, 200000, 4}, {2, 2}, kInt));
  REQUIRE(most.scalar_type() == kInt);
  REQUIRE(values(most) == Values{3, 200000});
  REQUIRE(values(least) == Values{-7, 4});
  REQUIRE_THROWS_WITH(rowtest::numbers(empty({2, 0}, TensorOptions(kFloat))),
                      Catch::Contains("to have non-zero size"));
}

TEST_CASE("rows: operators compute the same where the kernel does not run") {
  manual_seed(11);
  const DispatchKeySet elsewhere(Backend::PrivateUse1);
  const auto same = [](const Tensor& got, const Tensor& wanted) {
    REQUIRE(got.scalar_type() == wanted.scalar_type());
    REQUIRE(got.sizes() == wanted.sizes());
    check_rows(
        wanted.reshape({-1, 1}), got, [](const Values& row) { return row; }, 0);
  };
  for (const ScalarType dtype : {kDouble, kFloat, kBFloat16, kInt}) {
    INFO(dtype);
    Tensor x = (randn({2, 5, 3}, TensorOptions(kDouble)) * 2).round();
    if (is_floating_point(dtype)) {
      for (int64_t i = 0; i < 30; i += 4) x.data_ptr<double>()[i] = kNaN;
      for (int64_t i = 0; i < 15; i += 3) x.data_ptr<double>()[i] = kNaN;  // nothing else there
    }
    x = x.to(dtype);
    same(rowtest::ops::argmax::redispatch(elsewhere, x, 1, true), rowtest::argmax(x, 1, true));
    same(rowtest::ops::argmin::redispatch(elsewhere, x, std::nullopt, false), rowtest::argmin(x));
    const auto [count, all] = rowtest::ops::count::redispatch(elsewhere, x, {0, 2});
    const auto [wanted_count, wanted_all] = rowtest::count(x, {0, 2});
    same(count, wanted_count);
    same(all, wanted_all);
    const auto [largest, smallest] = rowtest::ops::numbers::redispatch(elsewhere, x, 1);
    const auto [wanted_largest, wanted_smallest] = rowtest::numbers(x, 1);
    same(largest, wanted_largest);
    same(smallest, wanted_smallest);
    const auto [value, place, before] = rowtest::ops::farthest::redispatch(elsewhere, x, 2);
    const auto [wanted_value, wanted_place, wanted_before] = rowtest::farthest(x, 2);
    same(value, wanted_value);
    same(place, wanted_place);
    same(before, wanted_before);
  }
}
