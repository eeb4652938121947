// Forward mode: tangents beside finite differences, and the rules of duals.
#include "autograd/forward/forward_ad.h"

#include <algorithm>
#include <functional>

#include "aten/core/thread_state.h"
#include "aten/dispatch/trace_operators.h"
#include "autograd/tools/functional.h"
#include "tenon/ops/add.h"
#include "tenon/ops/addmm.h"
#include "tenon/ops/as_strided.h"
#include "tenon/ops/baddbmm.h"
#include "tenon/ops/bmm.h"
#include "tenon/ops/cat.h"
#include "tenon/ops/conv2d.h"
#include "tenon/ops/cross_entropy_loss.h"
#include "tenon/ops/gelu.h"
#include "tenon/ops/layer_norm.h"
#include "tenon/ops/leaky_relu.h"
#include "tenon/ops/linear.h"
#include "tenon/ops/linear_backward.h"
#include "tenon/ops/log_softmax.h"
#include "tenon/ops/logsumexp.h"
#include "tenon/ops/matmul.h"
#include "tenon/ops/max_pool2d.h"
#include "tenon/ops/mse_loss.h"
#include "tenon/ops/ones.h"
#include "tenon/ops/randn.h"
#include "tenon/ops/rms_norm.h"
#include "tenon/ops/softmax.h"
#include "tenon/ops/stack.h"
#include "tenon/ops/where.h"
#include "tenon/ops/zeros.h"
#include "tests/autograd/test_support.h"

using namespace tenon;
using namespace tenon::test;
using autograd::forward_ad::DualLevel;
using autograd::forward_ad::make_dual;
using autograd::forward_ad::tangent_of;
using autograd::forward_ad::unpack_dual;

