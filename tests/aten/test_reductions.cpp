#include <algorithm>
#include <complex>
#include <limits>

#include "aten/core/generator.h"
#include "aten/generated_support/tensor_factories.h"
#include "tenon/ops/all.h"
#include "tenon/ops/any.h"
#include "tenon/ops/cumsum.h"
#include "tenon/ops/full.h"
#include "tenon/ops/linalg_vector_norm.h"
#include "tenon/ops/max.h"
#include "tenon/ops/mean.h"
#include "tenon/ops/min.h"
#include "tenon/ops/norm.h"
#include "tenon/ops/ones.h"
#include "tenon/ops/randn.h"
#include "tenon/ops/scalar_tensor.h"
#include "tenon/ops/std.h"
#include "tenon/ops/sum.h"
#include "tenon/ops/var.h"
#include "tenon/ops/zeros.h"
#include "tests/aten/test_support.h"

using namespace tenon;
using tenon::test::check_error;
using tenon::test::close;
using tenon::test::values;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

/// The reduction of every group of elements that differ only in the dimensions of the mask.
std::vector<double> reference(const Tensor& t, uint64_t mask,
                              const std::function<double(const std::vector<double>&)>& f) {
  const std::vector<double> x = values(t);
  std::vector<std::vector<double>> groups;
  int64_t outputs = 1;
  for (int64_t d = 0; d < t.dim(); ++d) outputs *= (mask >> d) & 1 ? 1 : t.size(d);
  groups.resize(static_cast<size_t>(outputs));
  for (size_t i = 0; i < x.size(); ++i) {
    auto rest = static_cast<int64_t>(i);
    int64_t at = 0, step = 1;
    for (int64_t d = t.dim(); d-- > 0;) {
      if (!((mask >> d) & 1)) {
        at += rest % t.size(d) * step;
        step *= t.size(d);
      }
      rest /= t.size(d);
    }
    groups[static_cast<size_t>(at)].push_back(x[i]);
  }
  std::vector<double> result;
  for (const auto& g : groups) result.push_back(f(g));
  return result;
}

double sum_of(const std::vector<double>& v) {
  double s = 0;
  for (double x : v) s += x;
  return s;
}
double var_of(const std::vector<double>& v) {
  const double mean = sum_of(v) / static_cast<double>(v.size());
  double s = 0;
  for (double x : v) s += (x - mean) * (x - mean);
  return s / static_cast<double>(v.size() - 1);
}

/// Shapes and layouts that take every path: rows, columns, narrow columns, several groups, gaps.
std::vector<Tensor> samples(ScalarType type) {
  std::vector<Tensor> result;
  manual_seed(3);
  const auto random = [&](IntArrayRef sizes) { return tenon::randn(sizes).to(kFloat).to(type); };
  result.push_back(random({7}));
  result.push_back(random({3, 5}));
  result.push_back(random({40, 3}));
  result.push_back(random({1030, 70}));
  result.push_back(random({3, 2500}));
  result.push_back(random({4, 9, 130}));
  result.push_back(random({5, 6, 7}).permute({2, 0, 1}));
  result.push_back(random({6, 40}).slice(1, 0, 40, 3));
  result.push_back(random({3, 1, 5}).expand({3, 4, 5}));
  result.push_back(random({2, 3, 4, 5}).permute({0, 3, 1, 2}));
  result.push_back(random({70000}));
  return result;
}

std::vector<int64_t> dims_of(uint64_t mask, int64_t rank) {
  std::vector<int64_t> dims;
  for (int64_t d = 0; d < rank; ++d) {
    if ((mask >> d) & 1) dims.push_back(d);
  }
  return dims;
}

}  // namespace

