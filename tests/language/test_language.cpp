// Functions, compositions and aliases of a library that adds to Tenon: the examples of
// docs/language.md.
#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <vector>

#include "aten/core/generator.h"
#include "aten/core/parallel.h"
#include "aten/core/thread_state.h"
#include "aten/dispatch/operator_entry.h"
#include "autograd/autograd.h"
#include "autograd/engine/node.h"
#include "mine/ops/above.h"
#include "mine/ops/add_scaled.h"
#include "mine/ops/bias_gelu.h"
#include "mine/ops/bounded.h"
#include "mine/ops/bounded_twice.h"
#include "mine/ops/bump.h"
#include "mine/ops/capped_gelu.h"
#include "mine/ops/chained.h"
#include "mine/ops/clipped.h"
#include "mine/ops/common_divisor.h"
#include "mine/ops/counted.h"
#include "mine/ops/counting.h"
#include "mine/ops/decay.h"
#include "mine/ops/drop.h"
#include "mine/ops/either.h"
#include "mine/ops/far.h"
#include "mine/ops/first_and_last.h"
#include "mine/ops/first_half.h"
#include "mine/ops/fivefold.h"
#include "mine/ops/gate_with.h"
#include "mine/ops/gated.h"
#include "mine/ops/gated_norm.h"
#include "mine/ops/halved.h"
#include "mine/ops/jitter.h"
#include "mine/ops/leading.h"
#include "mine/ops/leading_copy.h"
#include "mine/ops/low_high.h"
#include "mine/ops/lower_upper.h"
#include "mine/ops/momentum_step.h"
#include "mine/ops/momentum_steps.h"
#include "mine/ops/more_than.h"
#include "mine/ops/nested.h"
#include "mine/ops/noisy.h"
#include "mine/ops/other_bits.h"
#include "mine/ops/parts.h"
#include "mine/ops/power.h"
#include "mine/ops/root_of.h"
#include "mine/ops/row_norms.h"
#include "mine/ops/scaled.h"
#include "mine/ops/scaled_by_first.h"
#include "mine/ops/scaled_by_whole.h"
#include "mine/ops/scaled_twice.h"
#include "mine/ops/shifted.h"
#include "mine/ops/shifted_all.h"
#include "mine/ops/shrink.h"
#include "mine/ops/sign_of.h"
#include "mine/ops/softcap_of.h"
#include "mine/ops/swap_sum.h"
#include "mine/ops/times_first.h"
#include "mine/ops/total.h"
#include "mine/ops/turns.h"
#include "mine/ops/twice.h"
#include "mine/ops/weighted_mean.h"
#include "tenon/ops/empty.h"
#include "tenon/ops/gelu.h"
#include "tenon/ops/normal.h"
#include "tenon/ops/rms_norm.h"
#include "tenon/ops/silu.h"
#include "tenon/ops/uniform.h"

using namespace tenon;

namespace {

Tensor tensor_of(const std::vector<double>& values, IntArrayRef sizes, ScalarType dtype = kDouble) {
  Tensor t = empty(sizes, TensorOptions(kDouble));
  std::copy(values.begin(), values.end(), t.data_ptr<double>());
  return t.to(dtype);
}

std::vector<double> values(const Tensor& t) {
  const Tensor plain = t.to(kDouble).contiguous();
  return {plain.data_ptr<double>(), plain.data_ptr<double>() + plain.numel()};
}

double gelu(double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }

/// The gradient of the sum of y, itself differentiable where `more`.
Tensor grad_of(const Tensor& y, const Tensor& x, bool more) {
  return autograd::grad({y.sum()}, {x}, {}, true, more)[0];
}

const std::vector<double> kValues = {-3, -0.5, 0, 0.25, 1, 40};

}  // namespace

TEST_CASE("a view's copying form follows from it, gradient and out form too") {
  Tensor x = tensor_of(kValues, {3, 2});
  x.requires_grad_();
  const Tensor view = mine::leading(x, 2), copy = mine::leading_copy(x, 2);
  CHECK(view.is_alias_of(x));
  CHECK_FALSE(copy.is_alias_of(x));
  CHECK(copy.equal(view));
  (copy * copy).sum().backward();
  CHECK(values(x.grad()) == std::vector<double>{-6, -1, 0, 0.5, 0, 0});
  Tensor out = empty({0}, TensorOptions(kDouble));
  mine::leading_copy_out(out, x.detach(), 2);
  CHECK(out.equal(view));
}

TEST_CASE("expressions call operators of the library and definitions") {
  const std::vector<double> y = values(mine::capped_gelu(tensor_of(kValues, {6})));
  for (size_t i = 0; i < kValues.size(); ++i) {
    INFO(kValues[i]);
    CHECK(y[i] == Approx(gelu(30 * std::tanh(kValues[i] / 30))).margin(1e-15));
  }
  Tensor x = tensor_of({0.5}, {1});
  x.requires_grad_();
  mine::capped_gelu(x, 2).sum().backward();
  const auto f = [](double v) { return gelu(2 * std::tanh(v / 2)); };
  CHECK(values(x.grad())[0] == Approx((f(0.5 + 1e-6) - f(0.5 - 1e-6)) / 2e-6).epsilon(1e-6));
}

