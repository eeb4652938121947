// Checkpointed calls that keep the results of some operators, and the log of operators.
#include "autograd/checkpoint/selective_checkpoint.h"

#include <map>

#include "autograd/autocast.h"
#include "autograd/call_mode.h"
#include "autograd/forward/forward_ad.h"
#include "tenon/ops/dropout.h"
#include "tenon/ops/gelu.h"
#include "tenon/ops/layer_norm.h"
#include "tenon/ops/linear.h"
#include "tenon/ops/matmul.h"
#include "tenon/ops/max.h"
#include "tenon/ops/ones.h"
#include "tenon/ops/softmax.h"
#include "tenon/ops/split.h"
#include "tests/autograd/test_support.h"

using namespace tenon;
using namespace tenon::test;
using autograd::checkpoint;
using autograd::CheckpointError;
using autograd::CheckpointOptions;
using autograd::CheckpointPolicy;
using autograd::create_selective_checkpoint_contexts;
using autograd::SelectiveCall;
using autograd::variable_list;
using Call = std::function<Tensor(const Tensor&)>;

namespace {

/// How often each operator has been computed.
class Counter final : public autograd::CallMode {
 public:
  void call(const OperatorEntry& op, DispatchKeySet keys, Stack& stack) override {
    ++counts[op.qualified_name()];
    go_on(op, keys, stack);
  }
  std::map<std::string, int> counts;
};

CheckpointOptions keeping(const std::vector<std::string>& operators, bool allow_mutation = false) {
  return {.use_reentrant = false, .context_fn = [=] {
            return create_selective_checkpoint_contexts(operators, allow_mutation);
          }};
}
CheckpointOptions judged_by(const autograd::SelectivePolicy& policy) {
  return {.use_reentrant = false,
          .context_fn = [=] { return create_selective_checkpoint_contexts(policy); }};
}

/// The gradient at x, and how often operators were computed in backward.
std::pair<std::vector<double>, std::map<std::string, int>>
gradient(const Call& f, const Tensor& x, const CheckpointOptions* options) {
  manual_seed(7);
  const Tensor leaf = leaf_like(x);
  const Tensor y = options ? checkpoint(f, leaf * 1, *options) : f(leaf * 1);
  Counter counter;
  const autograd::CallModeGuard counted(counter);
  (y * y).sum().backward();
  return {values(leaf.grad()), counter.counts};
}

const Tensor& weight() {
  static const Tensor w = sample({3, 3});
  return w;
}

}  // namespace

TEST_CASE("A selective policy keeps results and changes no gradient", "[checkpoint][selective]") {
  const std::vector<Call> functions = {
      [](const Tensor& x) { return linear(gelu(linear(x, weight())), weight()); },
      [](const Tensor& x) { return softmax(x.matmul(weight()), 1) * x.exp().tanh(); },
      [](const Tensor& x) { return std::get<0>(max(x * x, 1)).unsqueeze(1) * x; },
      [](const Tensor& x) { return layer_norm(x.exp(), {3}).sigmoid(); },
      [](const Tensor& x) { return dropout(dropout(x, 0.5, true).exp(), 0.5, true).sin(); },
      [](const Tensor& x) { return (x.split(1, 0)[0].exp() + x).sin().unbind(1)[0].exp(); },
  };
  const Tensor x = sample({2, 3}).detach();
  const auto everything =
      judged_by([](const SelectiveCall&) { return CheckpointPolicy::MUST_SAVE; });
  const auto nothing =
      judged_by([](const SelectiveCall&) { return CheckpointPolicy::PREFER_RECOMPUTE; });
  int number = 0;
  const auto every_other = judged_by([&number](const SelectiveCall&) {
    return number++ % 2 ? CheckpointPolicy::PREFER_CPU_OFFLOAD : CheckpointPolicy::MUST_RECOMPUTE;
  });
  for (size_t i = 0; i < functions.size(); ++i) {
    INFO("function " << i);
    const auto expected = gradient(functions[i], x, nullptr).first;
    for (const auto* options : {&everything, &nothing, &every_other})
      CHECK(gradient(functions[i], x, options).first == expected);
  }
}