namespace {

using Unary = std::function<Tensor(const Tensor&)>;

struct Case {
  const char* name;
  Unary f;
  std::vector<int64_t> sizes;
};

const Tensor& other() {
  static const Tensor t = sample({2, 3}, 2).detach();
  return t;
}

std::vector<Case> cases() {
  return {
      {"exp", [](const Tensor& x) { return x.exp(); }, {2, 3}},
      {"mul", [](const Tensor& x) { return x * other(); }, {2, 3}},
      {"mul twice", [](const Tensor& x) { return x * x; }, {2, 3}},
      {"mul broadcast", [](const Tensor& x) { return x * other(); }, {3}},
      {"div", [](const Tensor& x) { return other() / (x + 3); }, {2, 3}},
      {"scalar", [](const Tensor& x) { return (x * 3 + 1) / 2 - x; }, {2, 3}},
      {"pow", [](const Tensor& x) { return (x + 3).pow(2.5); }, {2, 3}},
      {"tanh", [](const Tensor& x) { return x.tanh(); }, {2, 3}},
      {"sigmoid", [](const Tensor& x) { return x.sigmoid(); }, {2, 3}},
      {"gelu", [](const Tensor& x) { return gelu(x); }, {2, 3}},
      {"leaky_relu", [](const Tensor& x) { return leaky_relu(x, 0.1); }, {2, 3}},
      {"clamp", [](const Tensor& x) { return x.clamp(-0.5, 0.5); }, {2, 3}},
      {"where", [](const Tensor& x) { return where(other().gt(2), x, x * 2); }, {2, 3}},
      {"sum", [](const Tensor& x) { return x.sum(); }, {2, 3}},
      {"sum dim", [](const Tensor& x) { return x.sum(1); }, {2, 3}},
      {"mean", [](const Tensor& x) { return x.mean(0); }, {2, 3}},
      {"var", [](const Tensor& x) { return x.var(1); }, {2, 3}},
      {"amax", [](const Tensor& x) { return x.amax(1); }, {2, 3}},
      {"prod", [](const Tensor& x) { return x.prod(); }, {4}},
      {"cumsum", [](const Tensor& x) { return x.cumsum(1); }, {2, 3}},
      {"softmax", [](const Tensor& x) { return softmax(x, 1); }, {2, 3}},
      {"log_softmax", [](const Tensor& x) { return log_softmax(x, 1); }, {2, 3}},
      {"layer_norm", [](const Tensor& x) { return layer_norm(x, {3}); }, {2, 3}},
      {"layer_norm of parameters",
       [](const Tensor& x) { return layer_norm(x.exp(), {3}, x.select(0, 0), x.select(0, 1)); },
       {2, 3}},
      {"rms_norm", [](const Tensor& x) { return rms_norm(x, {3}, x.select(0, 0)); }, {2, 3}},
      {"logsumexp", [](const Tensor& x) { return x.logsumexp({0}, true); }, {2, 3}},
      {"mse_loss", [](const Tensor& x) { return mse_loss(x, x.exp()); }, {2, 3}},
      {"cross_entropy",
       [](const Tensor& x) { return cross_entropy_loss(x, zeros({2}, TensorOptions(kLong))); },
       {2, 3}},
      {"mm", [](const Tensor& x) { return x.mm(x.t()); }, {2, 3}},
      {"matmul", [](const Tensor& x) { return matmul(other(), x); }, {3, 2}},
      {"linear", [](const Tensor& x) { return linear(x, other()); }, {2, 3}},
      {"bmm", [](const Tensor& x) { return bmm(x, x); }, {2, 3, 3}},
      {"conv2d",
       [](const Tensor& x) {
         return conv2d(x, sample({2, 1, 2, 2}).detach().fill_(0.5));
       },
       {1, 1, 4, 4}},
      {"max_pool2d", [](const Tensor& x) { return max_pool2d(x, 2); }, {1, 1, 4, 4}},
      {"views",
       [](const Tensor& x) {
         return x.t().select(0, 1).unsqueeze(0).expand({4, 2}) * 2;
       },
       {2, 3}},
      {"reshape", [](const Tensor& x) { return x.t().reshape({6}) * x.view({6}); }, {2, 3}},
      {"permute",
       [](const Tensor& x) {
         return x.permute({2, 0, 1}).contiguous().exp();
       },
       {2, 3, 2}},
      {"cat",
       [](const Tensor& x) {
         return cat({x, other(), x * 2}, 1);
       },
       {2, 3}},
      {"stack",
       [](const Tensor& x) {
         return stack({x, x.exp()});
       },
       {2, 3}},
      {"unbind", [](const Tensor& x) { return x.unbind()[0] * x.unbind()[1]; }, {2, 3}},
      {"index_select",
       [](const Tensor& x) {
         return x.index_select(1, tensor({0, 2, 2}, kLong));
       },
       {2, 3}},
      {"gather",
       [](const Tensor& x) {
         return x.gather(1, zeros({2, 1}, kLong));
       },
       {2, 3}},
      {"in place",
       [](const Tensor& x) {
         const Tensor y = x * 1;
         return y.mul_(x).add_(1).exp_();
       },
       {2, 3}},
      {"in place on a view",
       [](const Tensor& x) {
         const Tensor y = x * 1, before = y.select(1, 1);
         y.select(0, 0).mul_(other().select(0, 0));
         return y + before.sum();
       },
       {2, 3}},
      {"a tangent that comes through a view",
       [](const Tensor& x) {
         const Tensor y = zeros({2, 3}, kDouble), before = y.select(0, 1);
         y.select(0, 1).copy_(x);
         return y.sum(0) * before;
       },
       {3}},
      {"zero_",
       [](const Tensor& x) {
         const Tensor y = x * 1;
         y.select(0, 0).zero_();
         return y;
       },
       {2, 3}},
      {"what is shown changes in place",
       [](const Tensor& x) {
         const Tensor y = x * 1;
         Tensor v = y.view({3, 2});
         y.t_();
         v.t_().mul_(other());
         v.unsqueeze_(0);
         return y.reshape({6}) * v.reshape({6});
       },
       {2, 3}},
      {"complement of a sum", [](const Tensor& x) { return x.sub(x.sum(), 2); }, {2, 3}},
      {"addmm, baddbmm",
       [](const Tensor& x) {
         return addmm(x, x, x, 2, 3) +
                baddbmm(x.unsqueeze(0), x.unsqueeze(0), x.unsqueeze(0)).squeeze(0);
       },
       {3, 3}},
      {"sort, topk, max",
       [](const Tensor& x) {
         return std::get<0>(x.sort(1)).slice(1, 0, 1) * std::get<0>(x.topk(1)) +
                std::get<0>(x.max(1, true)) * std::get<0>(x.min(1)).sum();
       },
       {2, 3}},
      {"norms", [](const Tensor& x) { return x.norm() * x.std(1) + x.logsumexp({1}); }, {2, 3}},
      {"comparison", [](const Tensor& x) { return x.gt(0).to(kDouble) * x; }, {2, 3}},
  };
}

/// The derivative along v by central differences.
Tensor difference(const Unary& f, const Tensor& x, const Tensor& v) {
  const double eps = 1e-6;
  return (f(x + v * eps) - f(x - v * eps)) / (2 * eps);
}

double distance(const Tensor& a, const Tensor& b) {
  REQUIRE(a.sizes() == b.sizes());
  return (a - b).abs().amax().item<double>();
}

}  // namespace

