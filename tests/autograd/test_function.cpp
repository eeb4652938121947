#include "tenon/ops/ones.h"
#include "tests/autograd/test_support.h"

using namespace tenon;
using namespace tenon::test;
using autograd::AutogradContext;
using autograd::variable_list;

namespace {

struct Cube : autograd::Function<Cube> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x, double scale) {
    ctx->save_for_backward({x});
    ctx->saved_data["scale"] = scale;
    return x * x * x * scale;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const Tensor x = ctx->get_saved_variables()[0];
    return {grads[0] * x * x * (3 * ctx->saved_data["scale"].to_double()), Tensor()};
  }
};

struct SavesResult : autograd::Function<SavesResult> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x) {
    const Tensor y = x.exp();
    ctx->save_for_backward({y});
    return y;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    return {grads[0] * ctx->get_saved_variables()[0]};
  }
};

struct TwoOutputs : autograd::Function<TwoOutputs> {
  static inline bool materialize = true;
  static inline bool second_was_defined = false;
  static variable_list forward(AutogradContext* ctx, const Tensor& x,
                               const std::optional<Tensor>& y) {
    ctx->set_materialize_grads(materialize);
    const Tensor rounded = x.round();
    ctx->mark_non_differentiable({rounded});
    return {x * 2, y ? *y * 3 : x * 3, rounded};
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    second_was_defined = grads[1].defined();
    const bool wanted = ctx->needs_input_grad(1);
    return {grads[0].defined() ? grads[0] * 2 : Tensor(),
            wanted && grads[1].defined() ? grads[1] * 3 : Tensor()};
  }
};

struct Doubles : autograd::Function<Doubles> {
  static Tensor forward(AutogradContext* ctx, Tensor x) {
    x.mul_(2);
    ctx->mark_dirty({x});
    return x;
  }
  static variable_list backward(AutogradContext*, variable_list grads) { return {grads[0] * 2}; }
};

struct ForgetsDirty : autograd::Function<ForgetsDirty> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x) {
    ctx->mark_dirty({x});
    return x * 2;
  }
  static variable_list backward(AutogradContext*, variable_list grads) { return grads; }
};

struct Same : autograd::Function<Same> {
  static Tensor forward(AutogradContext*, const Tensor& x) { return x; }
  static variable_list backward(AutogradContext*, variable_list grads) { return {grads[0] * 7}; }
};

struct Sum : autograd::Function<Sum> {
  static Tensor forward(AutogradContext* ctx, const std::vector<Tensor>& list) {
    ctx->saved_data["count"] = static_cast<int64_t>(list.size());
    Tensor sum = list[0];
    for (size_t i = 1; i < list.size(); ++i) sum = sum + list[i];
    return sum;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    variable_list result;
    for (int64_t i = 0; i < ctx->saved_data["count"].to_int(); ++i)
      result.push_back(grads[0] * (i + 1));
    return result;
  }
};

struct F : autograd::Function<F> {
  static Tensor forward(AutogradContext*, const Tensor& x) { return x * 2; }
  static variable_list backward(AutogradContext*, variable_list grads) {
    return {grads[0], grads[0]};
  }
};

struct F2 : autograd::Function<F2> {
  static Tensor forward(AutogradContext*, const Tensor& x) { return x * 2; }
  static variable_list backward(AutogradContext*, variable_list) { return {ones({7})}; }
};

}  // namespace

TEST_CASE("A custom Function has the gradient it says", "[function]") {
  const Tensor x = sample({3});
  const Tensor y = Cube::apply(x, 2.0);
  CHECK(y.grad_fn()->name() == "CubeBackward");
  const auto cube = [](const Tensors& in) { return Tensors{Cube::apply(in[0], 2.0)}; };
  CHECK(autograd::gradcheck(cube, {x}));
  CHECK(autograd::gradgradcheck(cube, {x}));
  const auto exp = [](const Tensors& in) { return Tensors{SavesResult::apply(in[0])}; };
  CHECK(autograd::gradcheck(exp, {x}));
  CHECK(autograd::gradgradcheck(exp, {x}));
  CHECK_FALSE(Cube::apply(x.detach(), 1.0).requires_grad());
  const NoGradGuard guard;
  CHECK_FALSE(Cube::apply(x, 1.0).requires_grad());
}

