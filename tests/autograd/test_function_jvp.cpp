// jvp of custom Functions, and what is built on forward mode: gradcheck, derivatives of functions.
#include "autograd/forward/forward_ad.h"
#include "autograd/function.h"
#include "autograd/tools/functional.h"
#include "tenon/ops/alias.h"
#include "tenon/ops/ones.h"
#include "tenon/ops/view_as.h"
#include "tenon/ops/zeros.h"
#include "tests/autograd/test_support.h"

using namespace tenon;
using namespace tenon::test;
using autograd::AutogradContext;
using autograd::gradcheck;
using autograd::gradgradcheck;
using autograd::variable_list;
using autograd::forward_ad::DualLevel;
using autograd::forward_ad::make_dual;
using autograd::forward_ad::tangent_of;
namespace functional = autograd::functional;

namespace {

using Numbers = std::vector<double>;

/// x y^2, and x + 1 where it is asked for.
struct Product : autograd::Function<Product> {
  static inline double factor = 1;  // of the tangent: 1 is right
  static inline bool saw_a_tangent = false;
  static variable_list forward(AutogradContext* ctx, const Tensor& x, double, const Tensor& y) {
    saw_a_tangent = tangent_of(x).defined() || tangent_of(x * 2).defined();
    ctx->save_for_backward({x, y});
    ctx->save_for_forward({x, y});
    return {x * y * y, x + 1};
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const variable_list saved = ctx->get_saved_variables();
    return {grads[0] * saved[1] * saved[1] + grads[1], Tensor(),
            grads[0] * saved[0] * saved[1] * 2};
  }
  static variable_list jvp(AutogradContext* ctx, variable_list tangents) {
    const variable_list saved = ctx->get_saved_variables();
    const Tensor x = saved[0], y = saved[1];
    CHECK(tangents.size() == 3);
    CHECK_FALSE(tangents[1].defined());
    return {(tangents[0] * y * y + tangents[2] * x * y * 2) * factor, tangents[0]};
  }
};

Tensors product(const Tensors& in) {
  const variable_list out = Product::apply(in[0], 0.0, in[1]);
  return {out[0], out[1]};
}

struct KeepsResult : autograd::Function<KeepsResult> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x) {
    const Tensor y = x.exp();
    ctx->save_for_backward({y});
    ctx->save_for_forward({y});
    return y;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    return {grads[0] * ctx->get_saved_variables()[0]};
  }
  static variable_list jvp(AutogradContext* ctx, variable_list tangents) {
    return {tangents[0] * ctx->get_saved_variables()[0]};
  }
};

/// A Function of which each test says what it does.
struct Any : autograd::Function<Any> {
  using Run = std::function<variable_list(AutogradContext*, variable_list)>;
  static inline Run run_forward, run_jvp;
  static variable_list forward(AutogradContext* ctx, const variable_list& in) {
    return run_forward(ctx, in);
  }
  static variable_list backward(AutogradContext*, variable_list grads) { return grads; }
  static variable_list jvp(AutogradContext* ctx, variable_list tangents) {
    return run_jvp(ctx, std::move(tangents));
  }
};

variable_list run_any(const variable_list& in, const Any::Run& forward, const Any::Run& jvp) {
  Any::run_forward = forward;
  Any::run_jvp = jvp;
  return Any::apply(in);
}

const Any::Run kTwice = [](AutogradContext*, const variable_list& in) {
  return variable_list{in[0] * 2};
};
const Any::Run kView = [](AutogradContext*, const variable_list& in) {
  return variable_list{in[0].view({-1})};
};
const Any::Run kInPlace = [](AutogradContext* ctx, const variable_list& in) {
  in[0].mul_(2);
  ctx->mark_dirty({in[0]});
  return variable_list{in[0]};
};
Any::Run gives(const std::function<variable_list(const Tensor&)>& f) {
  return [f](AutogradContext*, const variable_list& tangents) { return f(tangents[0]); };
}

Tensor one_two() { return tensor({1., 2.}, TensorOptions(kDouble)); }
Tensor three_five() { return tensor({3., 5.}, TensorOptions(kDouble)); }

}  // namespace

