#include <thread>

#include "autograd/engine/engine.h"
#include "autograd/engine/node.h"
#include "tenon/ops/ones.h"
#include "tests/autograd/test_support.h"

using namespace tenon;
using namespace tenon::test;

TEST_CASE("backward() needs a scalar or a gradient that fits", "[engine]") {
  const Tensor x = leaf({1, 2, 3});
  CHECK_THROWS_WITH((x * 2).backward(), "grad can be implicitly created only for scalar outputs");
  CHECK_THROWS_WITH(
      (x * Scalar(std::complex<double>(0, 1))).sum().backward(),
      "grad can be implicitly created only for real scalar outputs but got torch.complex64");
  CHECK_THROWS_WITH(ones({}).backward(),
                    "element 0 of tensors does not require grad and does not have a grad_fn");
  CHECK_THROWS_WITH(
      autograd::grad({x * 2}, {x}, {ones({2})}),
      "Mismatch in shape: grad_output[0] has a shape of torch.Size([2]) and output[0] has a shape "
      "of torch.Size([3]).");
  CHECK_THROWS_WITH(autograd::grad({x.sum(), x.sum()}, {x}, {ones({})}),
                    "got 2 tensors and 1 gradients");
  CHECK_THROWS_WITH(
      autograd::grad({(x * 2).sum()}, {leaf({1})}),
      "The differentiated Tensor at index 0 appears to not have been used in the graph. Set "
      "allow_unused=True if this is the desired behavior.");
  CHECK_THROWS_WITH(autograd::grad({(x * 2).sum()}, {ones({1})}),
                    "One of the differentiated Tensors does not require grad");
  CHECK_THROWS_AS(autograd::grad({x.sum()}, Tensors()), ValueError);
  CHECK_THROWS_WITH(x.sum().backward({}, std::nullopt, false, TensorList()),
                    Contains("cannot be empty"));
  CHECK_FALSE(x.grad().defined());
}

TEST_CASE("grad() leaves grad() alone", "[engine]") {
  const Tensor x = leaf({1, 2}), y = leaf({3, 4}), unused = leaf({5});
  const Tensor out = (x * y).sum();
  const Tensors g = autograd::grad({out}, {y, x, unused}, {}, true, false, true);
  CHECK(values(g[0]) == std::vector<double>{1, 2});
  CHECK(values(g[1]) == std::vector<double>{3, 4});
  CHECK_FALSE(g[2].defined());
  CHECK_FALSE(x.grad().defined());
  CHECK(values(autograd::grad({out}, {out})[0]) == std::vector<double>{1});
}

TEST_CASE("Only nodes between outputs and inputs run", "[engine]") {
  const Tensor x = leaf({1}), w = leaf({2});
  const Tensor hidden = w.exp();
  int runs = 0;
  hidden.grad_fn()->add_pre_hook([&](const autograd::variable_list& g) {
    ++runs;
    return g;
  });
  const Tensor y = x * hidden;
  const Tensor z = y.exp();
  autograd::grad({z}, {y}, {}, true);
  autograd::grad({z}, {x}, {}, true);
  autograd::grad({z}, {hidden}, {}, true);
  CHECK(runs == 0);
  autograd::grad({z}, {hidden, w}, {}, true);
  CHECK(runs == 1);
}

TEST_CASE("backward(inputs) reaches the chosen tensors only", "[engine]") {
  const Tensor x = leaf({1, 2}), w = leaf({3, 4});
  const Tensor y = x * w;
  const Tensor out = (y * y).sum();
  const Tensors only_w = {w};
  out.backward({}, true, false, TensorList(only_w));
  CHECK(values(w.grad()) == std::vector<double>{6, 32});
  CHECK_FALSE(x.grad().defined());
  const Tensors not_a_leaf = {y};
  out.backward({}, true, false, TensorList(not_a_leaf));
  CHECK(values(y.grad()) == std::vector<double>{6, 16});
  CHECK_FALSE(x.grad().defined());
  const Tensors both = {y, x};
  out.backward({}, true, false, TensorList(both));
  CHECK(values(y.grad()) == std::vector<double>{12, 32});
  CHECK(values(x.grad()) == std::vector<double>{18, 64});
}

