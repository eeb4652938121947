#include "tenon/ops/addmm.h"
#include "tenon/ops/baddbmm.h"
#include "tenon/ops/linear.h"
#include "tests/aten/cuda/support.h"

namespace tenon::test {
namespace {

using Tensors = std::vector<Tensor>;

TEST_CASE("matrix products of every dtype and layout") {
  TENON_NEEDS_GPU();
  for (ScalarType dtype :
       {kFloat, kDouble, kHalf, kBFloat16, kComplexFloat, kComplexDouble, kInt, kLong, kByte}) {
    const double limit = is_integral(dtype, true) ? 0 : tolerance(dtype) * 20;
    for (const auto& [m, k, n] : {std::array<int64_t, 3>{1, 1, 1},
                                  {5, 7, 3},
                                  {64, 32, 48},
                                  {1, 40, 9},
                                  {9, 40, 1},
                                  {33, 0, 5},
                                  {130, 70, 90}}) {
      INFO(to_string(dtype) << " " << m << "x" << k << "x" << n);
      const Tensor a = sample({m, k}, dtype), b = sample({k, n}, dtype, 2);
      const auto product = [](const Tensors& in) { return Tensors{in[0].mm(in[1])}; };
      same_on_both(product, {a, b}, limit);
      same_on_both(product, {sample({k, m}, dtype).t(), b}, limit);
      same_on_both(product, {a, sample({n, k}, dtype, 2).t()}, limit);
      same_on_both(product, {sample({k, m}, dtype).t(), sample({n, k}, dtype, 2).t()}, limit);
      same_on_both(product, {sample({m, 2 * k}, dtype).slice(1, 0, 2 * k, 2), b}, limit);
    }
  }
}

TEST_CASE("added products, fused and not") {
  TENON_NEEDS_GPU();
  for (ScalarType dtype : {kFloat, kDouble, kBFloat16, kComplexFloat}) {
    INFO(to_string(dtype));
    const Tensor a = sample({20, 30}, dtype), b = sample({30, 40}, dtype, 2);
    const auto f = [](const Tensors& in) {
      return Tensors{tenon::addmm(in[0], in[1], in[2]), tenon::addmm(in[0], in[1], in[2], 0.5, 2),
                     tenon::addmm(in[0], in[1], in[2], 0)};
    };
    for (const Tensor& self : {sample({40}, dtype, 3), sample({20, 40}, dtype, 3),
                               sample({20, 1}, dtype, 3), sample({}, dtype, 3)}) {
      same_on_both(f, {self, a, b}, tolerance(dtype) * 20);
    }
  }
}

TEST_CASE("batched products") {
  TENON_NEEDS_GPU();
  for (ScalarType dtype : {kFloat, kDouble, kHalf, kLong}) {
    INFO(to_string(dtype));
    const Tensor a = sample({6, 20, 30}, dtype), b = sample({6, 30, 10}, dtype, 2);
    const double limit = is_integral(dtype, true) ? 0 : tolerance(dtype) * 20;
    same_on_both([](const Tensors& in) { return Tensors{in[0].bmm(in[1])}; }, {a, b}, limit);
    same_on_both([](const Tensors& in) { return Tensors{in[0].bmm(in[1])}; },
                 {sample({6, 30, 20}, dtype).transpose(1, 2),
                  sample({1, 30, 10}, dtype).expand({6, 30, 10})},
                 limit);
    same_on_both(
        [](const Tensors& in) { return Tensors{tenon::baddbmm(in[0], in[1], in[2], 1, 2)}; },
        {sample({20, 10}, dtype, 3), a, b}, limit);
    same_on_both(
        [](const Tensors& in) {
          return Tensors{in[0].matmul(in[1]), in[0].select(0, 0).matmul(in[1])};
        },
        {a, b}, limit);
  }
}

TEST_CASE("gradients of products agree") {
  TENON_NEEDS_GPU();
  same_gradients(
      [](const Tensors& in) {
        return Tensors{in[0].matmul(in[1]), tenon::linear(in[0], in[2], in[3])};
      },
      {sample({3, 4, 5}, kDouble), sample({5, 6}, kDouble, 2), sample({7, 5}, kDouble, 3),
       sample({7}, kDouble, 4)});
}

}  // namespace
}  // namespace tenon::test
