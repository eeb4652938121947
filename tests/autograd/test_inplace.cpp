#include "aten/core/print.h"
#include "autograd/autograd.h"
#include "tenon/ops/mul.h"
#include "tenon/ops/ones.h"
#include "tenon/ops/zeros.h"
#include "tests/autograd/test_support.h"

using namespace tenon;
using namespace tenon::test;

TEST_CASE("A leaf that requires grad may not be changed in place while recording", "[inplace]") {
  Tensor x = leaf({1, 2});
  CHECK_THROWS_WITH(x.mul_(2),
                    "a leaf Variable that requires grad is being used in an in-place operation.");
  CHECK_THROWS_WITH(
      x.select(0, 0).mul_(2),
      "a view of a leaf Variable that requires grad is being used in an in-place operation.");
  CHECK(values(x) == std::vector<double>{1, 2});
  const NoGradGuard guard;
  x.mul_(2);
  x.select(0, 0).add_(1);
  CHECK(values(x) == std::vector<double>{3, 4});
  CHECK(x.is_leaf());
}

TEST_CASE("A change in place is recorded", "[inplace]") {
  const Tensor x = leaf({1, 2});
  Tensor y = x * 3;
  y.mul_(x);
  y.add_(1);
  y.exp_();
  CHECK(y.grad_fn()->name() == "ExpBackward0");
  y.sum().backward();
  for (int i = 0; i < 2; ++i) {
    const double v = values(x)[i];
    CHECK(values(x.grad())[i] == Approx(6 * v * std::exp(3 * v * v + 1)));
  }
}

TEST_CASE("Writing what requires grad makes base and earlier views require grad", "[inplace]") {
  const Tensor x = leaf({1, 2, 3});
  Tensor base = zeros({3});
  const Tensor view = base.slice(0, 0, 2);
  CHECK_FALSE(view.requires_grad());
  base.add_(x);
  CHECK(base.requires_grad());
  CHECK(view.requires_grad());
  CHECK_FALSE(view.is_leaf());
  (view * view).sum().backward();
  CHECK(values(x.grad()) == std::vector<double>{2, 4, 0});
}

TEST_CASE("A change of a view reaches its base and the other views", "[inplace]") {
  const Tensor x = leaf({1, 2, 3, 4}, kDouble);
  Tensor y = x * 1;
  Tensor a = y.slice(0, 0, 2);
  const Tensor b = y.slice(0, 1, 3);
  a.mul_(10);
  CHECK(y.grad_fn()->name() == "CopySlices");
  CHECK(a.grad_fn()->name() == "AsStridedBackward0");
  CHECK(values(y) == std::vector<double>{10, 20, 3, 4});
  (y * y).sum().backward({}, true);
  CHECK(values(x.grad()) == std::vector<double>{200, 400, 6, 8});
  x.mutable_grad().reset();
  b.sum().backward({}, true);
  CHECK(values(x.grad()) == std::vector<double>{0, 10, 1, 0});
  x.mutable_grad().reset();
  a.sum().backward();
  CHECK(values(x.grad()) == std::vector<double>{10, 10, 0, 0});
}

TEST_CASE("The base of a view is the root", "[inplace]") {
  const Tensor x = leaf({1, 2, 3, 4});
  const Tensor y = x * 1;
  const Tensor v = y.view({2, 2}).select(0, 1).slice(0, 0, 1);
  CHECK(v._base().is_same(y));
  CHECK_FALSE(y._base().defined());
}

