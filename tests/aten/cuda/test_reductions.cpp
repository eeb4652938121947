#include <cmath>
#include <limits>

#include "tenon/ops/all.h"
#include "tenon/ops/any.h"
#include "tenon/ops/empty.h"
#include "tenon/ops/linalg_vector_norm.h"
#include "tests/aten/cuda/support.h"

namespace tenon::test {
namespace {

using Tensors = std::vector<Tensor>;

/// Shapes and layouts whose reductions take other ways: long and short rows, columns, middles,
/// splits.
std::vector<Tensor> inputs(ScalarType dtype) {
  return {sample({70000}, dtype),       sample({3, 5000}, dtype),
          sample({2000, 5}, dtype),     sample({40, 37}, dtype),
          sample({4, 50, 6, 7}, dtype), sample({30, 40}, dtype).t(),
          sample({1, 1}, dtype),        sample({6, 1, 9}, dtype).expand({6, 8, 9})};
}

TEST_CASE("sums, means and products") {
  TENON_NEEDS_GPU();
  for (ScalarType dtype :
       {kBool, kByte, kInt, kLong, kHalf, kBFloat16, kFloat, kDouble, kComplexFloat}) {
    for (const Tensor& t : inputs(dtype)) {
      INFO(to_string(dtype) << " " << t.sizes());
      const double limit = is_integral(dtype, true) ? 0 : tolerance(dtype) * 50;
      same_on_both(
          [](const Tensors& in) {
            return Tensors{in[0].sum(), in[0].sum(0), in[0].sum(-1, true)};
          },
          {t}, limit);
      if (is_integral(dtype, true)) continue;
      same_on_both(
          [](const Tensors& in) {
            return Tensors{in[0].mean(), in[0].mean(-1)};
          },
          {t}, limit);
    }
  }
  same_on_both(
      [](const Tensors& in) {
        return Tensors{in[0].prod(), in[0].prod(0), in[0].sum({0, 2}),
                       in[0].sum(0, false, kDouble)};
      },
      {sample({7, 3, 5}, kInt)}, 0);
  same_on_both(
      [](const Tensors& in) {
        return Tensors{in[0].sum(), in[0].sum(0), in[0].mean(), in[0].prod(1)};
      },
      {tenon::empty({0, 3}, TensorOptions(kFloat))});
}

TEST_CASE("extremes and where they are") {
  TENON_NEEDS_GPU();
  const auto f = [](const Tensors& in) {
    const auto [most, most_at] = in[0].max(0);
    const auto [least, least_at] = in[0].min(-1, true);
    return Tensors{in[0].amax(0), in[0].amin(-1), in[0].max(), in[0].min(),    most,
                   most_at,       least,          least_at,    in[0].argmax(), in[0].argmin(0)};
  };
  for (ScalarType dtype : {kByte, kLong, kHalf, kFloat, kDouble}) {
    for (const Tensor& t : inputs(dtype)) {
      INFO(to_string(dtype) << " " << t.sizes());
      same_on_both(f, {t}, 0);
    }
  }
  Tensor with_nan = sample({300}, kFloat);
  with_nan.select(0, 100).fill_(std::nan(""));
  with_nan.select(0, 200).fill_(std::nan(""));
  same_on_both(f, {with_nan}, 0);
}

TEST_CASE("any, all, var, std and norms") {
  TENON_NEEDS_GPU();
  for (ScalarType dtype : {kBool, kByte, kFloat, kComplexFloat}) {
    for (const Tensor& t : inputs(dtype)) {
      same_on_both(
          [](const Tensors& in) {
            return Tensors{ops::any::call(in[0]), in[0].all(0), in[0].eq(1).any(-1),
                           ops::all::call(in[0].eq(1))};
          },
          {t}, 0);
    }
  }
  for (ScalarType dtype : {kHalf, kFloat, kDouble, kComplexFloat}) {
    for (const Tensor& t : inputs(dtype)) {
      INFO(to_string(dtype) << " " << t.sizes());
      same_on_both(
          [](const Tensors& in) {
            constexpr double kInfinity = std::numeric_limits<double>::infinity();
            Tensors results{in[0].var(true), in[0].std(0, true), in[0].var(-1, false, true)};
            for (double p : {0.0, 1.0, 2.0, 3.0, kInfinity, -kInfinity}) {
              results.push_back(tenon::linalg_vector_norm(in[0], p, IntArrayRef(0)));
            }
            return results;
          },
          {t}, tolerance(dtype) * 20);
    }
  }
}

TEST_CASE("gradients of reductions agree") {
  TENON_NEEDS_GPU();
  same_gradients(
      [](const Tensors& in) {
        return Tensors{
            in[0].sum(0), in[0].mean(-1), in[0].amax(0), in[0].var(1), std::get<0>(in[0].max(1)),
            in[0].prod(1)};
      },
      {sample({5, 6}, kDouble)});
}

}  // namespace
}  // namespace tenon::test