TEST_CASE("a call leaves out what has a default, and dtypes follow what is called") {
  const std::vector<double> gates = {2, -1, 0.5, 3, 0, 1};
  const std::vector<double> y = values(mine::gated(tensor_of(kValues, {6}), tensor_of(gates, {6})));
  for (size_t i = 0; i < kValues.size(); ++i) {
    const double sign = gates[i] > 0 ? 1 : gates[i] < 0 ? -1 : 0;
    const double gate = std::max(sign, std::max(gates[i], 0.0));
    CHECK(y[i] == Approx(gelu(30 * std::tanh(kValues[i] / 30)) * gate).margin(1e-15));
  }
  // What it calls is real: so is it.
  const Tensor complex = tensor_of({1}, {1}, kComplexDouble);
  CHECK_THROWS(mine::gated(complex, complex));
}

TEST_CASE("compositions compute and differentiate as the operators they call") {
  Tensor x = tensor_of({3, 4, 6, 8}, {2, 2});
  CHECK(values(mine::row_norms(x)) == std::vector<double>{5, 10});
  CHECK(values(mine::row_norms(x, 11.0)) == std::vector<double>{6, std::sqrt(111.0)});
  Tensor out = empty({0}, TensorOptions(kDouble));
  mine::row_norms_out(out, x);
  CHECK(values(out) == std::vector<double>{5, 10});

  x.requires_grad_();
  mine::row_norms(x).sum().backward();
  const std::vector<double> gradient = values(x.grad());
  for (size_t i = 0; i < 4; ++i) CHECK(gradient[i] == Approx(i % 2 == 0 ? 0.6 : 0.8));

  const Tensor weight = tensor_of({1, 0, 0, 3}, {2, 2});
  CHECK(mine::weighted_mean(x).item<double>() == 5.25);
  CHECK(mine::weighted_mean(x, weight).item<double>() == 6.75);
  CHECK(values(mine::parts(x, 3)) == std::vector<double>{4.5, 6, 9, 12});
}

TEST_CASE("a number that stands for an absent tensor lifts no dtype") {
  const Tensor x = tensor_of({1, 2}, {2}, kFloat);
  CHECK(mine::shifted(x).scalar_type() == kFloat);
  CHECK(values(mine::shifted(x)) == std::vector<double>{1.5, 2.5});
  CHECK(values(mine::shifted(x, x)) == std::vector<double>{2, 4});
}

TEST_CASE("a composition may be a view") {
  Tensor x = tensor_of({1, 2, 3}, {3});
  mine::first_half(x).fill_(7);
  CHECK(values(x) == std::vector<double>{7, 7, 3});
}

TEST_CASE("formulas of its own replace a composition's gradient") {
  Tensor x = tensor_of({1, 2}, {2});
  x.requires_grad_();
  const Tensor y = mine::twice(x);
  CHECK(y.grad_fn()->name() == "TwiceBackward0");
  y.sum().backward();
  CHECK(values(x.grad()) == std::vector<double>{3, 3});
}

TEST_CASE("x.f(y) is f(x, y) where f is no method") {
  Tensor x = tensor_of(kValues, {6}), y = tensor_of({1, 2, -7}, {3});
  CHECK(mine::chained(x, y).equal(silu(x) * 2 + mine::softcap_of(y, 2).sum()));
  x.requires_grad_();
  mine::fivefold(x).sum().backward();
  // Twice and once more twice, and once itself.
  for (const double g : values(x.grad())) CHECK(g == Approx(5));
}

TEST_CASE("an alias is its operator under another name") {
  CHECK(find_operator("mine::gate_with") == find_operator("mine::gated"));
  CHECK(find_operator("mine::gate_with_") == find_operator("mine::gated_"));
  CHECK(find_operator("mine::gate_with", "out") == find_operator("mine::gated.out"));
  Tensor x = tensor_of({0.5, 1}, {2}), gate = tensor_of({2, 3}, {2});
  const std::vector<double> expected = values(mine::gated(x, gate));
  CHECK(values(mine::gate_with(x, gate)) == expected);
  Tensor out = empty({0}, TensorOptions(kDouble));
  mine::gate_with_out(out, x, gate);
  CHECK(values(out) == expected);
  mine::gate_with_(x, gate);
  CHECK(values(x) == expected);
  x.requires_grad_();
  CHECK(mine::gate_with(x, gate).grad_fn()->name() == "GatedBackward0");
}

TEST_CASE("an entry that writes several arguments reads them as they were before the call") {
  Tensor a = tensor_of({1, 2, 3}, {3}), b = tensor_of({10, 20, 30}, {3});
  const Tensor returned = mine::swap_sum_(a, b);
  CHECK(returned.is_same(a));
  CHECK(values(a) == std::vector<double>{10, 20, 30});
  CHECK(values(b) == std::vector<double>{1, 2, 3});
  CHECK(a._version() == 1);
  CHECK(b._version() == 1);

  Tensor total = tensor_of({100, 200, 300}, {3});
  mine::swap_sum_(a, b, total, 2, 3, true);
  CHECK(values(a) == std::vector<double>{101, 202, 303});
  CHECK(values(b) == std::vector<double>{-10, -20, -30});
  CHECK(values(total) == std::vector<double>{102.75, 205.5, 308.25});
  CHECK(total._version() == 1);
}

