// Generated row kernels beside loops in double: values in every dtype and layout, gradients by
// finite differences, gradients of gradients, and what a call refuses.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "aten/core/generator.h"
#include "aten/core/parallel.h"
#include "autograd/tools/gradcheck.h"
#include "rowtest/ops/affine.h"
#include "rowtest/ops/amax.h"
#include "rowtest/ops/any.h"
#include "rowtest/ops/at_largest.h"
#include "rowtest/ops/covariance.h"
#include "rowtest/ops/cross_entropy.h"
#include "rowtest/ops/layer_norm.h"
#include "rowtest/ops/log_softmax.h"
#include "rowtest/ops/logsumexp.h"
#include "rowtest/ops/min_all.h"
#include "rowtest/ops/normalize.h"
#include "rowtest/ops/position.h"
#include "rowtest/ops/prod.h"
#include "rowtest/ops/rms_norm.h"
#include "rowtest/ops/softmax.h"
#include "rowtest/ops/sum.h"
#include "rowtest/ops/var.h"
#include "tenon/ops/empty.h"
#include "tenon/ops/equal.h"
#include "tenon/ops/full.h"
#include "tenon/ops/permute.h"
#include "tenon/ops/randn.h"
#include "tenon/ops/reshape.h"
#include "tests/rows/support.h"

using namespace tenon;
using namespace tenon::test;

namespace {

/// Sums along the last dimension. What cancels is no more exact than its parts: beside the rounding
/// to the dtype, the error is one of the type of the computation in units of the sum of |x|.
void check_sums(const Tensor& x, const Tensor& got) {
  const double computed = unit_of(x.scalar_type() == kDouble ? kDouble : kFloat);
  const Values in = values(x), out = values(got);
  const size_t n = x.size(-1);
  REQUIRE(out.size() * n == in.size());
  for (size_t r = 0; r < out.size(); ++r) {
    long double sum = 0, of_magnitudes = 0;
    for (size_t i = r * n; i < (r + 1) * n; ++i) {
      sum += in[i];
      of_magnitudes += std::abs(in[i]);
    }
    const double wanted = static_cast<double>(sum);
    INFO("row " << r << ": got " << out[r] << ", wanted " << wanted);
    REQUIRE(std::abs(out[r] - wanted) <= unit_of(x.scalar_type()) * std::abs(wanted) +
                                             4 * computed * static_cast<double>(of_magnitudes));
  }
}

double largest(const Values& x) {
  double m = -kInf;
  for (const double v : x) m = std::isnan(v) || v > m ? v : m;
  return m;
}
double log_sum_exp(const Values& x) {
  const double m = largest(x), s = std::isinf(m) ? 0 : m;
  double sum = 0;
  for (const double v : x) sum += std::exp(v - s);
  return s + std::log(sum);
}
Values softmax_of(const Values& x) {
  Values y;
  const double l = log_sum_exp(x);
  for (const double v : x) y.push_back(std::exp(v - l));
  return y;
}
double variance(const Values& x, double correction) {
  double mean = 0, sum = 0;
  for (const double v : x) mean += v / x.size();
  for (const double v : x) sum += (v - mean) * (v - mean);
  return sum / (x.size() - correction);
}

}  // namespace

TEST_CASE("rows: values in every dtype and length") {
  manual_seed(1);
  for (const ScalarType dtype : kFloats) {
    for (const int64_t n : kLengths) {
      INFO(dtype << ", rows of " << n);
      const Tensor x = randn({3, n}, TensorOptions(kDouble)).to(dtype);
      const double unit = unit_of(dtype);
      check_rows(x, rowtest::softmax(x, 1), softmax_of, 8 * unit);
      check_rows(
          x, rowtest::log_softmax(x, -1),
          [](const Values& row) {
            const double l = log_sum_exp(row);
            Values y;
            for (const double v : row) y.push_back(v - l);
            return y;
          },
          8 * unit);
      check_rows(
          x, rowtest::logsumexp(x, 1), [](const Values& row) { return Values{log_sum_exp(row)}; },
          8 * unit);
      check_rows(
          x, rowtest::normalize(x, {1}),
          [](const Values& row) {
            double sum = 0;
            for (const double v : row) sum += v * v;
            Values y;
            for (const double v : row) y.push_back(v / std::sqrt(sum));
            return y;
          },
          8 * unit);
      check_sums(x, rowtest::sum(x, 1));
      if (n > 1) {
        check_rows(
            x, rowtest::var(x, {1}), [](const Values& row) { return Values{variance(row, 1)}; },
            8 * unit);
      }
    }
  }
}