TEST_CASE("What is kept is not computed again", "[checkpoint][selective]") {
  const Call f = [](const Tensor& x) { return linear(gelu(linear(x, weight())), weight()).exp(); };
  const Tensor x = sample({2, 3}).detach();
  const auto plain = keeping({}), kept = keeping({"aten::linear"});
  CHECK(gradient(f, x, &plain).second["aten::linear"] == 2);
  auto counts = gradient(f, x, &kept).second;
  CHECK(counts["aten::linear"] == 0);
  CHECK(counts["aten::_gelu_none"] == 1);  // what gelu is made of
  // An operator that is made of others shows as these.
  const auto product = keeping({"aten::mm"});
  const Call g = [](const Tensor& t) { return t.matmul(weight()).exp(); };
  const int all = gradient(g, x, &plain).second["aten::mm"];
  CHECK(gradient(g, x, &product).second["aten::mm"] == all - 1);
}

TEST_CASE("A policy sees operators with arguments and results", "[checkpoint][selective]") {
  std::vector<std::string> seen;
  const auto options = judged_by([&](const SelectiveCall& call) {
    seen.push_back(call.op.qualified_name());
    if (seen.size() == 1) {
      CHECK(call.arguments[0].to_tensor().sizes() == IntArrayRef({2}));
      CHECK(call.results[0].to_tensor().sizes() == IntArrayRef({2}));
    }
    return CheckpointPolicy::PREFER_RECOMPUTE;
  });
  const Tensor x = leaf({1, 2});
  const Tensor y = checkpoint(
      [](const Tensor& t) {
        const Tensor z = t.exp();
        z.view({1, 2}).mul_(2);  // neither views nor changes in place
        return z.sin();
      },
      x, options);
  CHECK(seen == std::vector<std::string>{"aten::exp", "aten::sin"});
  y.sum().backward();
  CHECK(seen.size() == 2);  // backward does not ask again
}

TEST_CASE("What is kept is freed when it has been used", "[checkpoint][selective]") {
  const Tensor x = leaf({1, 2});
  IntrusivePtr<StorageImpl> storage;
  const Tensor y = checkpoint(
                       [&](const Tensor& t) {
                         const Tensor z = t.exp();
                         if (!storage) storage = z.unsafe_impl()->storage;
                         return z.sin();
                       },
                       x, keeping({"exp"}))
                       .sum();
  CHECK(storage->refs.count() == 2);
  y.backward({}, true);
  CHECK(storage->refs.count() == 1);
  CHECK_THROWS_WITH(y.backward(), Contains("Trying to backward an extra time"));
}

TEST_CASE("Selective policies within others, and with autocast", "[checkpoint][selective]") {
  const Tensor x = sample({2, 3}).detach();
  const auto kept = keeping({"aten::exp"});
  const Call inner = [](const Tensor& t) { return t.exp().sin(); };
  const Call outer = [&](const Tensor& t) { return checkpoint(inner, t.exp(), kept).tanh(); };
  CHECK(gradient(outer, x, &kept).first ==
        gradient([&](const Tensor& t) { return inner(t.exp()).tanh(); }, x, nullptr).first);
  const Tensor w = weight().to(kFloat).detach();
  const Call cast = [&](const Tensor& t) {
    const autocast::AutocastGuard casts(kCPU, kBFloat16);
    return linear(gelu(linear(t, w)), w).to(kFloat);
  };
  const auto linears = keeping({"aten::linear"});
  const Tensor single = x.to(kFloat);
  CHECK(gradient(cast, single, &linears).first == gradient(cast, single, nullptr).first);
}

