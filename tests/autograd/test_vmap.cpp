// vmap and derivatives of functions: each example beside a loop, levels in levels, and errors.
#include "autograd/func.h"

#include "aten/batching/batched_tensor.h"
#include "aten/dispatch/warning.h"
#include "aten/registration/library.h"
#include "autograd/function.h"
#include "tenon/ops/add.h"
#include "tenon/ops/arange.h"
#include "tenon/ops/cumsum.h"
#include "tenon/ops/linear.h"
#include "tenon/ops/matmul.h"
#include "tenon/ops/mse_loss.h"
#include "tenon/ops/mul.h"
#include "tenon/ops/rand.h"
#include "tenon/ops/rand_like.h"
#include "tenon/ops/randn.h"
#include "tenon/ops/relu.h"
#include "tenon/ops/select.h"
#include "tenon/ops/sin.h"
#include "tenon/ops/softmax.h"
#include "tenon/ops/stack.h"
#include "tenon/ops/sum.h"
#include "tenon/ops/tanh.h"
#include "tenon/ops/zeros.h"
#include "tests/autograd/test_support.h"

using namespace tenon;
using namespace tenon::test;

namespace {

/// f of each example along dimension 0, stacked.
template <class F>
Tensor loop(const F& f, const Tensor& xs) {
  std::vector<Tensor> results;
  for (int64_t k = 0; k < xs.size(0); ++k) results.push_back(f(xs.select(0, k)));
  return stack(results, 0);
}

bool close(const Tensor& a, const Tensor& b) {
  return a.sizes() == b.sizes() && a.sub(b).abs().max().item().toDouble() < 1e-12;
}

Tensor doubles(IntArrayRef sizes) { return randn(sizes, kDouble); }

}  // namespace

TEST_CASE("vmap gives what a loop over the examples gives") {
  const auto f = [](const Tensor& x) { return (x * 2 + softmax(x, -1)).cumsum(0); };
  const Tensor xs = doubles({4, 3, 5});
  CHECK(close(func::vmap(f)(xs), loop(f, xs)));
  // The batch in another dimension, of the input and of the result.
  CHECK(close(func::vmap(f, {.in_dims = {2}})(xs.movedim(0, 2)), loop(f, xs)));
  CHECK(close(func::vmap(f, {.out_dims = {-1}})(xs), loop(f, xs).movedim(0, -1)));
}

TEST_CASE("vmap takes tensors that all examples share, and several results") {
  const Tensor w = doubles({3, 5}), xs = doubles({4, 5});
  const auto f = [](const Tensor& weight, const Tensor& x) {
    return std::tuple(linear(x, weight), x.sum());
  };
  const auto [products, sums] = func::vmap(f, {.in_dims = {std::nullopt, 0}})(w, xs);
  CHECK(close(products, xs.matmul(w.t())));
  CHECK(close(sums, xs.sum(IntArrayRef({1}))));
}

TEST_CASE("vmap in vmap: the inner batch is that of each example") {
  const Tensor a = doubles({4, 3}), b = doubles({5, 3});
  const auto outer = func::vmap(
      [](const Tensor& x, const Tensor& ys) {
        return func::vmap([&](const Tensor& y) { return (x * y).sum(); })(ys);
      },
      {.in_dims = {0, std::nullopt}});
  CHECK(close(outer(a, b), a.matmul(b.t())));
}

TEST_CASE("gradients of each example, of weights that they share") {
  const Tensor w = doubles({3, 5}), xs = doubles({4, 5}), ys = doubles({4, 3});
  const auto loss = [](const Tensor& weight, const Tensor& x, const Tensor& y) {
    return mse_loss(tanh(linear(x, weight)), y);
  };
  const Tensor all = func::vmap(func::grad(loss), {.in_dims = {std::nullopt, 0, 0}})(w, xs, ys);
  std::vector<Tensor> each;
  for (int64_t k = 0; k < 4; ++k) {
    const Tensor own = w.detach().clone().requires_grad_();
    loss(own, xs.select(0, k), ys.select(0, k)).backward();
    each.push_back(own.grad());
  }
  CHECK(close(all, stack(each, 0)));
}