TEST_CASE("What a custom Function has saved is checked", "[function]") {
  const Tensor x = leaf({1, 2});
  Tensor a = x * 1;
  const Tensor y = Cube::apply(a, 1.0);
  a.add_(1);
  CHECK_THROWS_WITH(y.sum().backward(), Contains("modified by an inplace operation"));
  const Tensor z = Cube::apply(x, 1.0).sum();
  z.backward();
  CHECK_THROWS_WITH(z.backward(), Contains("backward through the graph a second time"));
}

TEST_CASE("Several outputs of a custom Function", "[function]") {
  const Tensor x = leaf({1, 2}), y = leaf({3, 4});
  const variable_list out = TwoOutputs::apply(x, std::optional<Tensor>(y));
  CHECK(out[1].output_nr() == 1);
  CHECK_FALSE(out[2].requires_grad());
  out[0].sum().backward({}, true);
  CHECK(TwoOutputs::second_was_defined);
  CHECK(values(y.grad()) == std::vector<double>{0, 0});
  TwoOutputs::materialize = false;
  TwoOutputs::apply(x, std::optional<Tensor>())[0].sum().backward();
  TwoOutputs::materialize = true;
  CHECK_FALSE(TwoOutputs::second_was_defined);
  CHECK(values(x.grad()) == std::vector<double>{4, 4});
  (out[0] + out[1]).sum().backward();
  CHECK(values(y.grad()) == std::vector<double>{3, 3});
}

TEST_CASE("A custom Function in place", "[function]") {
  Tensor x = leaf({1, 2});
  CHECK_THROWS_AS(Doubles::apply(x), Error);
  Tensor y = x * 5;
  const Tensor z = Doubles::apply(y);
  CHECK(z.is_same(y));
  CHECK(y.grad_fn()->name() == "DoublesBackward");
  z.sum().backward();
  CHECK(values(x.grad()) == std::vector<double>{10, 10});
  x.mutable_grad().reset();
  Tensor base = x * 1;
  Tensor view = base.select(0, 1);
  Doubles::apply(view);
  base.sum().backward();
  CHECK(values(x.grad()) == std::vector<double>{1, 2});
  CHECK_THROWS_WITH(
      ForgetsDirty::apply(x * 1),
      "Some elements marked as dirty during the forward method were not returned as output. The "
      "inputs that are modified inplace must all be outputs of the Function.");
}

TEST_CASE("A custom Function that returns its input gives a view", "[function]") {
  const Tensor x = leaf({1, 2});
  Tensor y = x * 1;
  Tensor z = Same::apply(y);
  CHECK_FALSE(z.is_same(y));
  CHECK(z._base().is_same(y));
  CHECK_THROWS_WITH(z.mul_(2), Contains("This view was created inside a custom Function"));
  z.sum().backward();
  CHECK(values(x.grad()) == std::vector<double>{7, 7});
}

TEST_CASE("A list argument of a custom Function", "[function]") {
  const Tensor x = leaf({1}), y = leaf({2});
  Sum::apply(std::vector<Tensor>{x, ones({1}), y}).backward();
  CHECK(values(x.grad()) == std::vector<double>{1});
  CHECK(values(y.grad()) == std::vector<double>{3});
}

TEST_CASE("A custom backward that returns the wrong thing", "[function]") {
  const Tensor x = leaf({1, 2, 3});
  CHECK_THROWS_WITH(
      F::apply(x).sum().backward(),
      "function FBackward returned an incorrect number of gradients (expected 1, got 2)");
  CHECK_THROWS_WITH(
      F2::apply(x).sum().backward(),
      "Function F2Backward returned an invalid gradient at index 0 - got [7] but expected shape "
      "compatible with [3]");
  CHECK_FALSE(x.grad().defined());
}

namespace {

/// A view of its input, saved.
struct SavesItsView : autograd::Function<SavesItsView> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x) {
    const Tensor v = x.view({-1});
    ctx->save_for_backward({v});
    return v;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    return {grads[0] * ctx->get_saved_variables()[0]};
  }
};

/// Doubles w in place and saves it.
struct DoublesAndSaves : autograd::Function<DoublesAndSaves> {
  static Tensor forward(AutogradContext* ctx, const Tensor& w, const Tensor&) {
    w.mul_(2);
    ctx->mark_dirty({w});
    ctx->save_for_backward({w});
    return w;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    return {grads[0] * 2 + ctx->get_saved_variables()[0] * 0, Tensor()};
  }
};