TEST_CASE("In-place gradients agree with finite differences", "[inplace]") {
  using Case = std::pair<const char*, autograd::CheckedFunction>;
  const Case cases[] = {
      {"rows",
       [](const Tensors& in) {
         Tensor y = in[0] * 1;
         y.select(0, 1).mul_(in[1]);
         return Tensors{y};
       }},
      {"columns, twice",
       [](const Tensors& in) {
         Tensor y = in[0] * 1;
         Tensor v = y.t().select(0, 1);
         v.mul_(v.clone());
         y.slice(1, 0, 3, 2).add_(in[1].slice(0, 0, 2));
         return Tensors{y, v.sin()};
       }},
      {"saved result of a view",
       [](const Tensors& in) {
         Tensor y = in[0] * 1;
         y.select(0, 0).exp_();
         return Tensors{y};
       }},
      {"view of a view",
       [](const Tensors& in) {
         Tensor y = in[0] * 2;
         y.view({-1}).slice(0, 1, 5).view({2, 2}).mul_(in[1].slice(0, 0, 2));
         return Tensors{y * y};
       }},
      {"transposed base",
       [](const Tensors& in) {
         Tensor y = in[0].t().clone();
         y.select(1, 0).mul_(in[1]);
         return Tensors{y};
       }},
      {"earlier view after a change of the base",
       [](const Tensors& in) {
         Tensor y = in[0] * 1;
         const Tensor v = y.select(0, 1);
         y.mul_(y.clone());
         return Tensors{v * in[1]};
       }},
      {"expanded view after a change of the base",
       [](const Tensors& in) {
         Tensor y = in[1] * 1;
         const Tensor v = y.unsqueeze(0).expand({2, 3});
         y.mul_(3);
         return Tensors{v * in[0]};
       }},
      {"overwritten",
       [](const Tensors& in) {
         Tensor y = in[0] * 1;
         y.select(0, 0).copy_(in[1]);
         y.select(1, 2).zero_();
         return Tensors{y};
       }},
      {"into a constant",
       [](const Tensors& in) {
         Tensor y = zeros({2, 3}, kDouble);
         y.select(0, 0).copy_(in[1]);
         y.select(0, 1).add_(in[0].select(0, 0));
         return Tensors{y};
       }},
  };
  for (const auto& [name, function] : cases) {
    DYNAMIC_SECTION(name) {
      const Tensors inputs = {sample({2, 3}), sample({3})};
      CHECK(autograd::gradcheck(function, inputs));
      CHECK(autograd::gradgradcheck(function, inputs));
    }
  }
}

TEST_CASE("Views of several outputs, and those made under no_grad, may not be changed",
          "[inplace]") {
  const Tensor x = leaf({1, 2, 3});
  SECTION("unbind") {
    const Tensor y = x * 1;
    Tensor part = y.unbind(0)[0];
    CHECK_THROWS_WITH(
        part.mul_(2),
        "Output 0 of Unbind is a view and is being modified inplace. This view is the "
        "output of a function that returns multiple views. Such functions do not allow the "
        "output views to be modified inplace. You should replace the inplace operation by an "
        "out-of-place one.");
    CHECK_THROWS_AS(part.view({1}).mul_(2), Error);  // inherited
    const NoGradGuard guard;
    CHECK_NOTHROW(part.mul_(2));
  }
  SECTION("split, without gradient") {
    Tensor part = zeros({4}).split(2, 0)[1];
    CHECK_NOTHROW(part.mul_(2));
    CHECK_THROWS_WITH(part.mul_(x.slice(0, 0, 2)), Contains("returns multiple views"));
  }
  SECTION("the base of a split") {
    Tensor y = x * 1;
    const auto parts = y.split(2, 0);
    y.mul_(2);
    CHECK_THROWS_WITH(parts[0] * 2,
                      Contains("is a view and its base or another view of its base has been "
                               "modified inplace."));
  }
  SECTION("no_grad") {
    Tensor y = x * 1, view;
    {
      const NoGradGuard guard;
      view = y.slice(0, 0, 2);
    }
    CHECK(view.requires_grad());
    CHECK(view.is_leaf());
    CHECK_THROWS_WITH(view.mul_(2),
                      "A view was created in no_grad mode and is being modified inplace with grad "
                      "mode enabled. Given that "
                      "this use case is ambiguous and error-prone, it is forbidden. You can "
                      "clarify your code by moving both "
                      "the view and the inplace either both inside the no_grad block (if you don't "
                      "want the inplace to be "
                      "tracked) or both outside (if you want the inplace to be tracked).");
  }
}

TEST_CASE("out= arguments are not differentiable", "[inplace]") {
  const Tensor x = leaf({1, 2});
  Tensor out = zeros({2});
  CHECK_THROWS_WITH(
      mul_out(out, x, x),
      "mul(): functions with out=... arguments don't support automatic differentiation, but one of "
      "the arguments requires grad.");
  const NoGradGuard guard;
  CHECK_NOTHROW(mul_out(out, x, x));
  CHECK(values(out) == std::vector<double>{1, 4});
}

TEST_CASE("retain_grad() follows changes in place, hooks stay with the old value", "[inplace]") {
  const Tensor x = leaf({1, 2});
  Tensor y = x * 1;
  std::vector<double> seen;
  y.register_hook([&](const Tensor& g) {
    seen = values(g);
    return Tensor();
  });
  y.retain_grad();
  SECTION("whole") {
    y.mul_(5);
    (y * 2).sum().backward();
    CHECK(seen == std::vector<double>{10, 10});
    CHECK(values(y.grad()) == std::vector<double>{2, 2});
  }
  SECTION("through CopySlices") {
    y.select(0, 0).mul_(5);
    (y * 2).sum().backward();
    CHECK(seen == std::vector<double>{10, 2});
    CHECK(values(y.grad()) == std::vector<double>{2, 2});
  }
}

