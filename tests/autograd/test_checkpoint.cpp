#include "autograd/checkpoint/checkpoint.h"
#include "tenon/ops/ones.h"
#include "tenon/ops/rand.h"

#include "autograd/engine/engine.h"
#include "autograd/saved/saved_tensor_hooks.h"
#include "tests/autograd/test_support.h"
#include "tests/stderr_of.h"

using namespace tenon;
using namespace tenon::test;
using autograd::checkpoint;
using autograd::CheckpointError;
using autograd::CheckpointOptions;
using autograd::variable_list;
using Call = std::function<Tensor(const Tensor&)>;

namespace {

const CheckpointOptions kReentrant{.use_reentrant = true};
const CheckpointOptions kPlain{.use_reentrant = false};

/// exp three times, counting calls of its parts.
struct Steps {
  int started = 0;
  int finished = 0;

  Tensor operator()(const Tensor& x) {
    ++started;
    const Tensor y = (x * 0.5).exp().exp();
    ++finished;
    return y;
  }
};

double reference(double x) {
  const double e = std::exp(x * 0.5);
  return 0.5 * e * std::exp(e);
}

}  // namespace

TEST_CASE("A checkpointed call has the gradients of a plain one", "[checkpoint]") {
  for (const bool reentrant : {false, true}) {
    const Tensor x = leaf({0.5, -1}, kDouble);
    int calls = 0;
    const Tensor y = checkpoint(
        [&](const Tensor& in) {
          ++calls;
          return (in * 0.5).exp().exp();
        },
        x * 1, CheckpointOptions{.use_reentrant = reentrant});
    CHECK(calls == 1);
    CHECK(y.requires_grad());
    y.sum().backward();
    CHECK(calls == 2);
    CHECK(values(x.grad())[0] == Approx(reference(0.5)));
    CHECK(values(x.grad())[1] == Approx(reference(-1)));
  }
}

TEST_CASE("Leaves that the function uses get gradients, several inputs and outputs pass",
          "[checkpoint]") {
  for (const bool reentrant : {false, true}) {
    const Tensor x = leaf({2, 3}), w = leaf({5, 7});
    const variable_list out =
        checkpoint(autograd::Checkpointed([&](const variable_list& in) {
                     return variable_list{in[0] * w, in[1] * in[0], in[1]};
                   }),
                   variable_list{x, ones({2})}, CheckpointOptions{.use_reentrant = reentrant});
    (out[0] + out[1]).sum().backward();
    CHECK(values(x.grad()) == std::vector<double>{6, 8});
    CHECK(values(w.grad()) == std::vector<double>{2, 3});
    CHECK(out[2].requires_grad() == reentrant);  // as a result of the one node
  }
}

TEST_CASE("Nothing of a checkpointed call is kept", "[checkpoint]") {
  const Tensor x = leaf({1, 2});
  IntrusivePtr<StorageImpl> inner;
  const Tensor y = checkpoint(
      [&](const Tensor& in) {
        const Tensor e = in.exp();
        if (!inner) inner = e.unsafe_impl()->storage;
        return e.exp();
      },
      x, kPlain);
  CHECK(inner->refs.count() == 1);
  y.sum().backward();
}

TEST_CASE("Random numbers are drawn again, and those after are not touched", "[checkpoint]") {
  for (const bool reentrant : {false, true}) {
    for (const bool preserve : {true, false}) {
      manual_seed(3);
      const Tensor x = ones({100}).requires_grad_();
      std::vector<Tensor> drawn;
      const Tensor y = checkpoint(
          [&](const Tensor& in) {
            drawn.push_back(rand({100}));
            return in * drawn.back();
          },
          x, CheckpointOptions{.use_reentrant = reentrant, .preserve_rng_state = preserve});
      const Tensor between = rand({5});
      y.sum().backward();
      const Tensor after = rand({5});
      REQUIRE(drawn.size() == 2);
      CHECK((values(drawn[0]) == values(drawn[1])) == preserve);
      if (!preserve) continue;
      CHECK(values(x.grad()) == values(drawn[0]));
      manual_seed(3);
      CHECK(values(rand({100})) == values(drawn[0]));
      CHECK(values(rand({5})) == values(between));
      CHECK(values(rand({5})) == values(after));
    }
  }
}