TEST_CASE("the functional form of what writes computes on copies") {
  Tensor x = tensor_of({4, -8}, {2}), many = tensor_of({1, 1}, {2});
  const auto [y, next] = mine::decay(x, many, 0.25);
  CHECK(values(y) == std::vector<double>{1, -2});
  CHECK(values(next) == std::vector<double>{2, 2});
  CHECK(values(x) == std::vector<double>{4, -8});
  CHECK(values(many) == std::vector<double>{1, 1});
  CHECK(x._version() == 0);
  Tensor out0 = empty({0}, TensorOptions(kDouble)), out1 = empty({0}, TensorOptions(kDouble));
  mine::decay_out(out0, out1, x, many);
  CHECK(values(out0) == std::vector<double>{2, -4});
  CHECK(out1.equal(next));
  mine::decay_(x, many, 0.25);
  CHECK(x.equal(y));
  CHECK(many.equal(next));
}

TEST_CASE("a functional form has the gradient of what it is made of") {
  Tensor x = tensor_of({1, 2}, {2}), by = tensor_of({10, 20}, {2});
  x.requires_grad_();
  by.requires_grad_();
  const Tensor y = mine::bump(x, by);
  CHECK(values(y) == std::vector<double>{11, 22});
  CHECK(values(x.detach()) == std::vector<double>{1, 2});
  y.sum().backward();
  CHECK(values(x.grad()) == std::vector<double>{5, 5});
  CHECK(values(by.grad()) == std::vector<double>{7, 7});
}

TEST_CASE("the example of a step with momentum") {
  Tensor p = tensor_of({1, 2}, {2}), grad = tensor_of({10, 20}, {2}),
         buffer = tensor_of({1, 1}, {2});
  mine::momentum_step_(p, grad, buffer, 0.5, 0.25);
  CHECK(values(buffer) == std::vector<double>{10.25, 20.25});
  CHECK(values(p) == std::vector<double>{1 - 0.5 * 10.25, 2 - 0.5 * 20.25});
  mine::momentum_step_(p, grad, std::nullopt, 1);
  CHECK(values(p) == std::vector<double>{1 - 0.5 * 10.25 - 10, 2 - 0.5 * 20.25 - 20});
}

TEST_CASE(
    "what is written keeps its dtype, shape and strides; the rest is broadcast and promoted") {
  for (const ScalarType dtype : {kFloat, kHalf, kBFloat16}) {
    Tensor a = tensor_of({1, 2, 3, 4, 5, 6}, {2, 3}, dtype).t();
    Tensor b = tensor_of({10, 20, 30, 40, 50, 60}, {3, 2}, kFloat);
    mine::swap_sum_(a, b);
    CHECK(a.dtype() == dtype);
    CHECK(b.dtype() == kFloat);
    CHECK(values(a) == std::vector<double>{10, 20, 30, 40, 50, 60});
    CHECK(values(b) == std::vector<double>{1, 4, 2, 5, 3, 6});
    CHECK(a.stride(1) == 3);
  }
  Tensor a = tensor_of({1, 2, 3, 4}, {2, 2}), by = tensor_of({2, 4}, {2});
  CHECK(values(mine::shrink_(a)) == std::vector<double>{0.5, 1, 1.5, 2});
  CHECK(values(mine::shrink_(a, by)) == std::vector<double>{1, 4, 3, 8});
  Tensor every = tensor_of({1, 2, 3, 4}, {4}).slice(0, 0, 4, 2);
  CHECK(values(mine::shrink_(every)) == std::vector<double>{0.5, 1.5});
  Tensor none = tensor_of({}, {0});
  CHECK(mine::shrink_(none).numel() == 0);
  Tensor meta = tensor_of({1, 2}, {2}).to(kMeta);
  CHECK(mine::shrink_(meta).is_meta());
  Tensor other = tensor_of({1, 2}, {2}).to(kMeta);
  CHECK(mine::swap_sum_(meta, other).is_meta());
  Tensor one = tensor_of({1}, {1});
  CHECK_THROWS_WITH(mine::shrink_(one, by),
                    "[mine::shrink_] self with shape [1] doesn't match the broadcast shape [2]");
}

TEST_CASE("what an entry that writes arguments refuses leaves them as they were") {
  Tensor a = tensor_of({1, 2, 3}, {3}), b = tensor_of({10, 20, 30}, {3});
  using Catch::Contains;
  Tensor small = tensor_of({1}, {1}), ints = tensor_of({1, 2, 3}, {3}, kLong);
  CHECK_THROWS_WITH(mine::swap_sum_(a, small),
                    "[mine::swap_sum_] other must have the shape of self, [3], got [1]");
  CHECK_THROWS_WITH(
      mine::swap_sum_(a, ints),
      "[mine::swap_sum_] result type Double can't be cast to Long, the dtype of other");
  CHECK_THROWS_WITH(
      mine::swap_sum_(a, a),
      "[mine::swap_sum_] self and other are both written, so they must not share memory");
  Tensor whole = tensor_of({1, 2, 3, 4}, {4}), first = whole.slice(0, 0, 3),
         last = whole.slice(0, 1, 4);
  CHECK_THROWS_WITH(mine::swap_sum_(first, last), Contains("refer to a single memory location"));
  Tensor row = a.expand({2, 3});
  CHECK_THROWS_WITH(mine::shrink_(row), Contains("more than one element"));
  Tensor undefined;
  CHECK_THROWS(mine::swap_sum_(a, undefined));
  CHECK_THROWS_WITH(mine::shrink_(ints, tensor_of({1, 1, 1}, {3}, kLong)),
                    "[mine::shrink_] is not implemented for 'Long'");
  CHECK(values(a) == std::vector<double>{1, 2, 3});
  CHECK(values(whole) == std::vector<double>{1, 2, 3, 4});

  b.requires_grad_();
  CHECK_THROWS_WITH(mine::swap_sum_(a, b), Contains("leaf"));
  CHECK_THROWS_WITH(mine::shrink_(a, b),
                    "[mine::shrink_] has no derivative, so by must not require grad: use it under "
                    "no_grad, or on detach()");
  NoGradGuard no_grad;
  CHECK(values(mine::swap_sum_(a, b)) == std::vector<double>{10, 20, 30});
  CHECK(b.requires_grad());
}