TEST_CASE("A custom Function's jvp gives the tangents", "[function][forward_ad]") {
  const Tensors in = {sample({3}), sample({3})};
  CHECK(gradcheck(product, in, {.check_forward_ad = true}));
  CHECK(gradcheck(product, in, {.check_forward_ad = true, .fast_mode = true}));
  CHECK_FALSE(Product::saw_a_tangent);
  const auto exp = [](const Tensors& t) { return Tensors{KeepsResult::apply(t[0])}; };
  CHECK(gradcheck(exp, {in[0]}, {.check_forward_ad = true}));
  // Forward over reverse: what backward reads, results included, has tangents.
  CHECK(gradgradcheck(product, in, {}, {.check_forward_ad = true}));
  CHECK(gradgradcheck(exp, {in[0]}, {}, {.check_forward_ad = true}));
  const DualLevel level;
  const Tensor x = one_two();
  const Tensor leaf = three_five().set_requires_grad(true);
  const Tensor y = Product::apply(make_dual(x, one_two()), 0.0, leaf)[0];
  tangent_of(y).sum().backward();  // the tangents are recorded
  CHECK(values(leaf.grad()) == Numbers{6, 20});
  // Without a tangent jvp is not asked.
  CHECK_FALSE(tangent_of(Product::apply(x, 0.0, x)[0]).defined());
}

TEST_CASE("What has no tangent is zeros for jvp unless told otherwise", "[function][forward_ad]") {
  bool defined = false, integers = true;
  const auto note = [&](AutogradContext*, const variable_list& t) {
    defined = t[1].defined();
    integers = t[2].defined();
    return variable_list{t[0]};
  };
  const DualLevel level;
  const variable_list in{make_dual(one_two(), three_five()), one_two(), ones({2}, kLong)};
  run_any(in, kTwice, note);
  CHECK(defined);
  CHECK_FALSE(integers);
  run_any(
      in,
      [](AutogradContext* ctx, const variable_list& t) {
        ctx->set_materialize_grads(false);
        return variable_list{t[0] * 2};
      },
      note);
  CHECK_FALSE(defined);
}

TEST_CASE("jvp of views and of changes in place", "[function][forward_ad]") {
  const DualLevel level;
  const Tensor x = one_two();
  const Tensor dual = make_dual(x, three_five());
  const Tensor view =
      run_any({dual}, kView, gives([](const Tensor& t) { return variable_list{t.view({-1})}; }))[0];
  CHECK(values(tangent_of(view)) == Numbers{3, 5});
  CHECK_THROWS_WITH(
      run_any({dual}, kView, gives([](const Tensor& t) { return variable_list{t * 1}; })),
      "A custom Function's forward is returning a view (or an input as-is) but the "
      "jvp is not returning a view.");
  CHECK_THROWS_WITH(run_any({dual}, kView, gives([](const Tensor&) {
                              return variable_list{ones({2, 1}, kDouble).view({-1})};
                            })),
                    Contains("not returning a view of the given grad input"));
  const Tensor part = dual.select(0, 0);
  run_any({dual}, kInPlace, gives([](const Tensor& t) { return variable_list{t.mul_(2)}; }));
  CHECK(values(x) == Numbers{2, 4});
  CHECK(values(tangent_of(dual)) == Numbers{6, 10});
  CHECK(tangent_of(part).item<double>() == 6);
  CHECK_THROWS_WITH(
      run_any({dual}, kInPlace, gives([](const Tensor& t) { return variable_list{t * 2}; })),
      Contains("not modifying the forward mode gradients inplace"));
  CHECK_THROWS_WITH(run_any({dual}, kInPlace, gives([](const Tensor& t) {
                              t.mul_(2);
                              return variable_list{t * 1};
                            })),
                    Contains("not returning the forward mode gradients as-is"));
  // An input that had no tangent gets the one that jvp gives.
  const Tensor plain = one_two();
  run_any({plain, dual}, kInPlace,
          [](AutogradContext*, const variable_list& t) { return variable_list{t[1] * 1}; });
  CHECK(values(tangent_of(plain)) == values(tangent_of(dual)));
}