TEST_CASE("rows: layer norm and rms norm") {
  manual_seed(2);
  for (const ScalarType dtype : kFloats) {
    for (const int64_t n : {3, 40, 1000}) {
      INFO(dtype << ", rows of " << n);
      const Tensor x = randn({4, n}, TensorOptions(kDouble)).to(dtype);
      const Tensor w = randn({n}, TensorOptions(kDouble)).to(dtype),
                   b = randn({n}, TensorOptions(kDouble)).to(dtype);
      const Values wv = values(w), bv = values(b);
      const double tolerance = 16 * unit_of(dtype);
      const auto [out, mean, rstd] = rowtest::layer_norm(x, {n}, w, b, 1e-5);
      REQUIRE(mean.sizes() == IntArrayRef({4}));
      const auto norm = [](const Values& row, const Values& w, const Values& b) {
        double mean = 0;
        for (const double v : row) mean += v / row.size();
        const double rstd = 1 / std::sqrt(variance(row, 0) + 1e-5);
        Values y;
        for (size_t i = 0; i < row.size(); ++i) y.push_back((row[i] - mean) * rstd * w[i] + b[i]);
        return y;
      };
      check_rows(
          x, out, [&](const Values& row) { return norm(row, wv, bv); }, tolerance);
      check_rows(
          x, std::get<0>(rowtest::layer_norm(x, {n})),
          [&](const Values& row) { return norm(row, Values(n, 1), Values(n, 0)); }, tolerance);
      check_rows(
          x, rowtest::rms_norm(x, w),
          [&](const Values& row) {
            double sum = 0;
            for (const double v : row) sum += v * v;
            Values y;
            for (size_t i = 0; i < row.size(); ++i)
              y.push_back(row[i] / std::sqrt(sum / n + 1e-6) * wv[i]);
            return y;
          },
          tolerance);
    }
  }
}

TEST_CASE("rows: any dimensions, any layout") {
  manual_seed(3);
  const Tensor x = randn({2, 3, 5, 4}, TensorOptions(kFloat));
  // Brought to the end by hand, so that the same rows are contiguous.
  const auto moved = [&](std::vector<int64_t> order, int64_t n) {
    return reshape(permute(x, order), {-1, n}).contiguous();
  };
  const auto total = [](const Values& row) {
    double sum = 0;
    for (const double v : row) sum += v;
    return Values{sum};
  };
  const double tolerance = 1e-5;
  check_rows(moved({1, 2, 3, 0}, 2), rowtest::sum(x, 0), total, tolerance);
  check_rows(moved({0, 2, 3, 1}, 3), rowtest::sum(x, IntArrayRef({1})), total, tolerance);
  check_rows(moved({0, 3, 1, 2}, 15), rowtest::sum(x, IntArrayRef({1, 2})), total, tolerance);
  check_rows(moved({1, 3, 0, 2}, 10), rowtest::sum(x, IntArrayRef({-2, 0})), total, tolerance);
  check_rows(moved({0, 1, 2, 3}, 120), rowtest::sum(x), total, tolerance);
  check_rows(moved({0, 1, 2, 3}, 120), rowtest::sum(x, IntArrayRef{}), total, tolerance);
  REQUIRE(rowtest::sum(x).sizes() == IntArrayRef{});
  REQUIRE(rowtest::sum(x, IntArrayRef({0, 2}), true).sizes() == IntArrayRef({1, 3, 1, 4}));
  REQUIRE(rowtest::sum(x, IntArrayRef({0, 2})).sizes() == IntArrayRef({3, 4}));
  for (const int64_t dim : {0, 1, 2, -1}) {
    INFO("softmax over " << dim);
    const Tensor y = rowtest::softmax(x, dim);
    REQUIRE(y.sizes() == x.sizes());
    const int64_t n = x.size(dim);
    const Tensor last = x.transpose(dim, -1), got = y.transpose(dim, -1);
    check_rows(reshape(last, {-1, n}), reshape(got, {-1, n}), softmax_of, tolerance);
    // The same rows as a view that is not contiguous.
    const Tensor strided = rowtest::softmax(last, -1);
    check_rows(reshape(last, {-1, n}), reshape(strided, {-1, n}), softmax_of, tolerance);
  }
  const Tensor both = rowtest::normalize(x, {0, 2});
  check_rows(
      moved({1, 3, 0, 2}, 10), reshape(permute(both, {1, 3, 0, 2}), {-1, 10}),
      [](const Values& row) {
        double sum = 0;
        for (const double v : row) sum += v * v;
        Values y;
        for (const double v : row) y.push_back(v / std::sqrt(sum));
        return y;
      },
      tolerance);
  REQUIRE(rowtest::sum(full({}, 3.0)).item<float>() == 3.0f);
  REQUIRE(rowtest::softmax(full({}, 3.0), -1).item<float>() == 1.0f);
}

