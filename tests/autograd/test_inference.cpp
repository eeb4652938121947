// Inference mode and the tensors that are made in it.
#include "aten/core/thread_state.h"
#include "autograd/function.h"
#include "tenon/ops/add.h"
#include "tenon/ops/alias.h"
#include "tenon/ops/ones.h"
#include "tests/autograd/test_support.h"

using namespace tenon;
using namespace tenon::test;

namespace {

constexpr const char* kChangedOutside =
    "Inplace update to inference tensor outside InferenceMode is not allowed.";
constexpr const char* kSaved = "Inference tensors cannot be saved for backward.";

struct Both {
  Tensor normal = ones({2, 3});
  Tensor inference = [] {
    const InferenceMode mode;
    return ones({2, 3});
  }();
};

struct Twice : autograd::Function<Twice> {
  static Tensor forward(autograd::AutogradContext*, const Tensor& x) { return x * 2; }
  static autograd::variable_list backward(autograd::AutogradContext*,
                                          autograd::variable_list grads) {
    return {grads[0] * 2};
  }
};

}  // namespace

TEST_CASE("What is made in inference mode are inference tensors that need no gradient",
          "[inference]") {
  const Tensor x = leaf({1, 2, 3});
  CHECK(!InferenceMode::is_enabled());
  {
    const InferenceMode mode;
    CHECK(InferenceMode::is_enabled());
    CHECK(!GradMode::is_enabled());
    const Tensor made = ones({3}), result = x * 2;
    CHECK(made.is_inference());
    CHECK(result.is_inference());
    CHECK(!result.requires_grad());
    CHECK(!x.is_inference());
    CHECK(x.requires_grad());
    {
      // Recording is off whatever the grad mode.
      const AutoGradMode grad(true);
      CHECK(!(x * 2).requires_grad());
      CHECK(!Twice::apply(x).requires_grad());
    }
    {
      const InferenceMode normal(false);
      CHECK(GradMode::is_enabled());
      CHECK((x * 2).requires_grad());
      CHECK(!ones({1}).is_inference());
    }
    CHECK(InferenceMode::is_enabled());
    CHECK(!GradMode::is_enabled());
  }
  CHECK(!InferenceMode::is_enabled());
  CHECK(GradMode::is_enabled());
  const NoGradGuard no_grad;
  { const InferenceMode mode; }
  CHECK(!GradMode::is_enabled());
}

TEST_CASE("The changes of inference tensors are not counted", "[inference]") {
  Both t;
  CHECK(t.normal._version() == 0);
  CHECK_THROWS_WITH(t.inference._version(), "Inference tensors do not track version counter.");
  const InferenceMode mode;
  t.normal.add_(1);
  CHECK(t.normal._version() == 1);
  t.inference.add_(1);
  CHECK(values(t.inference) == std::vector<double>(6, 2));
}

TEST_CASE("Inference tensors are changed in inference mode only", "[inference]") {
  Both t;
  const auto check = [&] {
    CHECK_THROWS_WITH(t.inference.add_(1), Contains(kChangedOutside));
    CHECK_THROWS_WITH(t.inference.add_(t.normal), Contains(kChangedOutside));
    CHECK_THROWS_WITH(t.inference.zero_(), Contains(kChangedOutside));
    CHECK_THROWS_WITH(t.inference.copy_(t.normal), Contains(kChangedOutside));
    CHECK_THROWS_WITH(t.inference.select(0, 0).fill_(7), Contains(kChangedOutside));
    CHECK_THROWS_WITH(add_out(t.inference, t.normal, t.normal), Contains(kChangedOutside));
    // Nothing has been written before the error.
    CHECK(values(t.inference) == std::vector<double>(6, 1));
    CHECK(t.inference.dim() == 2);
  };
  check();
  {
    const NoGradGuard no_grad;
    check();
  }
  CHECK_NOTHROW(t.normal.add_(t.inference));
  CHECK(t.normal._version() == 1);
  Tensor copy = t.inference.clone();
  CHECK(!copy.is_inference());
  CHECK_NOTHROW(copy.add_(1));
}

// As in PyTorch: z.requires_grad is False for z = x * x.
TEST_CASE("An inference tensor that requires grad is no reason to record", "[inference]") {
  Tensor x;
  {
    const InferenceMode mode;
    x = ones({2}).set_requires_grad(true);
  }
  CHECK(x.requires_grad());
  const Tensor product = x * x;
  CHECK(!product.requires_grad());
  CHECK(!product.is_inference());
}

TEST_CASE("Inference tensors take part in no gradient", "[inference]") {
  Both t;
  const Tensor x = t.normal.clone().requires_grad_();
  CHECK_THROWS_WITH(x * t.inference, Contains(kSaved));
  // What need not be saved may be an inference tensor.
  CHECK_NOTHROW((x + t.inference).sum().backward());
  CHECK(values(x.grad()) == std::vector<double>(6, 1));
  CHECK(!(t.inference * 2).is_inference());
  CHECK_THROWS_WITH(
      t.inference.requires_grad_(),
      "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.");
  CHECK_NOTHROW(t.inference.requires_grad_(false));
  const Tensor kept = [&] {
    const InferenceMode mode;
    return ones({2}).requires_grad_();
  }();
  CHECK(kept.requires_grad());
  CHECK(!(kept.exp() * kept).requires_grad());
}

TEST_CASE("Views of inference tensors are inference tensors, those of others stay views",
          "[inference]") {
  Both t;
  const Tensor outside = t.inference.select(0, 0);
  CHECK(outside.is_inference());
  CHECK(!outside.is_view());
  CHECK(t.inference.detach().is_inference());
  Tensor base = leaf({1, 2}) * 1;
  Tensor view;
  {
    const InferenceMode mode;
    view = base.select(0, 0);
    CHECK(!view.is_inference());
    CHECK(view._base().is_same(base));
    view.add_(1);
  }
  CHECK(base._version() == 1);
  CHECK_THROWS_WITH(view.mul_(2),
                    Contains("A view was created in inference mode and is being modified inplace "
                             "with grad mode enabled."));
  base.mul_(2);
  CHECK_THROWS_WITH(view.grad_fn(), Contains("A view was created in inference mode and its base or "
                                             "another view of its base has been modified inplace"));
  // Without a gradient there is nothing to forbid.
  Tensor plain = ones({2}), part;
  {
    const InferenceMode mode;
    part = plain.select(0, 0);
  }
  CHECK_NOTHROW(part.mul_(2));
}