TEST_CASE("parts of one storage may be written side by side") {
  Tensor flat = tensor_of({1, 2, 10, 20}, {4});
  Tensor a = flat.slice(0, 0, 2), b = flat.slice(0, 2, 4);
  mine::swap_sum_(a, b);
  CHECK(values(flat) == std::vector<double>{10, 20, 1, 2});
}

namespace {

/// What `uniform_` or `normal_` gives for a tensor like this one.
Tensor drawn(const Tensor& like, bool normal, const Generator& generator) {
  Tensor t = empty(like.sizes(), like.options());
  return normal ? t.normal_(0, 1, generator) : t.uniform_(0, 1, generator);
}

Tensor ramp(IntArrayRef sizes, ScalarType dtype = kFloat) {
  Tensor t = empty(sizes, TensorOptions(kDouble));
  for (int64_t i = 0; i < t.numel(); ++i)
    t.data_ptr<double>()[i] = 0.001 * static_cast<double>(i % 9973) - 3;
  return t.to(dtype);
}

class Threads {
 public:
  explicit Threads(int count) : before_(get_num_threads()) { set_num_threads(count); }
  ~Threads() { set_num_threads(before_); }

 private:
  int before_;
};

bool same(const Tensor& a, const Tensor& b) { return a.dtype() == b.dtype() && a.equal(b); }

}  // namespace

TEST_CASE("a draw is what uniform_ and normal_ give, whatever the size and the threads") {
  // Below 16 numbers, with a rest, one piece, several, a last one that is longer than the others.
  for (const int64_t n : {1, 15, 37, 65536, 131073, 200007}) {
    for (const ScalarType dtype : {kFloat, kDouble}) {
      INFO(n << " of " << to_string(dtype));
      const Tensor x = ramp({n}, dtype);
      const Tensor expected = x + drawn(x, true, make_generator(kCPU, 3)) * 2;
      for (const int threads : {1, 3}) {
        const Threads guard(threads);
        const Generator generator = make_generator(kCPU, 3);
        CHECK(mine::noisy(x, 2, generator).allclose(expected, 1e-6, 1e-6));
        // The next numbers follow on those.
        CHECK_FALSE(mine::noisy(x, 2, generator).equal(expected));
      }
    }
  }
}

TEST_CASE("a mask is a result of its own dtype, saved for backward, and the same for any threads") {
  Tensor first;
  for (const int threads : {1, 2, 5}) {
    const Threads guard(threads);
    Tensor x = ramp({3, 70001});
    x.requires_grad_();
    const auto [out, mask] = mine::drop(x, 0.25, {}, make_generator(kCPU, 11));
    CHECK(mask.scalar_type() == kBool);
    CHECK_FALSE(mask.requires_grad());
    CHECK(same(mask, drawn(x, false, make_generator(kCPU, 11)).lt(0.75)));
    CHECK(mask.to(kDouble).mean().item<double>() == Approx(0.75).margin(0.005));
    CHECK(out.detach().allclose(x.detach() * mask.to(kFloat) / 0.75));
    out.sum().backward();
    CHECK(x.grad().allclose(mask.to(kFloat) / 0.75));
    if (first.defined()) CHECK(same(first, out.detach()));
    first = out.detach();
  }
}

TEST_CASE("threads that draw in turn give the numbers of one") {
  const Tensor x = ramp({(int64_t{1} << 19) + 17});
  const Tensor expected = drawn(x, false, make_generator(kCPU, 2)).lt(0.75);
  const Tensor normal = drawn(x, true, make_generator(kCPU, 2));
  for (const int threads : {2, 7}) {
    const Threads guard(threads);
    const Generator generator = make_generator(kCPU, 2);
    CHECK(same(std::get<1>(mine::drop(x, 0.25, {}, generator)), expected));
    // The generator is left where one thread leaves it.
    const Tensor next = ramp({20});
    const Generator other = make_generator(kCPU, 2);
    drawn(x, false, other);
    CHECK(same(std::get<1>(mine::drop(next, 0.25, {}, generator)),
               drawn(next, false, other).lt(0.75)));
    CHECK(mine::noisy(x, 1, make_generator(kCPU, 2)).allclose(x + normal, 1e-6, 1e-6));
  }
}

TEST_CASE("a number that may be absent has another in its place") {
  const Tensor x = ramp({100});
  CHECK(std::get<0>(mine::drop(x, 0.0, false)).equal(x));
  CHECK(std::get<1>(mine::drop(x, 0.9, false)).to(kInt).sum().item<int64_t>() == 100);
  CHECK(std::get<1>(mine::drop(x, 0.9, true)).to(kInt).sum().item<int64_t>() < 50);
  CHECK(std::get<1>(mine::drop(x, 0.9)).to(kInt).sum().item<int64_t>() < 50);
}