TEST_CASE("The second call ends when all that is needed is there", "[checkpoint]") {
  const auto run = [](const CheckpointOptions& options, bool scope) {
    Steps steps;
    const Tensor x = leaf({1}, kDouble);
    Tensor y;
    {
      const autograd::CheckpointEarlyStopGuard guard(scope);
      y = checkpoint([&](const Tensor& in) { return steps(in) * 2 + 1; }, x, options);
    }
    y.backward();
    CHECK(steps.started == 2);
    CHECK(values(x.grad())[0] == Approx(2 * reference(1)));
    return steps.finished;
  };
  // The last thing to be saved is the second exp's result, before `finished`.
  CHECK(run(kPlain, true) == 1);
  CHECK(run(kPlain, false) == 2);
  CHECK(run({.use_reentrant = false, .early_stop = false}, true) == 2);
}

TEST_CASE("Each pass computes again, and frees what it has used", "[checkpoint]") {
  Steps steps;
  const Tensor x = leaf({1}, kDouble);
  const Tensor y = checkpoint(std::ref(steps), x, kPlain);
  y.backward({}, true);
  y.backward();
  CHECK(steps.started == 3);
  CHECK(values(x.grad())[0] == Approx(2 * reference(1)));
  CHECK_THROWS_WITH(y.backward(), Contains("backward through the graph a second time"));
}

TEST_CASE("Checkpointed calls nest", "[checkpoint]") {
  Steps inner, outer;
  const Tensor x = leaf({0.25}, kDouble);
  const Call call = [&](const Tensor& in) {
    ++outer.started;
    const Tensor a = checkpoint(std::ref(inner), in * 1, kPlain);
    return checkpoint([](const Tensor& t) { return t.exp() * t; }, a * 0.1, kPlain).exp();
  };
  const Tensor plain = leaf({0.25}, kDouble);
  const Tensor a = (plain * 0.5).exp().exp() * 0.1;
  (a.exp() * a).exp().backward();
  checkpoint(call, x, kPlain).backward();
  CHECK(values(x.grad())[0] == Approx(values(plain.grad())[0]));
  CHECK(outer.started == 2);
  CHECK(inner.started >= 3);
  // And reentrant ones, in either order.
  for (const auto& [first, second] : {std::pair{kReentrant, kPlain}, {kPlain, kReentrant}}) {
    x.mutable_grad().reset();
    const CheckpointOptions within = second;
    checkpoint(
        [within](const Tensor& in) {
          return checkpoint([](const Tensor& t) { return t.exp().exp(); }, in * 0.5, within);
        },
        x, first)
        .backward();
    CHECK(values(x.grad())[0] == Approx(reference(0.25)));
  }
}

TEST_CASE("Backward within a checkpointed call", "[checkpoint]") {
  for (const bool early_stop : {true, false}) {
    for (const bool keep : {true, false}) {
      const Tensor x = leaf({0.5}, kDouble);
      const Tensor y = checkpoint(
          [keep](const Tensor& in) {
            const Tensor z = in.sin().cos();
            const Tensor g = autograd::grad({z}, {in}, {}, keep)[0];
            return in.cos() * g + (keep ? z : in);
          },
          x * 1, CheckpointOptions{.use_reentrant = false, .early_stop = early_stop});
      y.backward();
      const double g = -std::sin(std::sin(0.5)) * std::cos(0.5);
      CHECK(values(x.grad())[0] == Approx(-std::sin(0.5) * g + (keep ? g : 1)));
    }
  }
}

TEST_CASE("A checkpointed call can be differentiated twice", "[checkpoint]") {
  const Tensor x = leaf({0.5}, kDouble);
  const Tensor y = checkpoint([](const Tensor& in) { return in.exp() * in; }, x, kPlain);
  const Tensor g = autograd::grad({y}, {x}, {}, std::nullopt, true)[0];
  CHECK(values(g)[0] == Approx(1.5 * std::exp(0.5)));
  CHECK(values(autograd::grad({g}, {x})[0])[0] == Approx(2.5 * std::exp(0.5)));
}