TEST_CASE("rows: one number for all elements is read as a tensor full of it") {
  const auto check = [](const Tensor& x, const auto& function) {
    const auto gradient = [&](const Tensor& grad) {
      Tensor leaf = x.detach().clone().requires_grad_();
      function(leaf).backward(grad);
      return leaf.grad();
    };
    const Tensor number = full({}, 0.3, TensorOptions(x.scalar_type())).expand(x.sizes());
    const Tensor got = gradient(number), wanted = gradient(number.contiguous());
    CAPTURE(x.scalar_type(), x.sizes());
    REQUIRE(values(got) == values(wanted));
  };
  for (const ScalarType dtype : {kFloat, kDouble, kHalf, kBFloat16}) {
    const auto numbers = [&](IntArrayRef sizes) {
      return randn(sizes, TensorOptions(kFloat)).to(dtype);
    };
    for (const int dim : {0, 1}) {
      for (const auto& [rows, length] : {std::pair(96, 300), std::pair(3, 140000), std::pair(5, 7)})
        check(numbers({rows, length}),
              [&](const Tensor& x) { return rowtest::log_softmax(x, dim); });
    }
    check(numbers({6, 5, 40, 9}), [](const Tensor& x) { return rowtest::normalize(x, {0, 2}); });
    const Tensor weight = numbers({200});
    check(numbers({40, 200}), [&](const Tensor& x) { return rowtest::rms_norm(x, weight); });
  }
}

TEST_CASE("rows: an element by a value of its row is the rounded quotient") {
  // The norms are below `eps`, which divides.
  const struct {
    double size, eps;
  } cases[] = {{1e-3, 3}, {1, 7e6}, {1e-42, 1e-40}, {1e-20, 1e-19}, {1, 3e18}};
  for (const auto& [size, eps] : cases) {
    INFO(size << " / " << eps);
    Values in;
    for (int i = 0; i < 3 * 37; ++i) in.push_back(std::sin(1.7 * i) * size);
    in[5] = 0;
    const Tensor x = tensor_of(in, {3, 37}, kFloat);
    const Values exact = values(x), got = values(rowtest::normalize(x, {1}, eps));
    for (size_t i = 0; i < in.size(); ++i)
      REQUIRE(got[i] == static_cast<float>(exact[i]) / static_cast<float>(eps));
  }
  const Values bad = values(
      rowtest::normalize(tensor_of({kInf, 1, -1, 0, 0, kNaN, 0, 0, 0}, {3, 3}, kFloat), {1}, 0));
  REQUIRE(std::isnan(bad[0]));
  REQUIRE((bad[1] == 0 && bad[2] == 0));
  for (size_t i = 3; i < 9; ++i) REQUIRE(std::isnan(bad[i]));
}