TEST_CASE("several draws follow one another, in the order in which they stand") {
  Tensor x = ramp({200, 500});
  const Tensor y = ramp({500});
  x.requires_grad_();
  const auto [out, factor] = mine::jitter(x, y, make_generator(kCPU, 5));
  const Generator generator = make_generator(kCPU, 5);
  const Tensor like = x.detach();
  const Tensor u = drawn(like, false, generator), z = drawn(like, true, generator),
               last = drawn(like, false, generator);
  CHECK(factor.allclose(u * 2 + z * 3, 1e-5, 1e-5));
  CHECK(out.detach().allclose(like * factor + last + y, 1e-4, 1e-4));
  CHECK_FALSE(factor.requires_grad());
  out.sum().backward();
  CHECK(x.grad().equal(factor));
}

TEST_CASE("draws follow the order of the result in memory, and dtypes") {
  const Tensor x = ramp({40, 50}).t();
  Tensor numbers = empty({40, 50}, TensorOptions(kFloat)).t();
  numbers.normal_(0, 1, make_generator(kCPU, 8));
  CHECK(mine::noisy(x, 1, make_generator(kCPU, 8)).allclose(x + numbers, 1e-6, 1e-6));
  // Halves are computed in float, integers in the default dtype.
  const Tensor half = ramp({64}).to(kHalf);
  const Tensor z = drawn(ramp({64}), true, make_generator(kCPU, 8));
  CHECK(same(mine::noisy(half, 1, make_generator(kCPU, 8)), (half.to(kFloat) + z).to(kHalf)));
  const Tensor whole = ramp({64}, kLong);
  CHECK(same(mine::noisy(whole, 1, make_generator(kCPU, 8)), whole.to(kFloat) + z));
  CHECK(mine::noisy(ramp({0})).numel() == 0);
}

TEST_CASE("in-place and out forms copy what is drawn; the generator's device is checked") {
  const Tensor x = ramp({300});
  const Tensor expected = mine::noisy(x, 1, make_generator(kCPU, 4));
  Tensor changed = x.clone(), out = empty({0}, TensorOptions(kFloat));
  mine::noisy_(changed, 1, make_generator(kCPU, 4));
  mine::noisy_out(out, x, 1, make_generator(kCPU, 4));
  CHECK(same(changed, expected));
  CHECK(same(out, expected));
  Tensor whole = ramp({5}, kLong);
  CHECK_THROWS_WITH(mine::noisy_(whole), Catch::Contains("can't be cast"));
  CHECK_THROWS_WITH(
      mine::noisy(x, 1, make_generator(Device(kCUDA, 0), 4)),
      Catch::Contains("[mine::noisy] expected a generator of cpu, got one of cuda:0"));
  // Two calls without a generator draw from the default one, which a seed sets back.
  manual_seed(17);
  const Tensor a = mine::noisy(x);
  CHECK_FALSE(a.equal(mine::noisy(x)));
  manual_seed(17);
  CHECK(a.equal(mine::noisy(x)));
}

TEST_CASE("results of two dtypes come from one kernel") {
  Tensor x = tensor_of(kValues, {6});
  x.requires_grad_();
  const auto [out, inside] = mine::clipped(x, 0.75);
  CHECK(values(inside) == std::vector<double>{0, 1, 1, 1, 0, 0});
  CHECK(inside.scalar_type() == kBool);
  CHECK(values(out.detach()) == std::vector<double>{-0.75, -0.5, 0, 0.25, 0.75, 0.75});
  out.sum().backward();
  CHECK(values(x.grad()) == values(inside));
  // A `float` is floating as a literal is, beside integers too.
  const Tensor whole = mine::scaled(tensor_of({-3, 0, 2}, {3}).to(kInt), 0.5);
  CHECK(whole.scalar_type() == kFloat);
  CHECK(values(whole) == std::vector<double>{-1.5, 0, 1});
  CHECK(mine::scaled_twice(whole.to(kInt)).scalar_type() == kFloat);
  CHECK(mine::scaled_by_whole(whole.to(kInt), 3).scalar_type() == kFloat);
}

TEST_CASE("the remainder of numbers has the divisor's sign", "[language]") {
  const Tensor one = tensor_of({1}, {1});
  const auto rest = [&](int64_t n, int64_t m) { return values(mine::turns(one, n, m))[0]; };
  CHECK(rest(7, 3) == 1);
  CHECK(rest(-7, 3) == 2);
  CHECK(rest(7, -3) == -2);
  CHECK(rest(-7, -3) == -1);
  CHECK(rest(-6, 3) == 0);
  CHECK(rest(std::numeric_limits<int64_t>::min(), -1) == 0);
  CHECK_THROWS_WITH(mine::turns(one, 7, 0), Catch::Contains("integer remainder of 7 by zero"));
}