TEST_CASE("a gradient of a function that calls vmap") {
  const Tensor x = doubles({3}), ys = doubles({4, 3});
  const auto f = [&](const Tensor& t) {
    return func::vmap([&](const Tensor& y) { return (sin(t) * y).sum(); })(ys).sum();
  };
  CHECK(close(func::grad(f)(x), x.cos() * ys.sum(IntArrayRef({0}))));
}

TEST_CASE("Jacobians and Hessians by rows and columns at once") {
  const Tensor x = doubles({3});
  const auto f = [](const Tensor& t) { return t * t * t; };
  const Tensor expected = (x * x * 3).diag();
  CHECK(close(func::jacrev(f)(x), expected));
  CHECK(close(func::jacfwd(f)(x), expected));
  const auto g = [](const Tensor& t) { return (t * t * t).sum(); };
  CHECK(close(func::hessian(g)(x), (x * 6).diag()));
  CHECK(close(func::jacrev(func::jacrev(g))(x), (x * 6).diag()));
  CHECK(close(func::jacfwd(func::jacfwd(g))(x), (x * 6).diag()));
  // Of each example.
  const Tensor xs = doubles({4, 3});
  CHECK(close(func::vmap(func::hessian(g))(xs), (xs * 6).diag_embed()));
}

TEST_CASE("vjp and jvp, and what they give besides") {
  const Tensor x = doubles({3}), v = doubles({3});
  const auto [value, product] = func::vjp([](const Tensor& t) { return sin(t); }, x);
  CHECK(close(value, x.sin()));
  CHECK_FALSE(value.requires_grad());
  CHECK(close(product({v})[0], x.cos() * v));
  CHECK(close(product({v})[0], x.cos() * v));
  const auto [primal, tangent] = func::jvp([](const Tensor& t) { return sin(t); }, x, v);
  CHECK(close(primal, x.sin()));
  CHECK(close(tangent, x.cos() * v));
  CHECK(close(func::grad(func::grad([](const Tensor& t) { return t.sin().sum(); }))(x.select(0, 0)),
              -x.select(0, 0).sin()));
}

TEST_CASE("a gradient leads on to what required grad before") {
  Tensor w = doubles({3}).requires_grad_();
  const Tensor x = doubles({3});
  const Tensor g = func::grad([&](const Tensor& t) { return (t * t * w).sum(); })(x);
  g.sum().backward();
  CHECK(close(w.grad(), x * 2));
  CHECK_FALSE(func::grad([](const Tensor& t) { return (t * t).sum(); })(x).requires_grad());
}

TEST_CASE("random numbers: an error, the same for all, or others for each") {
  const Tensor xs = zeros({4, 100}, kDouble);
  const auto f = [](const Tensor& x) { return x + rand_like(x); };
  const auto g = [](const Tensor& x) { return x + rand({100}, kDouble); };
  CHECK_THROWS_WITH(func::vmap(f)(xs), Contains("randomness error mode"));
  CHECK_THROWS_WITH(func::vmap(g)(xs), Contains("randomness error mode"));
  const auto differs = [](const Tensor& t) {
    return !t.select(0, 0).equal(t.select(0, 1)) && !t.select(0, 2).equal(t.select(0, 3));
  };
  const func::VmapOptions same{.randomness = BatchRandomness::Same};
  const func::VmapOptions different{.randomness = BatchRandomness::Different};
  CHECK(func::vmap(f, same)(xs).select(0, 0).equal(func::vmap(f, same)(xs).select(0, 0)) == false);
  const Tensor one = func::vmap(f, same)(xs), other = func::vmap(g, same)(xs);
  CHECK(one.select(0, 0).equal(one.select(0, 3)));
  CHECK(other.select(0, 0).equal(other.select(0, 3)));
  CHECK(differs(func::vmap(f, different)(xs)));
  CHECK(differs(func::vmap(g, different)(xs)));
}

TEST_CASE("changes in place go to each example, or are refused") {
  Tensor xs = doubles({4, 3});
  const Tensor before = xs.clone();
  func::vmap([](const Tensor& x) { return Tensor(x).mul_(2).select(0, 0); })(xs);
  CHECK(close(xs, before * 2));
  const Tensor shared = zeros({3}, kDouble);
  CHECK_THROWS_WITH(func::vmap([&](const Tensor& x) { return Tensor(shared).add_(x); })(xs),
                    Contains("[add_] changes 'self' in place, which is not batched"));
  CHECK(shared.abs().sum().item().toDouble() == 0);
}