TEST_CASE("rows: those that lie side by side have the results of those that do not") {
  manual_seed(9);
  for (const ScalarType dtype : {kFloat, kDouble, kBFloat16}) {
    const double unit = 4 * unit_of(dtype);
    const auto same = [&](const Tensor& a, const Tensor& b, double scale = 1) {
      const Values x = values(a), y = values(b);
      REQUIRE(a.sizes() == b.sizes());
      for (size_t i = 0; i < x.size(); ++i) REQUIRE(close(x[i], y[i], unit * scale));
    };
    for (const int64_t n : {1, 2, 17, 40}) {
      for (const int64_t width : {1, 3, 4, 15, 16, 17, 65, 513}) {
        INFO(dtype << ", " << width << " rows of " << n);
        const Tensor x = randn({n, width}, TensorOptions(kDouble)).to(dtype);
        const Tensor rows = x.t().contiguous();
        same(rowtest::softmax(x, 0), rowtest::softmax(rows, 1).t());
        same(rowtest::logsumexp(x, 0), rowtest::logsumexp(rows, 1));
        same(rowtest::amax(x, {0}), rowtest::amax(rows, {1}));
        same(rowtest::sum(x, 0), rowtest::sum(rows, 1), static_cast<double>(n));
      }
    }
    // In pieces; and rows of several segments, of elements side by side and not.
    const Tensor tall = randn({9001, 5}, TensorOptions(kDouble)).to(dtype);
    same(rowtest::amax(tall, {0}), rowtest::amax(tall.t().contiguous(), {1}));
    same(rowtest::softmax(tall, 0), rowtest::softmax(tall.t().contiguous(), 1).t());
    const Tensor x = randn({3, 4, 5, 6}, TensorOptions(kDouble)).to(dtype);
    const std::vector<int64_t> dims[] = {{0, 2, 3}, {0, 2}, {1, 3}, {0, 3}, {1, 2}, {0, 1}};
    for (const std::vector<int64_t>& d : dims) {
      std::vector<int64_t> order, last(d.size());
      for (int64_t k = 0; k < 4; ++k) {
        if (std::find(d.begin(), d.end(), k) == d.end()) order.push_back(k);
      }
      order.insert(order.end(), d.begin(), d.end());
      for (size_t k = 0; k < d.size(); ++k) last[k] = static_cast<int64_t>(4 - d.size() + k);
      const Tensor rows = permute(x, order).contiguous();
      same(rowtest::amax(x, d), rowtest::amax(rows, last));
      same(rowtest::logsumexp(x, d), rowtest::logsumexp(rows, last));
      if (d.size() == 2) same(rowtest::var(x, d), rowtest::var(rows, last));
    }
  }
}

TEST_CASE("rows: cross entropy reads one position of a row") {
  manual_seed(4);
  const Tensor x = randn({4, 9}, TensorOptions(kFloat));
  const Tensor target = tensor_of({8, 0, -100, 3}, {4}, kLong);
  const Values loss = values(rowtest::cross_entropy(x, target)), in = values(x);
  const int at[] = {8, 0, -1, 3};
  for (int r = 0; r < 4; ++r) {
    const Values row(in.begin() + r * 9, in.begin() + (r + 1) * 9);
    const double wanted = at[r] < 0 ? 0 : log_sum_exp(row) - row[at[r]];
    REQUIRE(close(loss[r], wanted, 1e-6));
  }
  REQUIRE_THROWS_WITH(
      rowtest::cross_entropy(x, tensor_of({8, 0, 9, 3}, {4}, kLong)),
      Catch::Contains("[rowtest::cross_entropy] Target 9 is out of bounds: row 2 has 9 elements"));
  REQUIRE_THROWS_WITH(rowtest::cross_entropy(x, tensor_of({8, 0, 1, 3}, {4}, kFloat)),
                      Catch::Contains("must be of an integer type, got Float"));
  REQUIRE_THROWS_WITH(rowtest::cross_entropy(x, tensor_of({8, 0, 1}, {3}, kLong)),
                      Catch::Contains("'target' must have one value per row, shape [4], got [3]"));
}