TEST_CASE("A jvp that is missing or returns the wrong thing", "[function][forward_ad]") {
  struct None : autograd::Function<None> {
    static Tensor forward(AutogradContext*, const Tensor& x) { return x * 2; }
    static variable_list backward(AutogradContext*, variable_list grads) { return {grads[0] * 2}; }
  };
  const auto none = [](const Tensors& t) { return Tensors{None::apply(t[0])}; };
  const Tensor leaf = sample({2});
  // Also where gradcheck is to say false for gradients that are wrong.
  CHECK_THROWS_AS(gradcheck(none, {leaf}, {.check_forward_ad = true, .raise_exception = false}),
                  NotImplementedError);
  const DualLevel level;
  const Tensor dual = make_dual(one_two(), three_five());
  CHECK_THROWS_WITH(None::apply(dual),
                    "You must implement the jvp function for custom autograd.Function to use it "
                    "with forward mode AD, got None without one");
  CHECK_NOTHROW(None::apply(one_two()));
  const auto message = [&](const Any::Run& forward, const Any::Run& jvp) {
    return message_of([&] { run_any({dual}, forward, jvp); });
  };
  CHECK(message(kTwice, gives([](const Tensor& t) {
                  return variable_list{t, t};
                })) ==
        "function Any: Function's jvp returned an invalid number of forward gradients (expected 1 "
        "but got 2)");
  CHECK_THAT(message(kTwice, gives([](const Tensor&) { return variable_list{ones({3})}; })),
             Contains("Tensor is of size [2] while the given forward gradient is of size [3]"));
  const Any::Run constant = [](AutogradContext* ctx, const variable_list& in) {
    const Tensor y = in[0] * 2;
    ctx->mark_non_differentiable({y});
    return variable_list{y};
  };
  CHECK_THAT(message(constant, gives([](const Tensor& t) { return variable_list{t}; })),
             Contains("jvp returned a gradient at position 0, but the corresponding forward output "
                      "is not a differentiable Tensor"));
  CHECK(message(constant, gives([](const Tensor&) { return variable_list{Tensor()}; })).empty());
  CHECK_THAT(message(kTwice, gives([](const Tensor& t) {
                       const DualLevel another;
                       return variable_list{t};
                     })),
             Contains("Nested forward mode AD is not supported"));
  CHECK(values(tangent_of(dual * 2)) == Numbers{6, 10});  // the level goes on
}

TEST_CASE("gradcheck() in forward mode and in fast mode", "[gradcheck][forward_ad]") {
  const Tensors in = {sample({2, 2}), sample({2, 2})};
  const auto wrong = [&](double factor, autograd::GradcheckOptions options) {
    Product::factor = factor;
    const std::string message = message_of([&] { gradcheck(product, in, options); });
    Product::factor = 1;
    return message;
  };
  CHECK(wrong(1.01, {}).empty());
  CHECK_THAT(wrong(1.01, {.check_backward_ad = false, .check_forward_ad = true}),
             Contains("[gradcheck] Jacobian computed with forward mode mismatch for output 0 with "
                      "respect to input 0: d(element [0, 0] of the output)/d(element [0, 0] of the "
                      "input) is numerically "));
  // Fast mode finds it too, and says where.
  CHECK_THAT(wrong(1.5, {.check_forward_ad = true, .fast_mode = true}),
             Contains("computed with forward mode mismatch for output 0"));
  CHECK_THROWS_WITH(gradcheck(product, in, {.check_backward_ad = false}),
                    Contains("at least one of check_forward_ad or check_backward_ad"));
  CHECK(gradcheck(product, in, {.check_batched_grad = true}));
  // Complex numbers, to and from.
  const Tensor z =
      tensor({std::complex<double>(1, 2), std::complex<double>(-0.5, 0.25)}, kComplexDouble)
          .set_requires_grad(true);
  for (const bool fast : {false, true}) {
    const autograd::GradcheckOptions options{.check_forward_ad = true, .fast_mode = fast};
    CHECK(gradcheck([](const Tensors& t) { return Tensors{t[0] * t[0] + t[0].exp()}; }, {z},
                    options));
    CHECK(gradcheck(
        [](const Tensors& t) {
          return Tensors{t[0].abs(), t[0] * t[0].conj()};
        },
        {z}, options));
    CHECK(gradgradcheck([](const Tensors& t) { return Tensors{t[0] * t[0] * t[1]}; },
                        {z, sample({2})}, {}, options));
  }
}