TEST_CASE("foreach: one call for each place", "[language]") {
  const Tensor a = tensor_of({1, 2}, {2}).requires_grad_(), b = tensor_of({3, 4, 5}, {3});
  const Tensor by = tensor_of({10}, {1});
  const std::vector<Tensor> both = {a, b};
  const std::vector<Tensor> sums = mine::shifted_all(both, {2, 0.5}, by);
  REQUIRE(sums.size() == 2);
  CHECK(values(sums[0]) == std::vector<double>{21, 22});
  CHECK(values(sums[1]) == std::vector<double>{8, 9, 10});
  (sums[0] * sums[0]).sum().backward();
  CHECK(values(a.grad()) == std::vector<double>{42, 44});

  std::vector<Tensor> outs = {empty({0}, TensorOptions(kDouble)),
                              empty({3}, TensorOptions(kDouble))};
  mine::shifted_all_out(outs, {a.detach(), b}, {2, 0.5}, by);
  CHECK(values(outs[0]) == std::vector<double>{21, 22});
  CHECK(values(outs[1]) == std::vector<double>{8, 9, 10});

  const Tensor c = a.detach().clone();
  mine::shifted_all_({c, b}, {1, -1}, by);
  CHECK(values(c) == std::vector<double>{11, 12});
  CHECK(values(b) == std::vector<double>{-7, -6, -5});
  CHECK(c._version() == 1);
}

TEST_CASE("foreach: lists of different lengths change nothing", "[language]") {
  const Tensor a = tensor_of({1, 2}, {2}), b = tensor_of({3}, {1}), by = tensor_of({10}, {1});
  CHECK_THROWS_WITH(
      mine::shifted_all_({a, b}, {1}, by),
      Catch::Contains("[mine::shifted_all_] lists must have the same number of elements, "
                      "got 2 in self and 1 in factors"));
  CHECK_THROWS_WITH(
      mine::shifted_all({}, {}, by),
      Catch::Contains("[mine::shifted_all] lists must have at least one element, got none"));
  CHECK(values(a) == std::vector<double>{1, 2});
}

TEST_CASE("foreach: a list that a branch reads may be empty without it", "[language]") {
  const Tensor a = tensor_of({1, 2}, {2}), grad = tensor_of({2, 4}, {2});
  mine::momentum_steps_({a}, {grad}, {}, 0.5, 0);
  CHECK(values(a) == std::vector<double>{0, 0});
  CHECK_THROWS_WITH(
      mine::momentum_steps_({a}, {grad}, {}, 0.5),
      Catch::Contains("[mine::momentum_steps_] buffers must have as many elements as the "
                      "other lists here, 1, got none"));
  const Tensor buffer = tensor_of({1, 1}, {2});
  mine::momentum_steps_({a}, {grad}, {buffer}, 0.5, 0.5);
  CHECK(values(buffer) == std::vector<double>{2.5, 4.5});
  CHECK(values(a) == std::vector<double>{-1.25, -2.25});
}

TEST_CASE("a call chooses an expression by texts and by what is absent") {
  const std::vector<double> numbers = {-3, -0.5, 0, 0.25, 1, 40};
  const std::vector<double> factors = {1, -2, 3, 0.5, 2, 0.125};
  for (const bool scaled : {false, true}) {
    for (const char* kind : {"soft", "hard"}) {
      for (const std::optional<double> limit : {std::optional<double>(), std::optional(0.75)}) {
        CAPTURE(scaled, kind, limit.has_value());
        Tensor x = tensor_of(numbers, {6}), scale = tensor_of(factors, {6});
        x.requires_grad_();
        scale.requires_grad_();
        const auto given = scaled ? std::optional(scale) : std::nullopt;
        const bool hard = std::string_view(kind) == "hard";
        if (hard && !limit) {
          CHECK_THROWS_WITH(mine::bounded(x, given, limit, kind),
                            "[mine::bounded] limit must be given");
          continue;
        }
        std::vector<double> expected, of_x, of_scale;
        for (size_t i = 0; i < numbers.size(); ++i) {
          const double factor = scaled ? factors[i] : 1, y = numbers[i] * factor;
          const double cap = limit.value_or(1), t = std::tanh(y / cap);
          expected.push_back(hard ? std::clamp(y, -cap, cap) : cap * t);
          const double slope = hard ? std::abs(y) < cap : 1 - t * t;
          of_x.push_back(slope * factor);
          of_scale.push_back(slope * numbers[i]);
        }
        const Tensor result = mine::bounded(x, given, limit, kind);
        CHECK(result.allclose(tensor_of(expected, {6})));
        result.sum().backward();
        CHECK(x.grad().allclose(tensor_of(of_x, {6})));
        CHECK(scale.grad().defined() == scaled);
        if (scaled) CHECK(scale.grad().allclose(tensor_of(of_scale, {6})));
        Tensor out = empty({0}, TensorOptions(kDouble)), self = tensor_of(numbers, {6});
        CHECK(
            mine::bounded_out(out, self, given ? std::optional(scale.detach()) : given, limit, kind)
                .equal(result.detach()));
        mine::bounded_(self, given ? std::optional(scale.detach()) : given, limit, kind);
        CHECK(self.equal(result.detach()));
      }
    }
  }
  const Tensor x = tensor_of(numbers, {6});
  CHECK_THROWS_WITH(mine::bounded(x, {}, {}, "flat"),
                    "[mine::bounded] kind argument must be either 'soft' or 'hard', got 'flat'");
  CHECK_THROWS_WITH(mine::bounded(x, {}, -1), "[mine::bounded] limit must not be negative, got -1");
  CHECK_THROWS_WITH(mine::bounded(x, x.to(kLong), 1),
                    "[mine::bounded] scale must be floating, got Long");
  CHECK(mine::bounded_twice(x, 0.5).allclose(
      mine::bounded(mine::bounded(x, tensor_of({2}, {}), 0.5)).tanh()));
}