TEST_CASE("Outputs may repeat or depend on each other", "[engine]") {
  const Tensor x = leaf({2});
  const Tensor y = x * 3;
  const Tensor z = y * y;
  CHECK(values(autograd::grad({y, y}, {x}, {}, true)[0]) == std::vector<double>{6});
  CHECK(values(autograd::grad({y, z}, {x}, {}, true)[0]) == std::vector<double>{3 + 36});
  CHECK(values(autograd::grad({z, y}, {x, y}, {}, true)[1]) == std::vector<double>{13});
  autograd::backward({z, y});
  CHECK(values(x.grad()) == std::vector<double>{39});
}

TEST_CASE("A diamond runs each node once, with all its gradients", "[engine]") {
  const Tensor x = leaf({1});
  Tensor y = x;
  for (int i = 0; i < 40; ++i) y = y * 0.5 + y * 0.5;  // 2^40 paths
  y.backward();
  CHECK(values(x.grad())[0] == Approx(1));
}

TEST_CASE("Gradients of gradients", "[engine]") {
  const Tensor x = leaf({2}, kDouble);
  Tensor d = x * x * x * x;
  for (const double wanted : {32.0, 48.0, 48.0, 24.0}) {
    d = autograd::grad({d}, {x}, {}, std::nullopt, true)[0];
    CHECK(values(d)[0] == Approx(wanted));
  }
  const Tensor once = autograd::grad({(x * x).sum()}, {x})[0];
  CHECK_FALSE(once.requires_grad());
}

TEST_CASE("A backward pass within a backward pass", "[engine]") {
  const Tensor x = leaf({3});
  const Tensor y = x * 2;
  SECTION("over another graph") {
    y.register_hook([&](const Tensor& g) {
      const Tensor inner = leaf({5});
      const AutoGradMode recording(true);
      (inner * inner).backward();
      return g * inner.grad();
    });
    y.backward();
    CHECK(values(x.grad()) == std::vector<double>{20});
  }
  SECTION("over the same graph") {
    const Tensor z = y * y;
    bool nested = false;
    y.register_hook([&](const Tensor&) {
      if (!std::exchange(nested, true)) z.backward({}, true);
      return Tensor();
    });
    z.backward({}, true);
    CHECK(values(x.grad()) == std::vector<double>{48});
  }
  SECTION("deeply") {
    int depth = 0;
    std::function<void()> descend = [&] {
      const Tensor inner = leaf({1});
      const AutoGradMode recording(true);
      const Tensor out = inner * 2;
      out.register_hook([&](const Tensor&) {
        if (++depth < 2000) descend();
        return Tensor();
      });
      out.backward();
    };
    descend();
    CHECK(depth == 2000);
  }
  SECTION("that fails") {
    y.register_hook([&](const Tensor&) -> Tensor {
      const Tensor inner = leaf({1});
      const AutoGradMode recording(true);
      (inner * 2).sum().backward(ones({7}));
      return {};
    });
    CHECK_THROWS_WITH(y.backward(), Contains("Mismatch in shape"));
    CHECK_FALSE(x.grad().defined());
    CHECK(GradMode::is_enabled());
  }
}

TEST_CASE("Threads may run backward at once", "[engine]") {
  constexpr int kThreads = 4, kRuns = 200;
  SECTION("over graphs with a common leaf") {
    const Tensor x = leaf({1, 2});
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < kRuns; ++i) (x * 2).exp().log().sum().backward();
      });
    }
    for (auto& t : threads) t.join();
    CHECK(values(x.grad())[0] == Approx(2 * kThreads * kRuns).epsilon(1e-3));
  }
  SECTION("over one graph that is kept") {
    const Tensor x = leaf({1, 2});
    const Tensor shared = (x * x).exp().log();
    const Tensor out = (shared * shared).sqrt().sum();
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < kRuns; ++i) out.backward({}, true);
      });
    }
    for (auto& t : threads) t.join();
    CHECK(values(x.grad())[1] == Approx(4 * kThreads * kRuns).epsilon(1e-3));
  }
  SECTION("over one graph that is not kept: an error, never a crash") {
    for (int i = 0; i < 50; ++i) {
      const Tensor x = leaf({1, 2});
      const Tensor out = (x * x).exp().sum();
      std::atomic<int> done{0}, refused{0};
      std::vector<std::thread> threads;
      for (int t = 0; t < kThreads; ++t) {
        threads.emplace_back([&] {
          try {
            out.backward();
            ++done;
          } catch (const Error&) {
            ++refused;
          }
        });
      }
      for (auto& t : threads) t.join();
      CHECK(done + refused == kThreads);
      CHECK(done >= 0);
    }
  }
}