TEST_CASE("sum, mean, amax, amin, prod, var, norm over every set of dimensions") {
  for (ScalarType type : {kFloat, kDouble, kHalf, kBFloat16}) {
    const double eps = type == kDouble  ? 1e-12
                       : type == kFloat ? 3e-6
                       : type == kHalf  ? 2e-3
                                        : 1e-2;
    for (const Tensor& t : samples(type)) {
      for (uint64_t mask = 1; mask < (uint64_t{1} << t.dim()); ++mask) {
        INFO(type << " sizes " << t.sizes() << " strides " << t.strides() << " mask " << mask);
        const std::vector<int64_t> dims = dims_of(mask, t.dim());
        const double n =
            static_cast<double>(t.numel()) / static_cast<double>(tenon::sum(t, dims).numel());
        CHECK(close(values(tenon::sum(t, dims)), reference(t, mask, sum_of),
                    eps * std::sqrt(n) + eps));
        CHECK(close(
            values(tenon::mean(t, dims)),
            reference(t, mask,
                      [](const auto& v) { return sum_of(v) / static_cast<double>(v.size()); }),
            eps));
        CHECK(close(values(t.amax(dims)), reference(t, mask, [](const auto& v) {
                      return *std::max_element(v.begin(), v.end());
                    })));
        CHECK(close(values(t.amin(dims, true)), reference(t, mask, [](const auto& v) {
                      return *std::min_element(v.begin(), v.end());
                    })));
        if (n > 1) CHECK(close(values(tenon::var(t, dims, true)), reference(t, mask, var_of), eps));
        CHECK(close(values(tenon::linalg_vector_norm(t, 2, dims)),
                    reference(t, mask,
                              [](const auto& v) {
                                double s = 0;
                                for (double x : v) s += x * x;
                                return std::sqrt(s);
                              }),
                    eps));
        CHECK(close(values(tenon::any(t.to(kInt), dims)),
                    reference(t.to(kInt), mask, [](const auto& v) {
                      for (double x : v)
                        if (x != 0) return 1.0;
                      return 0.0;
                    })));
        CHECK(close(values(tenon::all(t.to(kInt), dims)),
                    reference(t.to(kInt), mask, [](const auto& v) {
                      for (double x : v)
                        if (x == 0) return 0.0;
                      return 1.0;
                    })));
      }
    }
  }
}

TEST_CASE("max, argmax, cumsum along one dimension") {
  for (ScalarType type : {kFloat, kDouble, kLong, kHalf, kByte}) {
    for (const Tensor& t : samples(type)) {
      for (int64_t d = 0; d < t.dim(); ++d) {
        INFO(type << " sizes " << t.sizes() << " dim " << d);
        const uint64_t mask = uint64_t{1} << d;
        const auto first_max = [](const std::vector<double>& v) {
          return static_cast<double>(std::max_element(v.begin(), v.end()) - v.begin());
        };
        const auto [most, at] = tenon::max(t, d);
        CHECK(close(values(most), reference(t, mask, [](const auto& v) {
                      return *std::max_element(v.begin(), v.end());
                    })));
        CHECK(close(values(at), reference(t, mask, first_max)));
        CHECK(close(values(t.argmax(d, true)), reference(t, mask, first_max)));
        const auto [least, where] = tenon::min(t, d, true);
        CHECK(close(values(least), reference(t, mask, [](const auto& v) {
                      return *std::min_element(v.begin(), v.end());
                    })));
        CHECK(close(values(where), reference(t, mask, [](const auto& v) {
                      return static_cast<double>(std::min_element(v.begin(), v.end()) - v.begin());
                    })));
        if (t.size(d) < 100) {
          const Tensor sums = tenon::cumsum(t.to(kDouble), d);
          CHECK(close(values(sums.select(d, t.size(d) - 1)), reference(t, mask, sum_of), 1e-12));
        }
      }
    }
  }
}

TEST_CASE("integers are summed in int64") {
  const Tensor bytes = tenon::full({1000, 3}, 200, kByte);
  CHECK(bytes.sum().scalar_type() == kLong);
  CHECK(bytes.sum().item<int64_t>() == 600000);
  CHECK(close(values(tenon::sum(bytes, 0)), {200000, 200000, 200000}));
  CHECK(tenon::ones({5}, kBool).sum().item<int64_t>() == 5);
  CHECK(tenon::full({40}, 2, kInt).prod().item<int64_t>() == int64_t{1} << 40);
  CHECK(tenon::ones({3}, kInt).sum(kFloat).scalar_type() == kFloat);
  const Tensor c = tenon::tensor({std::complex<double>(1, 2), std::complex<double>(3, -1)});
  CHECK(c.sum().item().toComplexDouble() == std::complex<double>(4, 1));
}

TEST_CASE("long float sums stay accurate") {
  const Tensor t = tenon::full({10000000}, 0.1);
  CHECK(std::fabs(t.sum().item<double>() - 1000000) < 1);
  CHECK(std::fabs(t.mean().item<double>() - 0.1) < 1e-7);
  CHECK(close(values(tenon::sum(t.view({1000000, 10}), 0)), std::vector<double>(10, 100000), 1e-6));
  CHECK(tenon::full({100000}, 0.1, kBFloat16).sum().item<double>() == Approx(10000).epsilon(5e-3));
}