struct DoublesTheSecond : autograd::Function<DoublesTheSecond> {
  static Tensor forward(AutogradContext* ctx, const Tensor&, const Tensor& w) {
    w.mul_(2);
    ctx->mark_dirty({w});
    return w;
  }
  static variable_list backward(AutogradContext*, variable_list grads) {
    return {Tensor(), grads[0] * 2};
  }
};

struct NotDifferentiable : autograd::Function<NotDifferentiable> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x) {
    ctx->mark_non_differentiable({x});
    return x;
  }
  static variable_list backward(AutogradContext*, variable_list grads) { return grads; }
};

/// Its result twice, an integer, and one that is not differentiable.
struct Places : autograd::Function<Places> {
  static inline std::vector<double> seen;

  static variable_list forward(AutogradContext* ctx, const Tensor& x) {
    const Tensor y = x * 2, constant = x * 3;
    ctx->mark_non_differentiable({constant});
    return {y, y, x.to(kLong), constant};
  }
  static variable_list backward(AutogradContext*, variable_list grads) {
    seen.clear();
    for (const Tensor& g : grads) seen.push_back(values(g)[0]);
    CHECK(grads[2].scalar_type() == kLong);
    return {grads[0] * 2 + grads[1] * 2};
  }
};

/// Writes where no operator sees it.
struct WritesUnseen : autograd::Function<WritesUnseen> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x) {
    ctx->mark_dirty({x});
    static_cast<float*>(x.data_ptr())[0] = 7;
    return x;
  }
  static variable_list backward(AutogradContext*, variable_list grads) { return {grads[0] * 0}; }
};

}  // namespace

TEST_CASE("A tensor returned twice has the gradient of its last place", "[function]") {
  const Tensor x = leaf({1});
  const variable_list out = Places::apply(x);
  CHECK(out[0].is_same(out[1]));
  CHECK_FALSE(out[3].requires_grad());
  (out[0] * 5 + out[1]).backward();
  CHECK(Places::seen == std::vector<double>{0, 6, 0, 0});
  CHECK(values(x.grad()) == std::vector<double>{12});
}

TEST_CASE("mark_dirty() counts a change that no operator makes", "[function]") {
  const Tensor x = leaf({1, 2}) * 1;
  const Tensor y = x * x;
  WritesUnseen::apply(x);
  CHECK(x._version() == 1);
  CHECK_THROWS_WITH(y.sum().backward(), Contains("modified by an inplace operation"));
  const Tensor plain = ones({2});
  WritesUnseen::apply(plain);
  CHECK(plain._version() == 1);
}

TEST_CASE("A Function may save the view of its input that it returns", "[function]") {
  const Tensor x = leaf({1, 2});
  const Tensor y = SavesItsView::apply(x * 1);
  const Tensor g = autograd::grad({y.sum()}, {x}, {}, std::nullopt, true)[0];
  CHECK(values(g) == std::vector<double>{1, 2});
  CHECK(values(autograd::grad({g.sum()}, {x})[0]) == std::vector<double>{1, 2});
}

TEST_CASE("A view that a Function changes in place and saves is freed", "[function]") {
  const Tensor x = leaf({1, 2});
  Tensor base = x * 1;
  const IntrusivePtr<StorageImpl> storage = base.unsafe_impl()->storage;
  DoublesAndSaves::apply(base.select(0, 0), ones({}));
  base.sum().backward();
  CHECK(values(x.grad()) == std::vector<double>{2, 1});
  base = x * 1;
  const IntrusivePtr<StorageImpl> other = base.unsafe_impl()->storage;
  DoublesAndSaves::apply(base.select(0, 0), ones({}));
  base.reset();
  CHECK(other->refs.count() == 1);
}

TEST_CASE("A view can be changed in place as a Function's first tensor only", "[function]") {
  const Tensor x = leaf({1, 2});
  const Tensor base = x * 1;
  CHECK_THROWS_WITH(DoublesTheSecond::apply(ones({}), base.select(0, 0)),
                    "[DoublesTheSecond] an input that is a view of another tensor can be changed "
                    "in place only as the first tensor of forward, got tensor 1");
  CHECK(values(DoublesTheSecond::apply(ones({}), x * 1)) == std::vector<double>{2, 4});
}

TEST_CASE("An input that is returned as not differentiable needs no gradient", "[function]") {
  const Tensor x = leaf({1, 2});
  CHECK_FALSE(NotDifferentiable::apply(x).requires_grad());
  CHECK(x.requires_grad());
}
