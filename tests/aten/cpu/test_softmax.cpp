#include "tenon/ops/_log_softmax.h"
#include "tenon/ops/_log_softmax_backward_data.h"
#include "tenon/ops/_softmax.h"
#include "tenon/ops/_softmax_backward_data.h"
#include "tests/aten/cpu/reference.h"

using namespace tenon;
using namespace tenon::test;

namespace {

/// Calls f(positions along `dim`) for every line of a row-major tensor.
template <class F>
void for_each_line(IntArrayRef sizes, int64_t dim, F&& f) {
  int64_t outer = 1, inner = 1;
  for (int64_t d = 0; d < dim; ++d) outer *= sizes[d];
  for (size_t d = dim + 1; d < sizes.size(); ++d) inner *= sizes[d];
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t i = 0; i < inner; ++i) {
      std::vector<size_t> at(sizes[dim]);
      for (int64_t j = 0; j < sizes[dim]; ++j) at[j] = (o * sizes[dim] + j) * inner + i;
      f(at);
    }
  }
}

Values reference(const Values& x, IntArrayRef sizes, int64_t dim, bool log) {
  Values y(x.size());
  for_each_line(sizes, dim, [&](const std::vector<size_t>& at) {
    double max = -INFINITY, sum = 0;
    for (const size_t i : at) max = std::isnan(x[i]) ? x[i] : std::fmax(max, x[i]);
    for (const size_t i : at) sum += std::exp(x[i] - max);
    for (const size_t i : at) y[i] = log ? x[i] - max - std::log(sum) : std::exp(x[i] - max) / sum;
  });
  return y;
}

Values reference_backward(const Values& g, const Values& y, IntArrayRef sizes, int64_t dim,
                          bool log) {
  Values dx(y.size());
  for_each_line(sizes, dim, [&](const std::vector<size_t>& at) {
    double sum = 0;
    for (const size_t i : at) sum += log ? g[i] : g[i] * y[i];
    for (const size_t i : at) dx[i] = log ? g[i] - std::exp(y[i]) * sum : y[i] * (g[i] - sum);
  });
  return dx;
}

Tensor softmax(const Tensor& x, int64_t dim, bool log) {
  return log ? _log_softmax(x, dim, false) : _softmax(x, dim, false);
}

double tolerance_of(ScalarType t) {
  return t == kBFloat16 ? 4e-2 : t == kHalf ? 5e-3 : t == kFloat ? 1e-5 : 1e-12;
}

}  // namespace

TEST_CASE("softmax, log_softmax and their gradients along every dimension") {
  for (const ScalarType dtype : {kFloat, kDouble, kHalf, kBFloat16}) {
    for (const auto& sizes :
         {DimVector{7}, DimVector{5, 10}, DimVector{3, 1000}, DimVector{4, 17, 33},
          DimVector{2, 3, 300}, DimVector{2, 0, 3}, DimVector{3, 1}, DimVector{2, 64, 2, 5}}) {
      for (int64_t dim = 0; dim < static_cast<int64_t>(sizes.size()); ++dim) {
        for (const bool log : {false, true}) {
          INFO(dtype << " " << sizes << " dim " << dim << " log " << log);
          for (const bool strided : {false, true}) {
            const Tensor x = strided ? random_strided(sizes, dtype) : random_tensor(sizes, dtype);
            const Tensor y =
                softmax(x, strided ? dim : dim - static_cast<int64_t>(sizes.size()), log);
            require_close(y, reference(values(x), sizes, dim, log), tolerance_of(dtype));
            const Tensor g = strided ? random_strided(sizes, dtype) : random_tensor(sizes, dtype);
            const Tensor dx = log ? _log_softmax_backward_data(g, y, dim, dtype)
                                  : _softmax_backward_data(g, y, dim, dtype);
            require_close(dx, reference_backward(values(g), values(y), sizes, dim, log),
                          10 * tolerance_of(dtype));
          }
        }
      }
    }
  }
}

TEST_CASE("softmax of extreme values") {
  const double inf = INFINITY, nan = std::nan("");
  for (const Values& row : {Values{1e30, -1e30, 0}, Values{-inf, 0, 1}, Values{-inf, -inf, -inf},
                            Values{nan, 0, 1}, Values{88, 89, 90}, Values{-1000, -1000, -1001}}) {
    for (const int64_t copies : {1, 20}) {
      Values all;
      for (int64_t i = 0; i < copies; ++i) all.insert(all.end(), row.begin(), row.end());
      const int64_t n = static_cast<int64_t>(all.size());
      for (const bool log : {false, true}) {
        const Tensor line = tensor_of({1, n}, kFloat, all),
                     column = tensor_of({n, 1, 1}, kFloat, all);
        Values wanted = reference(all, {n}, 0, log);
        if (std::isnan(row[0])) wanted.assign(wanted.size(), nan);  // one NaN poisons the row
        require_close(softmax(line, 1, log), wanted);
        require_close(softmax(column, 0, log), wanted);
      }
    }
  }
  REQUIRE(
      std::isnan(values(softmax(tensor_of(3, kFloat, {inf, 0, 1}), 0, false))[0]));  // inf - inf
}

TEST_CASE("softmax of a 0-d tensor is 1") {
  const Tensor x = tensor_of(IntArrayRef(), kFloat, {3});
  require_close(softmax(x, 0, false), {1});
  require_close(softmax(x, -1, true), {0});
}

TEST_CASE("softmax names what it does not do") {
  require_error(
      [] {
        _softmax(random_tensor({2, 2}, kLong), 0, false);
      },
      "[softmax] is not implemented for Long");
  require_error([] { _softmax(random_tensor({2, 2}), 2, false); }, "Dimension out of range");
  require_error([] { _softmax(random_tensor({2, 2}), 0, true); }, "supported for Half type only");
  require_error(
      [] {
        _softmax_backward_data(random_tensor({2, 2}), random_tensor(2), 0, kFloat);
      },
      "[_softmax_backward_data] grad_output and output need the same shape");
}

TEST_CASE("softmax of Half, given in Float") {
  const Tensor x = random_tensor({3, 5}, kHalf);
  for (const bool log : {false, true}) {
    const Tensor leaf = Tensor(x.detach()).requires_grad_();
    const Tensor y = log ? _log_softmax(leaf, 1, true) : _softmax(leaf, 1, true);
    REQUIRE(y.scalar_type() == kFloat);
    require_close(y, reference(values(x), {3, 5}, 1, log), 1e-6);
    const Tensor g = random_tensor({3, 5});
    y.backward(g);
    REQUIRE(leaf.grad().scalar_type() == kHalf);
    require_close(leaf.grad(), reference_backward(values(g), values(y), {3, 5}, 1, log), 1e-3);
  }
}