TEST_CASE("NaN and infinities") {
  Tensor t = tenon::tensor({{1., 5., 2.}, {3., 4., 9.}});
  Tensor cell = t.select(0, 0).select(0, 1);
  cell.fill_(kNan);
  CHECK(close(values(t.amax(1)), {kNan, 9}));
  CHECK(close(values(t.amin(0)), {1, kNan, 2}));
  CHECK(std::isnan(t.max().item<double>()));
  CHECK(t.argmax().item<int64_t>() == 1);
  CHECK(close(values(std::get<1>(tenon::max(t, 0))), {1, 0, 1}));
  Tensor row = tenon::zeros({1000});
  Tensor late = row.select(0, 777);
  late.fill_(kNan);
  CHECK(row.argmax().item<int64_t>() == 777);
  CHECK(row.argmin().item<int64_t>() == 777);
  CHECK(std::isnan(row.amax().item<double>()));
  CHECK(tenon::full({300}, -kInf).argmax().item<int64_t>() == 0);
  CHECK(tenon::full({300}, -kInf).amax().item<double>() == -kInf);
}

TEST_CASE("scalars, keepdim, empty reductions") {
  CHECK(tenon::scalar_tensor(3).sum().item<double>() == 3);
  CHECK(tenon::sum(tenon::scalar_tensor(3), 0).dim() == 0);
  CHECK(tenon::sum(tenon::ones({2, 3}), {0, 1}, true).sizes() == IntArrayRef({1, 1}));
  CHECK(tenon::sum(tenon::ones({2, 3}), IntArrayRef()).item<double>() == 6);
  CHECK(tenon::zeros({0}).sum().item<double>() == 0);
  CHECK(tenon::zeros({0}).prod().item<double>() == 1);
  CHECK(std::isnan(tenon::zeros({0}).mean().item<double>()));
  CHECK(std::isnan(tenon::zeros({0}).var(true).item<double>()));
  CHECK(std::isnan(tenon::zeros({1}).var(true).item<double>()));
  CHECK(ops::all::call(tenon::zeros({0})).item<bool>());
  CHECK_FALSE(ops::any::call(tenon::zeros({0})).item<bool>());
  CHECK(close(values(tenon::sum(tenon::zeros({0, 3}), 0)), {0, 0, 0}));
  CHECK(tenon::sum(tenon::zeros({0, 3}), 1).numel() == 0);
  CHECK(tenon::zeros({2, 0}).argmax(0).numel() == 0);
  check_error([] { tenon::zeros({0}).max(); },
              "Expected reduction dim to be specified for input.numel() == 0.");
  check_error<IndexError>(
      [] {
        tenon::max(tenon::zeros({0, 3}), 0);
      },
      "Expected reduction dim 0 to have non-zero size.");
  check_error<IndexError>(
      [] {
        tenon::zeros({0, 3}).amax(0);
      },
      "Expected reduction dim 0 to have non-zero size.");
  check_error([] { tenon::zeros({0}).argmax(); }, "Expected reduction dim to be specified");
  check_error([] { tenon::zeros({3}, kLong).mean(); },
              "could not infer output dtype. Input dtype must be either a floating point or "
              "complex dtype. Got: Long");
  check_error(
      [] {
        tenon::sum(tenon::zeros({3, 3}), {0, 0});
      },
      "dim 0 appears multiple times in the list of dims");
  check_error<IndexError>([] { tenon::sum(tenon::zeros({3}), 2); },
                          "Dimension out of range (expected to be in range of [-1, 0], but got 2)");
  check_error([] { tenon::zeros({3}, kComplexFloat).amax(); },
              "[amax] is not implemented for 'ComplexFloat'");
}

TEST_CASE("norms") {
  const Tensor t = tenon::tensor({3., -4., 0.});
  CHECK(tenon::norm(t).item<double>() == 5);
  CHECK(tenon::norm(t, 1).item<double>() == 7);
  CHECK(tenon::norm(t, 0).item<double>() == 2);
  CHECK(tenon::norm(t, kInf).item<double>() == 4);
  CHECK(tenon::norm(t, -kInf).item<double>() == 0);
  CHECK(tenon::norm(t, 3).item<double>() == Approx(std::cbrt(91.0)));
  CHECK(tenon::norm(tenon::full({4}, 1e30)).item<float>() == Approx(2e30f));
  CHECK(tenon::std(tenon::tensor({1., 2., 4.}), true).item<double>() == Approx(1.5275252));
}