TEST_CASE("rows: dtypes of results") {
  const Tensor whole = tensor_of({3, -4, 5, 7, 0, 2}, {2, 3}, kInt);
  REQUIRE(rowtest::sum(whole).scalar_type() == kLong);
  REQUIRE(values(rowtest::sum(whole, 1)) == Values{4, 9});
  REQUIRE(rowtest::amax(whole).scalar_type() == kInt);
  REQUIRE(values(rowtest::amax(whole, {1})) == Values{5, 7});
  REQUIRE(values(rowtest::prod(whole, 1)) == Values{-60, 0});
  REQUIRE(rowtest::any(whole, 0).scalar_type() == kBool);
  REQUIRE(values(rowtest::any(whole, 0)) == Values{1, 1, 1});
  REQUIRE(rowtest::softmax(whole, 1).scalar_type() == kFloat);
  const Tensor big = tensor_of({9007199254740992.0, 1}, {1, 2}, kLong);
  REQUIRE(rowtest::sum(big).item<int64_t>() == 9007199254740993);
  REQUIRE_THROWS_WITH(rowtest::sum(tensor_of({1}, {1}, kComplexFloat)),
                      Catch::Contains("is not implemented for 'ComplexFloat'"));
}

TEST_CASE("rows: NaN, infinities and empty rows") {
  const Tensor x = tensor_of({1, kNaN, 2, kInf, 1, 2, -kInf, -kInf, -kInf, kInf, 1, -kInf}, {4, 3});
  const Values m = values(rowtest::amax(x, {1}));
  REQUIRE(std::isnan(m[0]));
  REQUIRE(m[1] == kInf);
  REQUIRE(m[2] == -kInf);
  REQUIRE(std::isnan(rowtest::min_all(x).item<double>()));
  const Values l = values(rowtest::logsumexp(x, 1));
  REQUIRE(std::isnan(l[0]));
  REQUIRE(l[1] == kInf);
  REQUIRE(l[2] == -kInf);
  const Values s = values(rowtest::sum(x, 1));
  REQUIRE(std::isnan(s[0]));
  REQUIRE(s[1] == kInf);
  REQUIRE(s[2] == -kInf);
  REQUIRE(std::isnan(s[3]));

  const Tensor none = empty({2, 0}, TensorOptions(kFloat));
  REQUIRE(values(rowtest::sum(none, 1)) == Values{0, 0});
  REQUIRE(values(rowtest::prod(none, 1)) == Values{1, 1});
  REQUIRE(values(rowtest::any(none, 1)) == Values{0, 0});
  REQUIRE(rowtest::sum(none, 0).sizes() == IntArrayRef({0}));
  REQUIRE_THROWS_WITH(rowtest::amax(none, {1}), Catch::Contains("to have non-zero size"));
  REQUIRE(rowtest::amax(none, {0}).numel() == 0);
  REQUIRE(rowtest::softmax(empty({0, 3}, TensorOptions(kFloat)), 1).sizes() == IntArrayRef({0, 3}));
  REQUIRE(rowtest::softmax(none, 1).sizes() == IntArrayRef({2, 0}));
  REQUIRE(values(rowtest::logsumexp(none, 1)) == Values{-kInf, -kInf});
}

TEST_CASE("rows: a long sum of floats loses little") {
  // One after the other they would lose 4 percent: each is small beside what came before.
  const int64_t n = 1 << 20;
  const Tensor x = full({n}, 0.1f, TensorOptions(kFloat));
  const double wanted = static_cast<double>(0.1f) * n;
  REQUIRE(std::abs(rowtest::sum(x).item<float>() - wanted) <= 3 * wanted * unit_of(kFloat));
}