TEST_CASE("Detaching a base leaves its views attached", "[inplace]") {
  const Tensor x = leaf({1, 2});
  Tensor y = x * 2;
  const Tensor v = y.select(0, 0);
  y.detach_();
  CHECK(v.requires_grad());
  v.backward();
  CHECK(values(x.grad()) == std::vector<double>{2, 0});
}

TEST_CASE("as_strided of an expanded tensor counts the memory's gradient once", "[inplace]") {
  const Tensor x = leaf({1, 2, 3});
  const Tensor wide = x.expand({2, 3});
  wide.as_strided({2}, {1}, 1).sum().backward();
  CHECK(values(x.grad()) == std::vector<double>{0, 1, 1});
  const Tensor y = leaf({1, 2, 3, 4});
  y.as_strided({3, 2}, {1, 1}).as_strided({4}, {1}).sum().backward();
  CHECK(values(y.grad()) == std::vector<double>{1, 1, 1, 1});
}

TEST_CASE("A view whose base was detached is not changed in place", "[inplace]") {
  const Tensor x = leaf({1, 2}) * 1;
  Tensor view = x.view({2});
  x.detach_();
  CHECK(view.requires_grad());
  CHECK_THROWS_WITH(view.add_(1), Contains("a view of a leaf Variable that requires grad"));
  CHECK(values(x) == std::vector<double>{1, 2});
}

TEST_CASE("A view of a base that was detached ends where the base does", "[inplace]") {
  const Tensor x = leaf({1, 1});
  Tensor y = x * 1;
  Tensor v = y.select(0, 0);
  y.mul_(10);
  y.detach_();
  REQUIRE(v.grad_fn());
  CHECK_FALSE(v.grad_fn()->next_edges()[0].is_valid());
  v.backward();
  CHECK_FALSE(x.grad().defined());
}

TEST_CASE("Asking a view for its history does not change it", "[inplace]") {
  for (const bool ask : {false, true}) {
    const Tensor base = ones({2});
    const Tensor v = base.view({2});
    base.detach().add_(1);
    if (ask) CHECK(v.is_leaf());
    base.requires_grad_();
    (v * 2).sum().backward();
    CHECK(values(base.grad()) == std::vector<double>{2, 2});
  }
}

TEST_CASE("A view that cannot have a history prints", "[inplace]") {
  const Tensor x = leaf({1, 1});
  Tensor a = x * 1;
  const Tensor v = a.unbind()[0];
  a.mul_(2);
  CHECK(to_string(v) == "tensor(2., grad_fn=<Invalid>)");
  CHECK_THROWS_WITH(v.grad_fn(), Contains("Output 0 of Unbind is a view and its base or another"));
}

TEST_CASE("What a change in place overwrites makes no cycle when it is saved", "[inplace]") {
  const Tensor x = leaf({2, 3});
  const auto is_freed_and_throws = [&](Tensor a, const char* expected) {
    const IntrusivePtr<StorageImpl> storage = a.unsafe_impl()->storage;
    CHECK_THROWS_WITH(a.sum().backward(), Contains(expected));
    a.reset();
    return storage->refs.count() == 1;
  };
  Tensor a = x * 1;
  a.mul_(a);
  CHECK(is_freed_and_throws(std::move(a), "[torch.FloatTensor [2]], which is output 0 of Mul, is "
                                          "at version 1; expected version 0 instead."));
  Tensor b = x * 1;
  b.select(0, 0).mul_(b.select(0, 1));
  CHECK(is_freed_and_throws(std::move(b), "is at version 1; expected version 0 instead."));
}

TEST_CASE("Rows that are written one by one cost what they hold", "[inplace]") {
  const Tensor x = leaf({1, 2, 3});
  Tensor y = x.view({3, 1}) * ones({3, 4});
  for (int i = 0; i < 3; ++i) y.select(0, i).mul_(i + 2);
  const Tensor g = ones({3, 4});
  y.backward(g);
  CHECK(values(x.grad()) == std::vector<double>{8, 12, 16});
  CHECK(values(g) == std::vector<double>(12, 1.));  // the caller's is not written
}