TEST_CASE("Accumulators fall asleep and wake under several threads", "[engine]") {
  const Tensor x = leaf({1, 2});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20000; ++i) {
        const auto edge = autograd::get_gradient_edge(x);
        if (edge.function->num_inputs() != 1) std::abort();
      }
    });
  }
  for (auto& t : threads) t.join();
  (x * 2).sum().backward();
  CHECK(values(x.grad()) == std::vector<double>{2, 2});
}

TEST_CASE("A derivative that is missing is missed in backward", "[engine]") {
  class Missing final : public autograd::Node {
   public:
    std::string name() const override { return "MissingBackward0"; }
    autograd::variable_list apply(autograd::variable_list&&) override {
      throw NotImplementedError("derivative for missing is not implemented");
    }
  };
  const Tensor x = leaf({1});
  auto node = autograd::make_node<Missing>();
  node->add_input_metadata(ones({1}));
  node->add_next_edge(autograd::get_gradient_edge(x));
  CHECK_THROWS_AS(
      autograd::grad({autograd::Edge{node, 0}}, {autograd::get_gradient_edge(x)}, {ones({1})}),
      NotImplementedError);
}

TEST_CASE("backward(inputs) gives results a gradient of their own", "[engine]") {
  const Tensor x = leaf({1, 2});
  const Tensor y = x * 3;
  std::string order;
  y.grad_fn()->add_pre_hook([&](const autograd::variable_list& g) {
    order += "pre ";
    return g;
  });
  const Tensor g = ones({2});
  y.backward(g, true, false, Tensors{y, y});
  CHECK(values(y.grad()) == std::vector<double>{1, 1});
  CHECK_FALSE(y.grad().is_alias_of(g));
  CHECK(y.retains_grad());
  CHECK(order == "pre ");
  CHECK_FALSE(x.grad().defined());
}

TEST_CASE("backward(inputs) of what nothing leads to fills nothing", "[engine]") {
  const Tensor x = ones({2}), w = leaf({1, 2});
  Tensor v;
  {
    const NoGradGuard guard;
    v = x.view({2});
  }
  x.requires_grad_();
  (x * w).sum().backward({}, false, false, Tensors{v});
  CHECK_FALSE(x.grad().defined());
  CHECK_FALSE(w.grad().defined());
}

TEST_CASE("A callback runs when the pass has ended", "[engine]") {
  const Tensor x = leaf({1});
  std::string order;
  CHECK_THROWS_WITH(autograd::queue_callback([] {}),
                    "Final callbacks can only be installed during backward pass.");
  x.register_hook([&](const Tensor& g) {
    autograd::queue_callback([&] {
      order += x.grad().defined() ? "first " : "early ";
      autograd::queue_callback([&] { order += "second"; });
    });
    CHECK(autograd::current_pass_id() >= 0);
    return g;
  });
  (x * 2).backward();
  CHECK(order == "first second");
  CHECK(autograd::current_pass_id() == -1);
}

TEST_CASE("Passes within passes stay in their thread", "[engine]") {
  thread_local int mine = 0;
  mine = 7;
  const auto home = std::this_thread::get_id();
  const Tensor x = leaf({1});
  int depth = 0;
  bool same = true;
  std::function<void()> run = [&] {
    const AutoGradMode recorded(true);
    const Tensor y = x * 2;
    y.register_hook([&](const Tensor& g) {
      same = same && mine == 7 && std::this_thread::get_id() == home;
      if (++depth < 200) run();
      if (depth == 200) throw std::runtime_error("from the deepest");
      return g;
    });
    y.backward();
  };
  CHECK_THROWS_WITH(run(), "from the deepest");
  CHECK(same);
  CHECK(depth == 200);
  CHECK(GradMode::is_enabled());
}