TEST_CASE("rows: long rows are computed in pieces, the same for any number of threads") {
  constexpr int64_t kLength = 3 * 65536 + 17;
  Values row(2 * kLength);
  for (size_t i = 0; i < row.size(); ++i) row[i] = std::sin(0.37 * static_cast<double>(i)) * 3;
  const int before = get_num_threads();
  for (const ScalarType dtype : {kFloat, kDouble, kBFloat16}) {
    INFO(to_string(dtype));
    Tensor x = tensor_of(row, {2, kLength}, dtype);
    const Values in = values(x);
    double sum = 0, exps = 0, largest = -kInf;
    for (int64_t i = 0; i < kLength; ++i) {
      sum += in[i];
      exps += std::exp(in[i]);
      largest = std::max(largest, in[i]);
    }
    std::vector<Values> first;
    for (const int threads : {1, 2, 5}) {
      set_num_threads(threads);
      Tensor leaf = x.clone();
      leaf.requires_grad_();
      const Tensor one = leaf.narrow(0, 0, 1), log = rowtest::logsumexp(one);
      log.backward();
      std::vector<Values> all;
      for (const Tensor& t : {rowtest::sum(one.detach()), log.detach(), leaf.grad(),
                              rowtest::softmax(x, 1), rowtest::amax(x), rowtest::var(x, {1}),
                              rowtest::sum(x, IntArrayRef{1}), rowtest::prod(x * 0 + 1, 1)})
        all.push_back(values(t));
      const double unit = 4 * unit_of(dtype);
      CHECK(close(all[0][0], sum, unit * 2 * kLength / (1 + std::abs(sum)) + unit));
      CHECK(close(all[1][0], std::log(exps), unit));
      CHECK(close(all[2][12345], std::exp(in[12345]) / exps, unit));
      CHECK(all[2][kLength + 5] == 0);
      CHECK(close(all[3][kLength - 1] * 1e5, std::exp(in[kLength - 1]) / exps * 1e5, unit));
      CHECK(all[4][0] == Approx(largest));
      CHECK(all[7] == Values{1, 1});
      if (first.empty()) first = all;
      CHECK(all == first);
    }
    set_num_threads(before);
  }
  // A NaN in any piece.
  for (const int64_t at : {int64_t{5}, int64_t{70000}, kLength - 1}) {
    Values with = row;
    with.resize(kLength);
    with[at] = kNaN;
    CHECK(std::isnan(values(rowtest::min_all(tensor_of(with, {kLength}, kFloat)))[0]));
    CHECK(std::isnan(values(rowtest::sum(tensor_of(with, {kLength})))[0]));
  }
  const Tensor whole = tensor_of(Values(kLength, 3), {kLength}, kLong);
  CHECK(values(rowtest::sum(whole)) == Values{3.0 * kLength});
}

TEST_CASE("rows: large outputs, which bypass the caches, have the values of small ones") {
  manual_seed(8);
  struct Case {
    int64_t rows, n;
  };
  // Of aligned rows, of others, and in pieces.
  for (const auto& [rows, n] : {Case{4099, 1024}, Case{4099, 1025}, Case{33, 131136}}) {
    const Tensor x = randn({rows, 1}) * randn({n}), w = randn({n});
    const Tensor y = rowtest::rms_norm(x, w);
    for (const int64_t row : {int64_t{0}, rows / 2, rows - 1}) {
      INFO("row " << row << " of " << rows << " of " << n);
      CHECK(equal(y[row], rowtest::rms_norm(x[row], w)));
    }
  }
}

