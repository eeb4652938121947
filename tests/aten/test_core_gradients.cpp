// Derivatives of views, copies, indexing and reductions against central differences.
#include "aten/core/generator.h"
#include "aten/core/thread_state.h"
#include "aten/generated_support/tensor_factories.h"
#include "tenon/ops/cat.h"
#include "tenon/ops/constant_pad_nd.h"
#include "tenon/ops/empty.h"
#include "tenon/ops/logsumexp.h"
#include "tenon/ops/max.h"
#include "tenon/ops/mean.h"
#include "tenon/ops/min.h"
#include "tenon/ops/norm.h"
#include "tenon/ops/randn.h"
#include "tenon/ops/sort.h"
#include "tenon/ops/stack.h"
#include "tenon/ops/std.h"
#include "tenon/ops/sum.h"
#include "tenon/ops/topk.h"
#include "tenon/ops/var.h"
#include "tests/aten/test_support.h"

using namespace tenon;
using tenon::test::values;

namespace {

using Function = std::function<Tensor(const Tensor&)>;

double weighted(const Function& f, const Tensor& x) {
  const auto y = values(f(x));
  double sum = 0;
  for (size_t i = 0; i < y.size(); ++i) sum += y[i] * (1.0 + 0.3 * static_cast<double>(i % 7));
  return sum;
}

void check_gradient(const std::string& name, const Function& f, const Tensor& start) {
  INFO(name);
  Tensor x = start.clone();
  x.requires_grad_(true);
  const Tensor y = f(x);
  REQUIRE(y.requires_grad());
  Tensor w = tenon::empty(y.sizes(), kDouble);
  auto* p = static_cast<double*>(w.data_ptr());
  for (int64_t i = 0; i < w.numel(); ++i) p[i] = 1.0 + 0.3 * static_cast<double>(i % 7);
  (y * w).sum().backward();
  const auto got = values(x.grad());
  std::vector<double> wanted;
  for (int64_t i = 0; i < start.numel(); ++i) {
    NoGradGuard guard;
    constexpr double kStep = 1e-6;
    Tensor up = start.clone(), down = start.clone();
    static_cast<double*>(up.data_ptr())[i] += kStep;
    static_cast<double*>(down.data_ptr())[i] -= kStep;
    wanted.push_back((weighted(f, up) - weighted(f, down)) / (2 * kStep));
  }
  CHECK(x.grad().sizes() == start.sizes());
  CHECK(tenon::test::close(got, wanted, 1e-6));
}

}  // namespace

