#include "autograd/saved/saved_variable.h"
#include "autograd/views/mutation_guard.h"
#include "tenon/ops/_log_softmax_backward_data.h"
#include "tenon/ops/_softmax_backward_data.h"
#include "tenon/ops/exp.h"
#include "tenon/ops/mse_loss.h"
#include "tenon/ops/ones.h"
#include "tenon/ops/zeros.h"
#include "tests/autograd/test_support.h"

using namespace tenon;
using namespace tenon::test;
using autograd::SavedTensorHooks;
using autograd::SavedTensorHooksGuard;

namespace {

/// Keeps copies, and counts.
struct Counting {
  int packed = 0;
  int unpacked = 0;

  SavedTensorHooks hooks() {
    return {[this](const Tensor& t) -> std::any {
              ++packed;
              return t.detach().clone();
            },
            [this](const std::any& kept) {
              ++unpacked;
              return std::any_cast<const Tensor&>(kept);
            }};
  }
};

}  // namespace

TEST_CASE("Saved-tensor hooks stand between saving and backward", "[saved_hooks]") {
  const Tensor x = leaf({3, 4});
  Counting c;
  Tensor y;
  {
    const SavedTensorHooksGuard guard(c.hooks());
    y = x * x;
  }
  CHECK(c.packed == 2);
  CHECK(c.unpacked == 0);
  y.sum().backward({}, true);
  CHECK(c.unpacked == 2);
  CHECK(values(x.grad()) == std::vector<double>{6, 8});
  y.sum().backward();
  CHECK(c.unpacked == 4);
  CHECK_THROWS_WITH(y.sum().backward(), Contains("backward through the graph a second time"));
  x* x;
  CHECK(c.packed == 2);
}

TEST_CASE("Each saved tensor is unpacked once in a pass", "[saved_hooks]") {
  const auto unpacked_by = [](const std::function<Tensor()>& f) {
    Counting c;
    Tensor y;
    {
      const SavedTensorHooksGuard guard(c.hooks());
      y = f();
    }
    y.sum().backward();
    CHECK(c.packed == c.unpacked);
    return c.unpacked;
  };
  const Tensor x = sample({2, 3}), w = sample({2, 3});
  CHECK(unpacked_by([&] { return mse_loss(x, w); }) == 2);
  const Tensor src = sample({2, 1});
  CHECK(unpacked_by([&] { return x.scatter(1, zeros({2, 1}, TensorOptions(kLong)), src); }) == 1);
  CHECK(unpacked_by([&] { return _softmax_backward_data(x, w, 1, kDouble); }) == 2);
  CHECK(unpacked_by([&] { return _log_softmax_backward_data(x, w, 1, kDouble); }) == 2);
}

TEST_CASE("The innermost hooks are asked", "[saved_hooks]") {
  const Tensor x = leaf({3});
  Counting outer, inner;
  const SavedTensorHooksGuard a(outer.hooks());
  {
    const SavedTensorHooksGuard b(inner.hooks());
    x.exp();
  }
  x.exp();
  x.exp();
  CHECK(inner.packed == 1);
  CHECK(outer.packed == 2);
}

TEST_CASE("Gradients of gradients go through saved-tensor hooks", "[saved_hooks]") {
  const Tensor x = leaf({3}, kDouble);
  Tensor z;
  {
    const SavedTensorHooksGuard guard(
        {[](const Tensor& t) -> std::any { return t.detach().clone(); },
         [](const std::any& t) { return std::any_cast<const Tensor&>(t); }});
    z = (x * x) * x.exp();
  }
  const Tensor g = autograd::grad({z.sum()}, {x}, {}, std::nullopt, true)[0];
  const double e = std::exp(3.);
  CHECK(values(g)[0] == Approx((9 + 6) * e));
  CHECK(values(autograd::grad({g.sum()}, {x})[0])[0] == Approx((9 + 12 + 2) * e));
}

TEST_CASE("What pack and unpack see and may do", "[saved_hooks]") {
  const Tensor x = leaf({1, 2});
  std::vector<bool> with_history;
  {
    const SavedTensorHooksGuard guard(
        {[&](const Tensor& t) -> std::any {
           with_history.push_back(t.requires_grad());
           CHECK_FALSE(GradMode::is_enabled());
           return t.detach();
         },
         [](const std::any& t) { return std::any_cast<const Tensor&>(t); }});
    x* x.exp();  // exp's result comes without history, the inputs with theirs
  }
  CHECK(with_history == std::vector<bool>{false, true, true});
  {
    const SavedTensorHooksGuard guard({[](const Tensor& t) -> std::any {
                                         t.detach().add_(1);
                                         return t;
                                       },
                                       [](const std::any&) { return Tensor(); }});
    CHECK_THROWS_WITH(x * x, Contains("A saved tensor pack hook is modifying its input in place."));
  }
  Tensor y;
  {
    const SavedTensorHooksGuard guard(
        {[](const Tensor&) -> std::any { return 0; }, [](const std::any&) { return Tensor(); }});
    y = x * x;
  }
  CHECK_THROWS_AS(y.sum().backward(), TypeError);
  CHECK_THROWS_WITH(SavedTensorHooksGuard({}), Contains("expected both pack and unpack"));
}