TEST_CASE("rows: gradients and their gradients") {
  manual_seed(5);
  const auto input = [](IntArrayRef sizes) {
    Tensor t = randn(sizes, TensorOptions(kDouble));
    return t.requires_grad_();
  };
  const auto check = [](const char* name, const autograd::CheckedFunction& f,
                        const std::vector<Tensor>& inputs) {
    INFO(name);
    CHECK(autograd::gradcheck(f, inputs));
    CHECK(autograd::gradgradcheck(f, inputs));
  };
  using List = std::vector<Tensor>;
  check("softmax", [](const List& x) { return List{rowtest::softmax(x[0], 1)}; }, {input({3, 5})});
  check("softmax over 0", [](const List& x) { return List{rowtest::softmax(x[0], 0)}; },
        {input({3, 5, 2})});
  check("covariance", [](const List& x) { return List{rowtest::covariance(x[0], 3)}; },
        {input({2, 4})});
  check("log_softmax", [](const List& x) { return List{rowtest::log_softmax(x[0], -1)}; },
        {input({3, 5})});
  check("logsumexp",
        [](const List& x) {
          return List{rowtest::logsumexp(x[0], IntArrayRef({0, 2}), true)};
        },
        {input({2, 3, 2})});
  check("layer_norm",
        [](const List& x) { return List{std::get<0>(rowtest::layer_norm(x[0], {4}, x[1], x[2]))}; },
        {input({3, 4}), input({4}), input({4})});
  check("layer_norm, every result",
        [](const List& x) {
          const auto [out, mean, rstd] = rowtest::layer_norm(x[0], {2, 3});
          return List{out, mean, rstd};
        },
        {input({2, 2, 3})});
  // Gradients of the others are absent.
  check("layer_norm, the mean",
        [](const List& x) { return List{std::get<1>(rowtest::layer_norm(x[0], {4}, x[1]))}; },
        {input({3, 4}), input({4})});
  check("layer_norm, the deviation",
        [](const List& x) { return List{std::get<2>(rowtest::layer_norm(x[0], {4}))}; },
        {input({3, 4})});
  check("layer_norm, values and deviation",
        [](const List& x) {
          const auto [out, mean, rstd] = rowtest::layer_norm(x[0], {4}, x[1], x[2]);
          return List{out, rstd};
        },
        {input({70, 4}), input({4}), input({4})});
  check("rms_norm", [](const List& x) { return List{rowtest::rms_norm(x[0], x[1])}; },
        {input({2, 3, 4}), input({4})});
  const Tensor target = tensor_of({3, -100, 0}, {3}, kLong);
  check("cross_entropy", [&](const List& x) { return List{rowtest::cross_entropy(x[0], target)}; },
        {input({3, 5})});
  check("normalize", [](const List& x) { return List{rowtest::normalize(x[0], {0})}; },
        {input({4, 3})});
  check("var", [](const List& x) { return List{rowtest::var(x[0], {0, 1})}; }, {input({4, 3})});
  check("sum", [](const List& x) { return List{rowtest::sum(x[0], 0, true)}; }, {input({4, 3})});
  check("amax", [](const List& x) { return List{rowtest::amax(x[0], {1})}; }, {input({4, 3})});
  check("prod", [](const List& x) { return List{rowtest::prod(x[0], 1)}; }, {input({4, 3})});
  // A product of rows with one zero, two, and none.
  Tensor zeros = tensor_of({0, 2, 3, 0, 5, 0, 7, 11, 13}, {3, 3}).requires_grad_();
  check("prod with zeros", [](const List& x) { return List{rowtest::prod(x[0], 1)}; }, {zeros});
  check("pick at a column's extreme",
        [](const List& x) { return List{rowtest::at_largest(x[0], x[1])}; },
        {input({3, 4}), input({4})});
  check("affine",
        [](const List& x) {
          const auto [a, b] = rowtest::affine(x[0], x[1], x[2], x[3]);
          return List{a, b};
        },
        {input({2, 3, 2}), input({3, 1}), input({2}), input({2, 1, 1})});
  check("affine without a shift",
        [](const List& x) {
          const auto [a, b] = rowtest::affine(x[0], x[1], x[2]);
          return List{a, b};
        },
        {input({2, 3, 2}), input({2}), input({2})});
  check("position", [](const List& x) { return List{rowtest::position(x[0])}; }, {input({2, 5})});
}

TEST_CASE("rows: gradients where a formula has corners") {
  const auto gradient = [](Tensor x, const std::function<Tensor(const Tensor&)>& f) {
    x.requires_grad_();
    f(x).sum().backward();
    return values(x.grad());
  };
  // Ties share, as PyTorch's amax has it.
  REQUIRE(gradient(tensor_of({1, 3, 3, 2}, {1, 4}), [](const Tensor& x) {
            return rowtest::amax(x, {1});
          }) == Values{0, 0.5, 0.5, 0});
  REQUIRE(gradient(tensor_of({2, 0, 3, 2, 0, 0}, {2, 3}), [](const Tensor& x) {
            return rowtest::prod(x, 1);
          }) == Values{0, 6, 0, 0, 0, 0});
  const Tensor target = tensor_of({-100}, {1}, kLong);
  REQUIRE(gradient(tensor_of({kInf, 1}, {1, 2}), [&](const Tensor& x) {
            return rowtest::cross_entropy(x, target);
          }) == Values{0, 0});
}

TEST_CASE("rows: gradients of half types and of long columns") {
  manual_seed(6);
  const int64_t rows = 300, n = 37;
  Tensor x = randn({rows, n}, TensorOptions(kFloat)).to(kBFloat16).requires_grad_();
  Tensor w = randn({n}, TensorOptions(kFloat)).to(kBFloat16).requires_grad_();
  rowtest::rms_norm(x, w).sum().backward();
  REQUIRE(x.grad().scalar_type() == kBFloat16);
  const Values in = values(x), dw = values(w.grad());
  Values wanted(n, 0);
  for (int64_t r = 0; r < rows; ++r) {
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += in[r * n + i] * in[r * n + i];
    for (int64_t i = 0; i < n; ++i) wanted[i] += in[r * n + i] / std::sqrt(sum / n + 1e-6);
  }
  for (int64_t i = 0; i < n; ++i) REQUIRE(close(dw[i], wanted[i], 2.0 / 128));
}