TEST_CASE("Derivatives of functions by forward mode", "[functional][forward_ad]") {
  constexpr functional::Options kForward{.strategy = functional::Strategy::Forward};
  const variable_list in{one_two(), three_five().view({2, 1})};
  const variable_list v{tensor({1., -1.}, TensorOptions(kDouble)),
                        tensor({2., 0.5}, TensorOptions(kDouble)).view({2, 1})};
  const auto two = [](const variable_list& t) {
    return variable_list{t[0] * t[0] * t[1], (t[0] * t[1]).sum() * t[1]};
  };
  const auto same = [](const Tensor& a, const Tensor& b) {
    REQUIRE(a.sizes() == b.sizes());
    CHECK_FALSE(a.requires_grad());
    const Numbers x = values(a), y = values(b);
    for (size_t i = 0; i < x.size(); ++i) CHECK(x[i] == Approx(y[i]));
  };
  const auto forward = functional::jvp(two, in, v, kForward);
  const auto reverse = functional::jvp(two, in, v);
  const auto j = functional::jacobian(two, in, kForward), k = functional::jacobian(two, in);
  for (size_t i = 0; i < 2; ++i) {
    same(forward.outputs[i], reverse.outputs[i]);
    same(forward.product[i], reverse.product[i]);
    for (size_t n = 0; n < 2; ++n) same(j[i][n], k[i][n]);
  }
  const auto single = [](const variable_list& t) {
    return variable_list{(t[0].pow(3) * t[1]).sum()};
  };
  const auto h = functional::hessian(single, in, kForward), r = functional::hessian(single, in);
  const auto hv = functional::hvp(single, in, v, kForward), rv = functional::hvp(single, in, v);
  for (size_t i = 0; i < 2; ++i) {
    same(hv.product[i], rv.product[i]);
    for (size_t n = 0; n < 2; ++n) same(h[i][n], r[i][n]);
  }
  // Inputs and outputs without elements have their sizes.
  const auto empty = functional::jacobian(
      [](const variable_list& t) {
        return variable_list{t[0] * 2, t[1].sum()};
      },
      {zeros({0, 2}, kDouble), one_two()}, kForward);
  CHECK(empty[0][0].sizes() == IntArrayRef({0, 2, 0, 2}));
  CHECK(empty[0][1].sizes() == IntArrayRef({0, 2, 2}));
  CHECK(empty[1][0].sizes() == IntArrayRef({0, 2}));
  CHECK(values(empty[1][1]) == Numbers{1, 1});
  // A constant has no derivative, and the function's jvp is the one that counts.
  const auto constant = [](const variable_list&) { return variable_list{one_two()}; };
  CHECK(values(functional::jvp(constant, in, v, kForward).product[0]) == Numbers{0, 0});
  const auto custom = [](const variable_list& t) { return Product::apply(t[0], 0.0, t[0]); };
  CHECK(values(functional::jvp(custom, {one_two()}, {ones({2}, kDouble)}, kForward).product[0]) ==
        Numbers{3, 12});
  constexpr functional::Options kWithGraph{.create_graph = true,
                                           .strategy = functional::Strategy::Forward};
  constexpr functional::Options kStrict{.strict = true, .strategy = functional::Strategy::Forward};
  CHECK_THROWS_AS(functional::jacobian(two, in, kWithGraph), NotImplementedError);
  CHECK_THROWS_WITH(functional::hvp(single, in, v, kStrict),
                    Contains("`strict=True` and `strategy=\"forward-mode\"` are not supported"));
  CHECK_THROWS_AS(functional::vjp(two, in, v, kForward), ValueError);
}