TEST_CASE("An unpacked tensor counts its own changes", "[saved_hooks]") {
  const Tensor x = leaf({3});
  Tensor y;
  Tensor kept;
  {
    const SavedTensorHooksGuard guard(
        {[&](const Tensor& t) -> std::any {
           kept = t.detach().clone();
           return kept;
         },
         [](const std::any& t) { return std::any_cast<const Tensor&>(t); }});
    y = x.exp();
  }
  kept.add_(0);
  CHECK_NOTHROW(y.backward());
  CHECK(values(x.grad())[0] == Approx(std::exp(3.)));
  // What has been packed may be overwritten.
  Tensor a = leaf({3}) * 1;
  Counting c;
  {
    const SavedTensorHooksGuard guard(c.hooks());
    a.mul_(a);
  }
  CHECK_NOTHROW(a.backward());
}

TEST_CASE("Hooks that return what they get make no cycle", "[saved_hooks]") {
  const Tensor x = leaf({3});
  Tensor y;
  {
    const SavedTensorHooksGuard guard(
        {[](const Tensor& t) -> std::any { return t; },
         [](const std::any& t) { return std::any_cast<const Tensor&>(t); }});
    y = x.exp();
  }
  const IntrusivePtr<StorageImpl> storage = y.unsafe_impl()->storage;
  y.reset();
  CHECK(storage->refs.count() == 1);
}

TEST_CASE("Saved-tensor hooks can be forbidden", "[saved_hooks]") {
  const Tensor x = leaf({3});
  Counting c;
  {
    const autograd::DisableSavedTensorHooks disable("no hooks here");
    CHECK_THROWS_WITH(SavedTensorHooksGuard(c.hooks()), "no hooks here");
    CHECK_NOTHROW(x * x);
  }
  const SavedTensorHooksGuard guard(c.hooks());
  const autograd::DisableSavedTensorHooks disable("not saved");
  CHECK_THROWS_WITH(x * x, "not saved");
}

TEST_CASE("Tensors can be saved in the CPU's memory", "[saved_hooks]") {
  const Tensor x = leaf({3, 4});
  Tensor a = x * 1;
  Tensor y;
  {
    const autograd::SaveOnCpu guard;
    y = a * a;
  }
  SECTION("for backward") {
    y.sum().backward();
    CHECK(values(x.grad()) == std::vector<double>{6, 8});
  }
  SECTION("and a change in place is noticed") {
    a.add_(1);
    CHECK_THROWS_WITH(y.sum().backward(), Contains("is at version 1; expected version 0 instead."));
  }
}

TEST_CASE("One saved tensor may have hooks of its own", "[saved_hooks]") {
  struct Saves final : autograd::Node {
    std::string name() const override { return "Saves"; }
    autograd::variable_list apply(autograd::variable_list&&) override { return {}; }
  };
  const auto node = autograd::make_node<Saves>();
  autograd::SavedVariable saved(ones({2}) * 3);
  Counting c;
  saved.register_hooks(c.hooks(), *node);
  CHECK(c.packed == 1);
  CHECK(values(saved.unpack(*node)) == std::vector<double>{3, 3});
  CHECK_THROWS_WITH(saved.register_hooks(c.hooks(), *node),
                    Contains("whose hooks have already been set"));
  autograd::SavedVariable freed(ones({2}));
  freed.reset();
  CHECK_THROWS_WITH(freed.register_hooks(c.hooks(), *node), Contains("after it has been freed"));
  autograd::SavedVariable none{Tensor()};
  CHECK_THROWS_WITH(none.register_hooks(c.hooks(), *node), Contains("with value None"));
}

TEST_CASE("Saved tensors may be changed in place within a scope", "[saved_hooks]") {
  const Tensor x = leaf({1, 2, 3});
  Tensor late;
  {
    autograd::AllowMutationOnSavedTensors allow;
    const Tensor y = x * 1;
    const Tensor square = (y * y).sum(), part = y.slice(0, 0, 2), exp = y.exp();
    const Tensor of_part = (part * part).sum(), total = exp.sum();
    y.mul_(y);
    part.zero_();
    exp.zero_();
    CHECK(values(autograd::grad({square}, {x}, {}, true)[0]) == std::vector<double>{2, 4, 6});
    CHECK(values(autograd::grad({of_part}, {x}, {}, true)[0]) == std::vector<double>{2, 4, 0});
    CHECK(values(autograd::grad({total}, {x}, {}, true)[0])[0] == Approx(std::exp(1.)));
    CHECK(values(autograd::grad({y.sum()}, {x})[0]) == std::vector<double>{0, 0, 6});
    CHECK_THROWS_WITH(autograd::AllowMutationOnSavedTensors(), Contains("cannot be nested"));
    late = (x * x).sum();
  }
  CHECK_THROWS_WITH(late.backward(), Contains("Trying to backward outside of"));
}