TEST_CASE("Errors of selective policies", "[checkpoint][selective]") {
  const Tensor x = leaf({1, 2});
  const auto message = [&](const Call& f, const CheckpointOptions& options) {
    const Tensor y = checkpoint(f, x * 1, options).sum();
    return message_of([&] { y.backward(); });
  };
  const auto kept = keeping({"aten::exp", "aten::sin"});
  const Call changes = [](const Tensor& t) {
    const Tensor z = t.exp();
    const Tensor s = z.tanh();
    z.mul_(2);
    return s.sin() * s;
  };
  CHECK(message(changes, kept) ==
        "Tensor cached during selective activation checkpoint has been mutated: a result of "
        "aten::exp is at version 1, expected 0");
  CHECK(message(changes, keeping({"aten::exp"}, true)).empty());
  int calls = 0;
  CHECK_THAT(
      message([&](const Tensor& t) { return calls++ ? t.exp().cos() : t.exp().sin(); }, kept),
      Contains("[checkpoint] aten::cos encountered during backward as operator 2 of the "
               "region, where the forward pass called aten::sin."));
  CHECK_THAT(message(
                 [](const Tensor& t) {
                   const Tensor z = t.detach().requires_grad_();
                   return t * autograd::grad({z.sum()}, {z})[0];
                 },
                 keeping({"aten::sum"})),
             Contains("cannot go through an operator whose result"));
  CHECK_THROWS_AS(keeping({"aten::exq"}).context_fn(), ValueError);
  CHECK_THROWS_WITH(keeping({"aten::gelu"}).context_fn(),
                    Contains("aten::gelu has no derivative of its own: name the operators"));
  CHECK_THROWS_AS(create_selective_checkpoint_contexts(autograd::SelectivePolicy()), TypeError);
}

TEST_CASE("A checkpointed call with a log names the operator that differs", "[checkpoint]") {
  const Tensor x = leaf({1, 2});
  int calls = 0;
  const Call differs = [&](const Tensor& t) {
    return calls++ == 0 ? t.exp().sin() : t.exp().sum().sin();
  };
  const auto message = [&](CheckpointOptions options) {
    calls = 0;
    const Tensor y = checkpoint(differs, x, options).sum();
    return message_of([&] { y.backward(); });
  };
  const std::string expected = "The first operator that differs is number 2:\n"
                               "original forward: aten::sin(Float[2]) -> Float[2]\n"
                               "recomputation: aten::sum(Float[2]) -> Float[]";
  const CheckpointOptions plain{.use_reentrant = false},
      debug{.use_reentrant = false, .debug = true};
  CHECK_THAT(message(debug), Contains("different metadata") && Contains(expected));
  CHECK_THAT(message(plain), !Contains("operator"));
  {
    const autograd::CheckpointDebugGuard guard(true);
    CHECK_THAT(message(plain), Contains(expected));
    const autograd::CheckpointDebugGuard off(false);
    CHECK_THAT(message(debug), !Contains("operator"));
  }
  // Too many: the operator that saves one more has no result yet.
  calls = 0;
  const Tensor more =
      checkpoint([&](const Tensor& t) { return calls++ == 0 ? t.exp() : t.exp().exp(); }, x,
                 {.use_reentrant = false, .early_stop = false, .debug = true});
  CHECK_THAT(message_of([&] { more.sum().backward(); }),
             Contains("The first operator that differs is number 2:\noriginal forward: none\n"
                      "recomputation: aten::exp(Float[2])"));
  CheckpointOptions both = keeping({});
  both.debug = true;
  CHECK_THROWS_WITH(checkpoint(differs, x, both),
                    "debug=True is incompatible with non-default context_fn");
  CHECK_THROWS_AS(checkpoint(differs, x, {.use_reentrant = true, .debug = true}), ValueError);
}

TEST_CASE("Who watches a backward pass sees what runs without a watch", "[checkpoint]") {
  const Tensor x = leaf({0.5, -1});
  const Tensor y = gelu(x).sum();
  Counter counter;
  const autograd::CallModeGuard counted(counter);
  y.backward();
  CHECK(counter.counts["aten::erf"] == 0);  // one kernel computes the gradient
}

TEST_CASE("Modes see calls in turn, forward mode among them", "[checkpoint][selective]") {
  Counter outer, inner;
  const Tensor x = leaf({1, 2}, kDouble);
  const autograd::CallModeGuard first(outer);
  {
    const autograd::forward_ad::DualLevel level;
    const autograd::CallModeGuard second(inner);
    const Tensor dual = autograd::forward_ad::make_dual(x, ones({2}, kDouble));
    CHECK(values(autograd::forward_ad::tangent_of(dual.sin())) == values(x.cos()));
    x.exp();
  }
  CHECK(inner.counts["aten::sin"] == 1);
  CHECK(inner.counts["aten::exp"] == 1);
  CHECK(outer.counts["aten::exp"] == 1);  // what has no tangent goes on
  x.exp();
  CHECK(inner.counts["aten::exp"] == 1);
  CHECK(outer.counts["aten::exp"] == 2);
}