TEST_CASE("gradients of core operators") {
  manual_seed(11);
  const Tensor x = tenon::randn({3, 4}, kDouble);
  const Tensor cube = tenon::randn({2, 3, 4}, kDouble);
  const Tensor index = tenon::tensor({2, 0, 2});
  const Tensor places = tenon::tensor({{1, 0, 3}, {2, 2, 0}});
  const Tensor mask = x > 0;
  const std::vector<std::pair<std::string, Function>> cases{
      {"view",
       [](const Tensor& t) {
         return t.view({2, 6});
       }},
      {"reshape",
       [](const Tensor& t) {
         return t.t().reshape({6, 2});
       }},
      {"permute",
       [](const Tensor& t) {
         return t.permute({1, 0});
       }},
      {"select", [](const Tensor& t) { return t.select(1, -1); }},
      {"slice", [](const Tensor& t) { return t.slice(1, 1, 4, 2); }},
      {"narrow", [](const Tensor& t) { return t.narrow(0, 1, 2); }},
      {"expand",
       [](const Tensor& t) {
         return t.unsqueeze(0).expand({5, 3, 4});
       }},
      {"squeeze", [](const Tensor& t) { return t.unsqueeze(1).squeeze(1); }},
      {"split", [](const Tensor& t) { return t.split(3, 1)[0] * 2; }},
      {"split_with_sizes",
       [](const Tensor& t) {
         return t.split({1, 3}, 1)[1] * 2;
       }},
      {"unbind", [](const Tensor& t) { return t.unbind(1)[2] * 2; }},
      {"chunk", [](const Tensor& t) { return t.chunk(2, 1)[1] * 2; }},
      {"as_strided",
       [](const Tensor& t) {
         return t.as_strided({3, 2}, {2, 3}, 1);
       }},
      {"diagonal", [](const Tensor& t) { return t.diagonal(1); }},
      {"unfold", [](const Tensor& t) { return t.unfold(1, 3, 1); }},
      {"clone", [](const Tensor& t) { return t.clone(); }},
      {"to", [](const Tensor& t) { return t.to(kDouble, false, true); }},
      {"cat",
       [](const Tensor& t) {
         return tenon::cat({t, t * 2}, 1);
       }},
      {"stack",
       [](const Tensor& t) {
         return tenon::stack({t, t}, 1);
       }},
      {"repeat",
       [](const Tensor& t) {
         return t.repeat({2, 1, 2});
       }},
      {"flip",
       [](const Tensor& t) {
         return t.flip({0, 1});
       }},
      {"roll",
       [](const Tensor& t) {
         return t.roll({1, -2}, {0, 1});
       }},
      {"constant_pad_nd",
       [](const Tensor& t) {
         return tenon::constant_pad_nd(t, {1, -1, 2, 0}, 3);
       }},
      {"tril", [](const Tensor& t) { return t.tril(-1); }},
      {"index_select", [&](const Tensor& t) { return t.index_select(1, index); }},
      {"gather", [&](const Tensor& t) { return t.gather(1, places); }},
      {"scatter_add",
       [&](const Tensor& t) { return t.scatter_add(1, places, t.slice(0, 0, 2).slice(1, 1, 4)); }},
      {"index_add", [&](const Tensor& t) { return t.index_add(0, index, t, 0.5); }},
      {"index_fill", [](const Tensor& t) { return t.index_fill(1, tenon::tensor({1}), 2); }},
      {"masked_select", [&](const Tensor& t) { return t.masked_select(mask); }},
      {"sum", [](const Tensor& t) { return t.sum(); }},
      {"sum dim", [](const Tensor& t) { return tenon::sum(t, {0}); }},
      {"mean", [](const Tensor& t) { return t.mean(); }},
      {"mean dim", [](const Tensor& t) { return tenon::mean(t, {1}, true); }},
      {"prod", [](const Tensor& t) { return t.prod(); }},
      {"prod dim", [](const Tensor& t) { return t.prod(1); }},
      {"amax", [](const Tensor& t) { return t.amax({1}); }},
      {"amin", [](const Tensor& t) { return t.amin({0}, true); }},
      {"max", [](const Tensor& t) { return t.max(); }},
      {"max dim", [](const Tensor& t) { return std::get<0>(tenon::max(t, 1)); }},
      {"min dim", [](const Tensor& t) { return std::get<0>(tenon::min(t, 0, true)); }},
      {"var",
       [](const Tensor& t) { return ops::var_correction::call(t, IntArrayRef({1}), 1, false); }},
      {"std",
       [](const Tensor& t) {
         return ops::std_correction::call(t, std::nullopt, std::nullopt, false);
       }},
      {"norm", [](const Tensor& t) { return tenon::norm(t); }},
      {"norm 3", [](const Tensor& t) { return tenon::norm(t, 3, {1}); }},
      {"norm inf", [](const Tensor& t) { return tenon::norm(t, HUGE_VAL, {1}); }},
      {"logsumexp", [](const Tensor& t) { return tenon::logsumexp(t, {1}); }},
      {"cumsum", [](const Tensor& t) { return t.cumsum(1); }},
      {"sort", [](const Tensor& t) { return std::get<0>(tenon::sort(t, 1, true)); }},
      {"topk", [](const Tensor& t) { return std::get<0>(tenon::topk(t, 2)); }},
      {"fill_",
       [](const Tensor& t) {
         Tensor y = t * 2;
         y.select(0, 1).fill_(3);
         return y;
       }},
      {"copy_",
       [](const Tensor& t) {
         Tensor y = t * 2;
         y.copy_(t.select(0, 1));
         return y;
       }},
  };
  for (const auto& [name, f] : cases) check_gradient(name, f, x);
}

TEST_CASE("the gradient of a product with zeros") {
  for (int zeros : {0, 1, 2}) {
    Tensor x = tenon::tensor({2., 3., 4.}, kDouble);
    for (int i = 0; i < zeros; ++i) x.select(0, i).zero_();
    check_gradient(
        "prod with " + std::to_string(zeros) + " zeros", [](const Tensor& t) { return t.prod(); },
        x);
  }
}