TEST_CASE("materialize_grads gives zeros for inputs that are not used", "[engine]") {
  const Tensor x = leaf({1, 2}), unused = leaf({3});
  const Tensor y = (x * x).sum();
  const auto grads =
      autograd::grad({y}, {x, unused}, {}, {.create_graph = true, .materialize_grads = true});
  CHECK(values(grads[1]) == std::vector<double>{0});
  CHECK(grads[1].requires_grad());
  CHECK(values(autograd::grad({y}, {x, unused}, {}, {.materialize_grads = true})[0]) ==
        std::vector<double>{2, 4});
  CHECK_THROWS_WITH(
      autograd::grad({y}, {unused}, {}, {.allow_unused = false, .materialize_grads = true}),
      "Expected allow_unused to be True or not passed when materialize_grads=True, but got: "
      "allow_unused=False.");
  const Tensor z = (x * x).sum();
  CHECK_THROWS_WITH(autograd::grad({autograd::get_gradient_edge(z)},
                                   {autograd::get_gradient_edge(unused)}, {ones({})},
                                   {.materialize_grads = true}),
                    "materialize_grads cannot be used when the given input is a GradientEdge");
}

TEST_CASE("is_grads_batched takes the first dimension for a batch", "[engine]") {
  const Tensor x = leaf({1, 2, 3}), unused = leaf({4});
  const Tensor y = x * x, z = x.sum();
  const Tensor rows = tensor({1., 0., 0., 0., 1., 2.}).view({2, 3});
  const auto batched = [](bool kept) {
    return autograd::GradOptions{.retain_graph = kept, .is_grads_batched = true};
  };
  const Tensor both = autograd::grad({y, z}, {x}, {rows, tensor({10., 20.})}, batched(true))[0];
  CHECK(both.sizes() == IntArrayRef({2, 3}));
  CHECK(values(both) == std::vector<double>{12, 10, 10, 20, 24, 32});
  CHECK_FALSE(both.requires_grad());
  const auto unused_too =
      autograd::grad({y}, {x, unused}, {rows},
                     {.retain_graph = true, .allow_unused = true, .is_grads_batched = true});
  CHECK_FALSE(unused_too[1].defined());
  CHECK(autograd::grad({y}, {x}, {ones({0, 3})}, batched(true))[0].sizes() == IntArrayRef({0, 3}));
  CHECK_THROWS_WITH(autograd::grad({y}, {x}, {ones({3})}, batched(true)),
                    Contains("we interpret the first dimension of each grad_output as the batch "
                             "dimension") &&
                        Contains("grad_output[0] has a shape of torch.Size([]) and output[0] has a "
                                 "shape of torch.Size([3])"));
  CHECK_THROWS_AS(autograd::grad({y, z}, {x}, {rows, ones({3})}, batched(true)), ValueError);
  CHECK_THROWS_AS(autograd::grad({z}, {x}, {}, batched(true)), Error);
  CHECK_THROWS_AS(autograd::grad({z}, {x}, {Tensor()}, batched(true)), ValueError);
  const Tensor of_edge = autograd::grad({autograd::get_gradient_edge(y)},
                                        {autograd::get_gradient_edge(x)}, {rows}, batched(true))[0];
  CHECK(values(of_edge) == std::vector<double>{2, 0, 0, 0, 4, 12});
  // A recorded run can be differentiated.
  const Tensor g =
      autograd::grad({y}, {x}, {rows}, {.create_graph = true, .is_grads_batched = true})[0];
  CHECK(values(autograd::grad({g.sum()}, {x}, {}, true)[0]) == std::vector<double>{2, 2, 4});
  // The graph lasts until the last row, and no longer.
  autograd::grad({y}, {x}, {rows}, batched(false));
  CHECK_THROWS_WITH(autograd::grad({y}, {x}, {rows}, batched(false)), Contains("second time"));
}