TEST_CASE("Comparisons in place have gradients of zeros", "[inplace]") {
  const Tensor x = leaf({1, -2});
  Tensor y = x * 3;
  y.gt_(0);
  CHECK(values(y) == std::vector<double>{1, 0});
  CHECK(y.grad_fn()->name() == "GtBackward0");
  y.sum().backward();
  CHECK(values(x.grad()) == std::vector<double>{0, 0});
  // Of a part alone.
  x.mutable_grad().reset();
  Tensor z = x * 3;
  z.select(0, 0).le_(z.detach().select(0, 1));
  z.sum().backward();
  CHECK(values(x.grad()) == std::vector<double>{0, 3});
  Tensor w = x * 1;
  CHECK_THROWS(w.eq_(leaf({1, 2, 3})));
  CHECK_THAT(w.grad_fn()->name(), Contains("MulBackward"));
  CHECK_THROWS_WITH(leaf({1}).ne_(1), Contains("a leaf Variable that requires grad"));
  CHECK_THROWS_WITH(w.resize_({1}), Contains("[resize_] has no derivative"));
  CHECK_FALSE(x.detach().lt_(0).requires_grad());
}

TEST_CASE("Logical operators in place have gradients of zeros", "[inplace]") {
  const Tensor x = leaf({1, -2, 0}), other = tensor({1., 0., 0.});
  const auto gradient = [&](auto change, const std::vector<double>& expected) {
    const Tensor y = x * 3;
    Tensor part = y.slice(0, 1, 3);
    change(part, other.slice(0, 1, 3));
    CHECK(values(y) == expected);
    CHECK(y.grad_fn()->name() == "CopySlices");
    return values(autograd::grad({y.sum()}, {x})[0]);
  };
  const std::vector<double> of_the_rest = {3, 0, 0};
  CHECK(gradient([](Tensor& a, const Tensor& b) { a.logical_and_(b); }, {3, 0, 0}) == of_the_rest);
  CHECK(gradient([](Tensor& a, const Tensor& b) { a.logical_or_(b); }, {3, 1, 0}) == of_the_rest);
  CHECK(gradient([](Tensor& a, const Tensor& b) { a.logical_xor_(b); }, {3, 1, 0}) == of_the_rest);
  CHECK(gradient([](Tensor& a, const Tensor&) { a.logical_not_(); }, {3, 0, 1}) == of_the_rest);
  Tensor whole = x * 3;
  whole.logical_and_(other);
  CHECK(whole.grad_fn()->name() == "LogicalAndBackward0");
}

TEST_CASE("What a view shows of its base changes in place", "[inplace]") {
  using Change = std::pair<const char*, void (*)(Tensor&)>;
  const Change changes[] = {
      {"TBackward", [](Tensor& v) { v.t_(); }},
      {"TransposeBackward", [](Tensor& v) { v.transpose_(0, 1); }},
      {"SqueezeBackward", [](Tensor& v) { v.squeeze_(); }},
      {"UnsqueezeBackward", [](Tensor& v) { v.unsqueeze_(1); }},
      {"AsStridedBackward",
       [](Tensor& v) {
         v.as_strided_({3, 1}, {1, 3});
       }},
  };
  for (const auto& [name, change] : changes) {
    INFO(name);
    const Tensor x = leaf({1, 2, 3, 4}, kDouble), weights = leaf({5, 7, 11}, kDouble);
    const Tensor y = x * 2;
    Tensor v = y.slice(0, 1, 4).view({1, 3});
    const Tensor other = y.slice(0, 1, 3);
    change(v);
    CHECK(v._base().is_same(y));
    CHECK_THAT(v.grad_fn()->name(), Catch::Matchers::StartsWith(name));
    CHECK_THAT(y.grad_fn()->name(), Contains("MulBackward"));
    const auto gradient = [&](const Tensor& of) {
      return values(autograd::grad({of.sum()}, {x}, {}, true)[0]);
    };
    CHECK(gradient(v.reshape({3}) * weights) == std::vector<double>{0, 10, 14, 22});
    CHECK(gradient(other) == std::vector<double>{0, 2, 2, 0});
    // A change of the elements now goes through what the view shows.
    v.mul_(weights.detach().view(v.sizes()));
    CHECK(y.grad_fn()->name() == "CopySlices");
    CHECK(gradient(y) == std::vector<double>{2, 10, 14, 22});
    CHECK(gradient(other) == std::vector<double>{0, 10, 14, 0});
    CHECK(gradient(v) == std::vector<double>{0, 10, 14, 22});
  }
}