TEST_CASE("Contexts surround the first call and the later ones", "[checkpoint]") {
  std::string order;
  const auto context = [&order](const char* name) {
    return autograd::CheckpointContext([&order, name]() -> std::shared_ptr<void> {
      order += name;
      return std::shared_ptr<void>(nullptr, [&order](void*) { order += ")"; });
    });
  };
  CheckpointOptions options = kPlain;
  options.context_fn = [&] { return std::pair(context("forward("), context("again(")); };
  const Tensor x = leaf({1});
  const Call call = [&](const Tensor& in) {
    order += "f";
    return in.exp();
  };
  const Tensor y = checkpoint(call, x, options);
  CHECK(order == "forward(f)");
  y.backward();
  CHECK(order == "forward(f)again(f)");
  options.use_reentrant = true;
  CHECK_THROWS_WITH(checkpoint(call, x, options),
                    "Passing `context_fn` or `debug` is only supported when use_reentrant=False.");
}

TEST_CASE("Without recording a checkpointed call is a plain one", "[checkpoint]") {
  const NoGradGuard guard;
  Steps steps;
  const Tensor y = checkpoint(std::ref(steps), leaf({1}), kPlain);
  CHECK_FALSE(y.requires_grad());
  CHECK(steps.finished == 1);
}

TEST_CASE("A second call that differs is an error", "[checkpoint]") {
  const Tensor x = leaf({1, 2});
  int calls = 0;
  const auto message = [&](const Call& call, CheckpointOptions options = kPlain) {
    calls = 0;
    const Tensor y = checkpoint(call, x, options).sum();
    CHECK_THROWS_AS(y.backward({}, true), CheckpointError);
    calls = 1;
    return message_of([&] { y.backward({}, true); });
  };
  CHECK(message([&](const Tensor& in) { return ++calls == 1 ? in.exp().exp() : in.exp(); }) ==
        "torch.utils.checkpoint: A different number of tensors was saved during the original "
        "forward and recomputation.\nNumber of tensors saved during forward: 2\nNumber of tensors "
        "saved during recomputation: 1. The first that is missing is Float[2] on cpu");
  CHECK_THAT(message([&](const Tensor& in) { return ++calls == 1 ? in.exp() : in.exp().exp(); },
                     {.use_reentrant = false, .early_stop = false}),
             Contains("trying to save more tensors during recomputation than during the original "
                      "forward pass.\nNumber of tensors saved during forward: 1. The first that is "
                      "too many is Float[2] on cpu"));
  const Call other_sizes = [&](const Tensor& in) {
    return (++calls == 1 ? in : in.repeat({2})).exp().sum();
  };
  CHECK(message(other_sizes) ==
        "torch.utils.checkpoint: Recomputed values for the following tensors have different "
        "metadata than during the forward pass.\ntensor at position 0:\nsaved metadata: Float[2] "
        "on cpu\nrecomputed metadata: Float[4] on cpu\n");
  const Call other_values = [&](const Tensor& in) { return (in * ++calls).exp(); };
  calls = 0;
  CHECK_NOTHROW(checkpoint(other_values, x, kPlain).sum().backward());
  calls = 0;
  const Call other_dtype = [&](const Tensor& in) {
    return (++calls == 1 ? in : in.to(kDouble)).exp();
  };
  CheckpointOptions unchecked = kPlain;
  unchecked.determinism_check = false;
  CHECK_NOTHROW(checkpoint(other_dtype, x, unchecked).sum().backward());
}