TEST_CASE("a composition chooses by a text") {
  const Tensor x = tensor_of({-3, 5}, {2});
  CHECK(values(mine::halved(x)) == std::vector<double>{-1.5, 2.5});
  CHECK(values(mine::halved(x, "down")) == std::vector<double>{-2, 2});
  CHECK(values(mine::halved(x, "up")) == std::vector<double>{-1, 3});
  CHECK_THROWS_WITH(mine::halved(x, "away"),
                    "[mine::halved] rounding argument must be either 'down' or 'up', got 'away'");
  CHECK_THROWS_WITH(mine::halved(tensor_of({1}, {})), "[mine::halved] needs a dimension");
}

TEST_CASE("the first of several that is there") {
  const Tensor x = tensor_of({1, -2}, {2}), a = tensor_of({3, 5}, {2}), b = tensor_of({7}, {1});
  for (const auto& first : {&mine::scaled_by_first, &mine::times_first}) {
    CHECK(values(first(x, {}, {})) == std::vector<double>{2, -4});
    CHECK(values(first(x, {}, b)) == std::vector<double>{7, -14});
    CHECK(values(first(x, a, {})) == std::vector<double>{3, -10});
    CHECK(values(first(x, a, b)) == std::vector<double>{3, -10});
  }
}

TEST_CASE("a composition calls functions that take no tensor") {
  CHECK(values(mine::counting(3)) == std::vector<double>{0, 1, 2, 0, 1, 2});
  CHECK(values(mine::counting(1, tensor_of({0.5}, {1}))) == std::vector<double>{0.5, 0.5});
  const std::vector<Tensor> lists = mine::counted(std::vector<Tensor>{tensor_of({1, 2}, {2})});
  CHECK(values(lists[0]) == std::vector<double>{2, 3});
}

TEST_CASE("a composition says what it refuses") {
  const Tensor x = tensor_of({1, 2, 3, 4}, {2, 2}), empty = tensor_of({}, {0});
  CHECK(values(mine::total(x)) == std::vector<double>{10});
  CHECK(values(mine::total(x, 0)) == std::vector<double>{4, 6});
  CHECK(values(mine::total(empty, 0)) == std::vector<double>{0});
  CHECK_THROWS_WITH(mine::total(empty),
                    Catch::Contains("[mine::total] of nothing there is no total, got sizes [0]"));
}

TEST_CASE("an element that a list has not is an error") {
  const Tensor x = tensor_of({1, 2, 3, 4}, {2, 2});
  CHECK(values(mine::first_and_last(x, {0, 1})) == std::vector<double>{10, 20});
  CHECK(values(mine::first_and_last(x, {-1})) == std::vector<double>{9, 21});
  CHECK_THROWS_WITH(
      mine::first_and_last(x, IntArrayRef{}),
      Catch::Contains("[mine::first_and_last] `dims` has 0 elements, got the index 0"));
}

TEST_CASE("conditions of floating values, and bits of Bool") {
  const Tensor x = tensor_of({0, 1, 1, 0}, {4});
  for (const ScalarType dtype : {kDouble, kFloat, kHalf, kLong, kInt, kByte, kBool}) {
    const Tensor above = mine::above(x.to(dtype));
    CHECK(above.scalar_type() == kBool);
    CHECK(values(above) == std::vector<double>{0, 1, 1, 0});
  }
  const Tensor y = tensor_of({1, 1, 0, 0}, {4}).to(kBool);
  const Tensor bits = mine::other_bits(x.to(kBool), y);
  CHECK(bits.scalar_type() == kBool);
  CHECK(values(bits) == std::vector<double>{1, 0, 0, 0});
  CHECK(values(mine::other_bits(x.to(kInt), y)) == std::vector<double>{1, 0, 0, 0});
}

TEST_CASE("what a condition chooses from numbers") {
  const Tensor x = tensor_of({0, 2, 3, 0, 5, 0}, {3, 2});
  for (const ScalarType dtype : {kDouble, kInt, kBool}) {
    for (const Tensor& self : {x.to(dtype), x.to(dtype).t(), x.to(dtype).narrow(1, 0, 1)}) {
      const Tensor sign = mine::sign_of(self), chosen = mine::either(self, 0.5);
      CHECK(sign.scalar_type() == kLong);
      CHECK(chosen.scalar_type() == kFloat);
      for (int64_t i = 0; i < self.numel(); ++i) {
        const bool set = values(self)[i] != 0;
        CHECK(values(sign)[i] == (set ? 1 : -1));
        CHECK(values(chosen)[i] == (set ? 0.5 : 0));
      }
    }
  }
}

TEST_CASE("integers beyond int32, sizes below zero, numbers that are not real") {
  CHECK(values(mine::far(tensor_of({5}, {1}).to(kLong))) == std::vector<double>{-3000000000.});
  // What is stored in fewer bits wraps around.
  CHECK(values(mine::far(tensor_of({5}, {1}).to(kInt))) == std::vector<double>{1294967296.});
  const Tensor x = tensor_of({1, 2}, {2});
  CHECK(values(mine::more_than(x, {x}, -1)) == std::vector<double>{2, 4});
  CHECK(values(mine::more_than(x, {x}, 1)) == std::vector<double>{-1, -2});
  Tensor written = tensor_of({1, 2}, {2});
  CHECK_THROWS_WITH(mine::add_scaled_(written, x, Scalar(std::complex<double>(0, 1))),
                    Catch::Contains("[mine::add_scaled_] by must be a real number, got (0,1)"));
  CHECK(values(written) == std::vector<double>{1, 2});
}