TEST_CASE("rows: sums for columns, of few rows and of many") {
  manual_seed(7);
  const int threads = get_num_threads();
  struct Case {
    int64_t rows, n;
    ScalarType dtype;
  };
  // In place; in groups of 4 to 64 rows, one or several to a thread; rows in pieces.
  for (const auto& [rows, n, dtype] : std::vector<Case>{{0, 5, kFloat},
                                                        {3, 5, kFloat},
                                                        {3, 37, kDouble},
                                                        {3, 37, kBFloat16},
                                                        {65, 3, kFloat},
                                                        {700, 100, kFloat},
                                                        {700, 100, kHalf},
                                                        {3, 70001, kFloat},
                                                        {9, 5000, kFloat},
                                                        {2, 131073, kFloat}}) {
    const Tensor data = randn({rows, n}, TensorOptions(kFloat)).to(dtype);
    const Tensor grad = randn({rows, n}, TensorOptions(kFloat)).to(dtype);
    const Values in = values(data), g = values(grad);
    Values wanted(n, 0), scale(n, 0);
    for (int64_t r = 0; r < rows; ++r) {
      double sum = 0;
      for (int64_t i = 0; i < n; ++i) sum += in[r * n + i] * in[r * n + i];
      for (int64_t i = 0; i < n; ++i) {
        const double term = g[r * n + i] * in[r * n + i] / std::sqrt(sum / n + 1e-6);
        wanted[i] += term;
        scale[i] += std::abs(term);
      }
    }
    for (const int count : {1, 3}) {
      INFO(rows << " rows of " << n << " " << dtype << " on " << count << " threads");
      set_num_threads(count);
      Tensor w = randn({n}, TensorOptions(kFloat)).to(dtype).requires_grad_();
      rowtest::rms_norm(data, w).backward(grad);
      set_num_threads(threads);
      const Values got = values(w.grad());
      REQUIRE(w.grad().scalar_type() == dtype);
      size_t wrong = 0;
      for (int64_t i = 0; i < n; ++i)
        wrong += !(std::abs(got[i] - wanted[i]) <= 8 * unit_of(dtype) * scale[i]);
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("rows: functions of rows that several entries share") {
  const Tensor x = randn({5, 37}, TensorOptions(kDouble));
  const auto wanted = [](const Values& row) {
    double mean = 0, sum = 0;
    for (const double v : row) mean += v * v / static_cast<double>(row.size());
    for (const double v : row) sum += (v * v - mean) * v;
    return Values{sum};
  };
  check_rows(x, rowtest::covariance(x, 2), wanted, 1e-12);
}

TEST_CASE("rows: operands that do not fit") {
  const Tensor x = randn({2, 3});
  REQUIRE_THROWS_WITH(rowtest::rms_norm(x, randn({4})),
                      Catch::Contains("'weight' must have the shape of a row, [3], got [4]"));
  REQUIRE_THROWS_WITH(
      rowtest::layer_norm(x, {4}),
      Catch::Contains("expected the last dimensions to be [4], got an input of shape [2, 3]"));
  REQUIRE_THROWS_WITH(rowtest::softmax(x, 2), Catch::Contains("Dimension out of range"));
  REQUIRE_THROWS_WITH(rowtest::normalize(x, {0, -2}), Catch::Contains("appears multiple times"));
}

TEST_CASE("rows: given outputs and meta tensors") {
  const Tensor x = randn({2, 3});
  Tensor out = empty({0});
  rowtest::logsumexp_out(out, x, 1);
  REQUIRE(values(out) == values(rowtest::logsumexp(x, 1)));
  const Tensor meta = empty({2, 3}, TensorOptions(kFloat).device(kMeta));
  REQUIRE(rowtest::logsumexp(meta, 1, true).sizes() == IntArrayRef({2, 1}));
}