TEST_CASE("Tangents are derivatives along a direction", "[forward_ad]") {
  for (const Case& one : cases()) {
    INFO(one.name);
    const Tensor x = sample(one.sizes).detach(), v = sample(one.sizes).detach();
    const Tensor expected = difference(one.f, x, v), value = one.f(x);
    for (const bool grad_mode : {true, false}) {
      const AutoGradMode mode(grad_mode);
      const DualLevel level;
      const auto [primal, tangent] = unpack_dual(one.f(make_dual(x, v)));
      REQUIRE(tangent.defined());
      CHECK(distance(tangent, expected) < 1e-6);
      CHECK(distance(primal, value) == 0);
      CHECK(!primal.requires_grad());
      CHECK(!tangent.requires_grad());
    }
  }
}

TEST_CASE("An operator with a rule for tangents is not differentiated backward", "[forward_ad]") {
  const Tensor x = sample({3, 3}).detach(), v = sample({3, 3}).detach(),
               w = sample({3, 3}).detach();
  const auto probes_backward = [&](const Unary& f) {
    start_operator_trace();
    {
      const DualLevel level;
      CHECK(tangent_of(f(make_dual(x, v))).defined());
    }
    const std::vector<std::string> called = stop_operator_trace();
    return std::find(called.begin(), called.end(), "aten::ones_like") != called.end();
  };
  CHECK_FALSE(probes_backward([&](const Tensor& t) { return t.mm(w); }));
  CHECK_FALSE(probes_backward([&](const Tensor& t) { return linear(t, w, w.select(0, 0)); }));
  CHECK_FALSE(probes_backward([&](const Tensor& t) { return (t * w).exp(); }));
  CHECK_FALSE(probes_backward([&](const Tensor& t) { return t.sum(1); }));
  CHECK_FALSE(probes_backward([&](const Tensor& t) { return log_softmax(softmax(t, 1), 0); }));
  CHECK_FALSE(probes_backward([&](const Tensor& t) { return layer_norm(t, {3}); }));
  CHECK_FALSE(probes_backward([&](const Tensor& t) { return (t * 1).mul_(w); }));
  CHECK_FALSE(probes_backward([&](const Tensor& t) { return rms_norm(t, {3}, w.select(0, 0)); }));
  CHECK_FALSE(probes_backward([&](const Tensor& t) { return t.logsumexp({1}); }));
  CHECK_FALSE(probes_backward([&](const Tensor& t) { return mse_loss(t, w); }));
  // One without.
  CHECK(probes_backward([&](const Tensor& t) {
    return std::get<0>(linear_backward(w, t, w, {true, false, false}));
  }));
}

TEST_CASE("Random numbers are drawn once in forward mode", "[forward_ad]") {
  const auto drawn = [](bool dual) {
    manual_seed(3);
    const Tensor x = zeros({20}, kDouble), v = sample({20}).detach();
    Tensor y;
    if (dual) {
      const DualLevel level;
      y = make_dual(x, v).clone();
      y.normal_();
      CHECK(tangent_of(y).abs().amax().item<double>() == 0);
      y = y.detach();
    } else {
      y = x.clone().normal_();
    }
    return std::pair(values(y), values(x.clone().uniform_()));
  };
  CHECK(drawn(true).first == drawn(false).first);
  CHECK(drawn(true).second == drawn(false).second);
}