TEST_CASE("A value that was computed again can be taken once", "[checkpoint]") {
  struct Twice : autograd::Function<Twice> {
    static Tensor forward(autograd::AutogradContext* ctx, const Tensor& x) {
      ctx->save_for_backward({x});
      return x * x;
    }
    static variable_list backward(autograd::AutogradContext* ctx, variable_list grads) {
      ctx->get_saved_variables();
      return {grads[0] * ctx->get_saved_variables()[0] * 2};
    }
  };
  const Tensor x = leaf({1});
  const Tensor y = checkpoint([](const Tensor& in) { return Twice::apply(in); }, x, kPlain);
  CHECK_THROWS_WITH(y.backward(), Contains("Unpack is being triggered for a tensor that was "
                                           "already unpacked once."));
}

TEST_CASE("What the reentrant form cannot do is an error", "[checkpoint]") {
  const Tensor x = leaf({1, 2});
  const Call twice = [](const Tensor& in) { return in * 2; };
  const char* const kPruned = "When use_reentrant=True, checkpoint is incompatible with .grad()";
  CHECK_THROWS_WITH(autograd::grad({checkpoint(twice, x, kReentrant).sum()}, {x}),
                    Contains(kPruned));
  CHECK_THROWS_WITH(checkpoint(twice, x, kReentrant).sum().backward({}, false, false, Tensors{x}),
                    Contains(kPruned));
  CHECK_THROWS_WITH(checkpoint(twice, x, kReentrant).sum().backward({}, true, true),
                    Contains("incompatible with create_graph=True"));
  CHECK_THROWS_WITH(
      checkpoint([](const Tensor& in) { return in.detach() * 2; }, x, kReentrant).sum().backward(),
      "none of output has requires_grad=True, this checkpoint() is not necessary");
  CHECK(stderr_of([&] { checkpoint(twice, ones({2}), kReentrant); }) ==
        "tenon: warning: [checkpoint] None of the inputs have requires_grad=True. Gradients will "
        "be None\n");
  CHECK(stderr_of([&] { checkpoint(twice, ones({2}), kPlain); }).empty());
  CHECK_THAT(stderr_of([&] { checkpoint(twice, x); }),
             Contains("the use_reentrant parameter should be passed explicitly."));
  CHECK(autograd::current_pass_id() == -1);
}

TEST_CASE("An exception of the function passes, and the call can be made again", "[checkpoint]") {
  const Tensor x = leaf({1});
  bool fails = false;
  const Tensor y = checkpoint(
      [&](const Tensor& in) {
        const Tensor e = in.exp();
        if (fails) throw std::out_of_range("mine");
        return e.exp();
      },
      x, kPlain);
  fails = true;
  manual_seed(1);
  const Tensor expected = rand({2});
  manual_seed(1);
  CHECK_THROWS_AS(y.backward({}, true), std::out_of_range);
  CHECK(values(rand({2})) == values(expected));
  CHECK(autograd::saved_tensor_hooks == nullptr);
  fails = false;
  CHECK_NOTHROW(y.backward());
}

TEST_CASE("checkpoint_sequential() checkpoints all segments but the last", "[checkpoint]") {
  std::vector<int> calls(5);
  std::vector<Call> functions;
  for (size_t i = 0; i < calls.size(); ++i) {
    functions.push_back([&calls, i](const Tensor& in) {
      ++calls[i];
      return in.sin() * 2;
    });
  }
  const Tensor x = leaf({0.5}, kDouble), plain = leaf({0.5}, kDouble);
  const Tensor y = autograd::checkpoint_sequential(functions, 2, x,
                                                   {.use_reentrant = false, .early_stop = false});
  y.backward();
  CHECK(calls == std::vector<int>{2, 2, 1, 1, 1});
  Tensor expected = plain;
  for (int i = 0; i < 5; ++i) expected = expected.sin() * 2;
  expected.backward();
  CHECK(values(x.grad())[0] == Approx(values(plain.grad())[0]));
  CHECK_THROWS_WITH(autograd::checkpoint_sequential(functions, 6, x, kPlain),
                    "[checkpoint_sequential] expected between 1 segment and one for each of 5 "
                    "functions, got 6");
  CHECK_THROWS_AS(autograd::checkpoint_sequential(functions, 0, x, kPlain), ValueError);
}