TEST_CASE("what vmap cannot do says why") {
  const Tensor xs = doubles({4, 3});
  CHECK_THROWS_WITH(func::vmap([](const Tensor& x) { return x * x.sum().item().toDouble(); })(xs),
                    Contains("calling .item() on a Tensor"));
  Tensor kept;
  func::vmap([&](const Tensor& x) {
    kept = x;
    return x;
  })(xs);
  CHECK_THROWS_WITH(kept + 1, Contains("of a vmap that has ended (level 1)"));
  CHECK_THROWS_WITH(kept.data_ptr(), Contains("memory of a batched tensor"));
  const auto sum = [](const Tensor& a, const Tensor& b) { return a + b; };
  CHECK_THROWS_WITH(func::vmap(sum)(xs, doubles({5, 3})), Contains("got sizes 4 and 5"));
  CHECK_THROWS_WITH(func::vmap(sum, {.in_dims = {2, 0}})(xs, xs),
                    Contains("in_dims[0] is 2 for a tensor of 2 dimensions"));
  CHECK_THROWS_WITH(func::vmap(sum, {.in_dims = {std::nullopt, std::nullopt}})(xs, xs),
                    Contains("no input is batched"));
  CHECK_THROWS_WITH(func::grad([](const Tensor& x) { return x; })(xs),
                    Contains("a tensor of shape [4, 3]"));
  Tensor w = doubles({3}).requires_grad_();
  CHECK_THROWS_WITH(func::vmap([&](const Tensor& x) {
                      const Tensor y = (x * w).sum();
                      return autograd::grad({y}, {w})[0];
                    })(xs),
                    Contains("added up"));
  CHECK_THROWS_WITH(func::vmap([&](const Tensor& x) {
                      (x * w).sum().backward();
                      return x;
                    })(xs),
                    Contains("[backward] adds to .grad"));
  // After an error the thread batches nothing.
  CHECK_FALSE(batching::current_level());
}

TEST_CASE("operators of a library run for each example, compositions by their parts") {
  const auto scale = [](const Tensor& self, double factor) { return self * factor; };
  const Library library =
      Library("vmapped")
          .def("scale(Tensor self, float factor) -> Tensor")
          .impl("scale", DispatchKey::CPU, scale)
          .def("twice(Tensor self) -> Tensor", [](const Tensor& self) { return self + self; });
  const auto one = get_operator("vmapped::scale").typed<Tensor(const Tensor&, double)>();
  const auto two = get_operator("vmapped::twice").typed<Tensor(const Tensor&)>();
  const Tensor xs = doubles({4, 3});
  struct Collect : WarningHandler {
    void process(const Warning& warning) override { texts.push_back(warning.msg()); }
    std::vector<std::string> texts;
  } warnings;
  {
    const WarningUtils::WarningHandlerGuard guard(&warnings);
    CHECK(close(func::vmap([&](const Tensor& x) { return two.call(x); })(xs), xs * 2));
    CHECK(warnings.texts.empty());
    CHECK(close(func::vmap([&](const Tensor& x) { return one.call(x, 3); })(xs), xs * 3));
  }
  REQUIRE(warnings.texts.size() == 1);
  CHECK_THAT(warnings.texts[0], Contains("vmapped::scale, which runs for each example"));
}

TEST_CASE("gradients of many cotangents in one pass") {
  Tensor x = doubles({3}).requires_grad_();
  const Tensor y = x.sin() * x.sum();
  const Tensor rows = doubles({4, 3});
  const Tensor all = autograd::grad(
      {y}, {x}, {rows}, autograd::GradOptions{.retain_graph = true, .is_grads_batched = true})[0];
  std::vector<Tensor> each;
  for (int64_t k = 0; k < 4; ++k)
    each.push_back(autograd::grad({y}, {x}, {rows.select(0, k)}, true)[0]);
  CHECK(close(all, stack(each, 0)));
}