TEST_CASE("Forward over reverse gives products with the Hessian", "[forward_ad]") {
  for (const Case& one : cases()) {
    INFO(one.name);
    const Tensor x = sample(one.sizes).detach(), v = sample(one.sizes).detach();
    const auto f = [&](const Tensor& t) { return (one.f(t) * one.f(t)).sum(); };
    const auto gradient = [&](const Tensor& at) {
      const Tensor t = at.detach().requires_grad_();
      return autograd::grad({f(t)}, {t})[0];
    };
    const Tensor expected = difference(gradient, x, v);
    const DualLevel level;
    const Tensor leaf = x.detach().requires_grad_();
    const Tensor dual = make_dual(leaf, v);
    const Tensor grad = autograd::grad({f(dual)}, {leaf})[0];
    const Tensor tangent = tangent_of(grad);
    if (!tangent.defined()) {
      CHECK(expected.abs().amax().item<double>() < 1e-5);
    } else {
      CHECK(distance(tangent, expected) < 1e-5);
    }
  }
}

TEST_CASE("Tangents are differentiated in reverse", "[forward_ad]") {
  const Tensor x = leaf({1, 2}, kDouble), v = leaf({3, 5}, kDouble);
  const DualLevel level;
  const Tensor tangent = tangent_of(make_dual(x, v).pow(3));
  CHECK(values(tangent) == std::vector<double>{9, 60});
  tangent.sum().backward();
  CHECK(values(x.grad()) == std::vector<double>{18, 60});
  CHECK(values(v.grad()) == std::vector<double>{3, 12});
}

TEST_CASE("Duals live as long as their level", "[forward_ad]") {
  const Tensor x = tensor({2.}, kDouble), v = tensor({1.}, kDouble);
  CHECK_THROWS_WITH(make_dual(x, v), Contains("no level exists"));
  CHECK(unpack_dual(x).primal.is_same(x));
  Tensor kept;
  {
    const DualLevel level;
    CHECK_THROWS_WITH(DualLevel(), "Nested forward mode AD is not supported at the moment");
    kept = make_dual(x, v) * 2;
    CHECK(values(tangent_of(kept)) == std::vector<double>{2});
    CHECK(!tangent_of(kept.detach()).defined());
    CHECK(!tangent_of(x).defined());
    CHECK_THROWS_WITH(make_dual(tensor({1, 2}, kLong), v), Contains("Expected primal to be"));
    CHECK_THROWS_WITH(make_dual(x, tensor({1., 2.}, kDouble)), Contains("different size"));
    CHECK_THROWS_WITH(make_dual(x, tensor({1.}, kFloat)), Contains("dtype"));
    Tensor out = zeros({1}, kDouble);
    CHECK_THROWS_WITH(add_out(out, kept, kept), Contains("out=... arguments don't support"));
  }
  CHECK(!tangent_of(kept).defined());
  CHECK(!unpack_dual(kept).tangent.defined());
  const DualLevel level;
  CHECK(!tangent_of(kept).defined());
  CHECK(!tangent_of(kept * 2).defined());
}

TEST_CASE("A dual shares the memory and the changes of its primal", "[forward_ad]") {
  const Tensor x = tensor({2., 3.}, kDouble), v = tensor({1., 1.}, kDouble);
  const DualLevel level;
  const Tensor dual = make_dual(x, v);
  CHECK(dual.is_alias_of(x));
  CHECK(tangent_of(dual).is_same(v));
  dual.mul_(3);
  CHECK(values(x) == std::vector<double>{6, 9});
  CHECK(x._version() == 1);
  CHECK(values(tangent_of(dual)) == std::vector<double>{3, 3});
  // A tangent of another layout is copied into that of the primal.
  const Tensor spread = tensor({1.}, kDouble).expand({2});
  CHECK(!tangent_of(make_dual(x, spread)).is_alias_of(spread));
}

TEST_CASE("Products of the Hessian agree with reverse over reverse", "[forward_ad]") {
  const Tensor x = sample({3}).detach(), v = sample({3}).detach();
  const auto f = [](const Tensor& t) { return (t.exp() * t.sin()).sum(); };
  const Tensor expected =
      autograd::functional::hvp(
          [&](const autograd::variable_list& in) { return autograd::variable_list{f(in[0])}; }, {x},
          {v})
          .product[0];
  const DualLevel level;
  const Tensor leaf = x.detach().requires_grad_();
  const Tensor grad = autograd::grad({f(make_dual(leaf, v))}, {leaf})[0];
  CHECK(distance(tangent_of(grad), expected) < 1e-12);
}