TEST_CASE("results that share memory are an error, and an alias calls what it names") {
  const Tensor x = tensor_of({1, 4, 2}, {3}), y = tensor_of({3, 1, 2}, {3});
  const Tensor memory = tensor_of({0, 0, 0, 0, 0, 0}, {6});
  Tensor low = memory.narrow(0, 0, 3), high = memory.narrow(0, 2, 3),
         apart = memory.narrow(0, 3, 3);
  CHECK_THROWS_WITH(
      mine::low_high_out(low, high, x, y),
      Catch::Contains("[mine::low_high] low and high are both written, so they must not share"));
  CHECK_THROWS(mine::low_high_out(low, low, x, y));
  mine::low_high_out(low, apart, x, y);
  CHECK(values(memory) == std::vector<double>{1, 1, 2, 3, 4, 2});
  CHECK(values(std::get<1>(mine::lower_upper(x, y))) == std::vector<double>{3, 4, 2});
}

TEST_CASE("compositions that are one kernel give what their operators give") {
  const Tensor x = tensor_of({1, -2, 3, 0.5, 4, -1}, {2, 3}),
               gate = tensor_of({1, 0, -1, 2, 3, 4}, {2, 3});
  const Tensor weight = tensor_of({1, 2, 3}, {3});
  const auto near = [](const Tensor& a, const Tensor& b) {
    return a.sub(b).abs().max().item().toDouble() < 1e-5;
  };
  CHECK(near(mine::gated_norm(x, weight, gate), rms_norm(x, {3}, weight, 1e-6) * silu(gate)));
  CHECK(near(mine::bias_gelu(x, weight), gelu(x + weight)));
}

TEST_CASE("a loop takes as many steps as each element asks for") {
  for (const ScalarType dtype : {kFloat, kDouble}) {
    const Tensor x = tensor_of({2, 3, -1, 0.5, 7, 2, 2, 10, 1.5}, {9}, dtype);
    const Tensor n = tensor_of({10, 2, 3, 0, 1, -4, 2.5, 3, 4}, {9}, dtype);
    CHECK(values(mine::power(x, n)) == std::vector<double>{1024, 9, -1, 1, 7, 1, 8, 1000, 5.0625});
  }
  // Integers are promoted where the loop is floating.
  const Tensor whole = tensor_of({3, 2}, {2}, kInt);
  CHECK(mine::power(whole, whole).scalar_type() == kFloat);
  CHECK(values(mine::power(whole, whole)) == std::vector<double>{27, 4});
  CHECK(values(mine::common_divisor(tensor_of({12, -18, 0, 7, 1071}, {5}, kLong),
                                    tensor_of({18, 12, 0, 0, 462}, {5}, kLong))) ==
        std::vector<double>{6, 6, 0, 7, 21});
  CHECK(values(mine::power(tensor_of({}, {0}), tensor_of({}, {0}))).empty());
}

TEST_CASE("a loop that reaches its bound keeps what it has") {
  const Tensor n = tensor_of({1e9, std::numeric_limits<double>::infinity(), 1000}, {3});
  CHECK(values(mine::power(tensor_of({1, 1, 1}, {3}), n)) == std::vector<double>{1, 1, 1});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(values(mine::power(tensor_of({2}, {1}), tensor_of({nan}, {1})))[0] == 1);
}

TEST_CASE("a loop is differentiated step by step, as often as asked") {
  Tensor x = tensor_of({2, 3, -1.5, 0.5}, {4});
  const Tensor n = tensor_of({3, 1, 2, 0}, {4});
  x.requires_grad_();
  const Tensor slope = grad_of(mine::power(x, n), x, true);
  CHECK(values(slope) == std::vector<double>{12, 1, -3, 0});
  CHECK(values(grad_of(slope, x, false)) == std::vector<double>{12, 0, 2, 0});

  Tensor y = tensor_of({0.25, 2, 9, 100}, {4});
  y.requires_grad_();
  const Tensor root = mine::root_of(y);
  const Tensor half = grad_of(root, y, true);
  const std::vector<double> r = values(root), h = values(half),
                            hh = values(grad_of(half, y, false));
  for (size_t i = 0; i < 4; ++i) {
    const double exact = std::sqrt(values(y)[i]);
    CHECK(r[i] == Approx(exact).epsilon(1e-14));
    CHECK(h[i] == Approx(0.5 / exact).epsilon(1e-7));
    CHECK(hh[i] == Approx(-0.25 / (exact * exact * exact)).epsilon(1e-3));
  }
}

TEST_CASE("a loop inside another's function, with numbers of the call") {
  Tensor x = tensor_of({2, 4, 9}, {3});
  x.requires_grad_();
  const Tensor y = mine::nested(x, 2);
  const auto f = [](double v) {
    double s = 2 * v * (1 + 1.0 / 2 + 1.0 / 3);
    for (int i = 0; i < 4 && s < 100; ++i) s *= std::sqrt(v);
    return s;
  };
  const std::vector<double> found = values(y), slope = values(grad_of(y, x, false));
  for (size_t i = 0; i < 3; ++i) {
    const double v = values(x)[i];
    CHECK(found[i] == Approx(f(v)).epsilon(1e-12));
    CHECK(slope[i] == Approx((f(v + 1e-6) - f(v - 1e-6)) / 2e-6).epsilon(1e-6));
  }
}
