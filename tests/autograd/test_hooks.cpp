#include <atomic>
#include <thread>

#include "autograd/engine/node.h"
#include "tenon/ops/ones.h"
#include "tests/autograd/test_support.h"

using namespace tenon;
using namespace tenon::test;
using autograd::variable_list;

TEST_CASE("A hook sees the gradient and may replace it", "[hooks]") {
  const Tensor x = leaf({1, 2});
  const Tensor y = x * 3;
  std::vector<double> seen;
  y.register_hook([&](const Tensor& g) {
    seen = values(g);
    return g * 10;
  });
  x.register_hook([](const Tensor& g) { return g + 1; });
  x.register_hook([](const Tensor&) { return Tensor(); });  // keeps it
  y.sum().backward();
  CHECK(seen == std::vector<double>{1, 1});
  CHECK(values(x.grad()) == std::vector<double>{31, 31});
  CHECK_THROWS_WITH(x.detach().register_hook([](const Tensor& g) { return g; }),
                    "cannot register a hook on a tensor that doesn't require gradient");
}

TEST_CASE("A hook keeps what the node relies on", "[hooks]") {
  const Tensor x = leaf({1, 2});
  const Tensor y = x * 3;
  const unsigned wider = y.register_hook([](const Tensor&) { return ones({5}); });
  CHECK_THROWS_WITH(y.sum().backward({}, true),
                    "a hook before MulBackward1 must keep the gradient's sizes and dtype, "
                    "Float[2], got Float[5]");
  y.remove_hook(wider);
  y.register_hook([](const Tensor& g) { return g.to(kDouble); });
  CHECK_THROWS_AS(y.sum().backward({}, true), Error);
  const Tensor z = x * 3;
  z.grad_fn()->add_pre_hook([](const variable_list&) { return variable_list(); });
  CHECK_THROWS_WITH(
      z.sum().backward(),
      "a hook before MulBackward1 must return as many gradients as it gets, 1, got 0");
  CHECK_FALSE(x.grad().defined());
}

TEST_CASE("Hooks of a leaf run in PyTorch's order", "[hooks]") {
  const Tensor x = leaf({1});
  const Tensor y = x * 2;
  std::string order;
  const auto& accumulator = y.grad_fn()->next_edges()[0].function;
  accumulator->add_post_hook([&](const variable_list& in, const variable_list&) {
    order += "post ";
    return in;
  });
  accumulator->add_pre_hook([&](const variable_list& g) {
    order += x.grad().defined() ? "late-pre " : "pre ";
    return g;
  });
  autograd::register_post_accumulate_grad_hook(x, [&](const Tensor& leaf) {
    order += leaf.is_same(x) && x.grad().defined() ? "post-accumulate " : "wrong ";
  });
  x.register_hook([&](const Tensor&) {
    order += "tensor ";
    return Tensor();
  });
  y.backward();
  CHECK(order == "tensor pre post-accumulate post ");
}

TEST_CASE("Hooks of a result run in PyTorch's order", "[hooks]") {
  const Tensor x = leaf({1});
  const Tensor y = x * 2;
  std::string order;
  std::vector<double> retained_before_pre;
  y.grad_fn()->add_post_hook([&](const variable_list& in, const variable_list& out) {
    order += out.size() == 1 && values(out[0])[0] == 5 ? "post " : "wrong ";
    return in;
  });
  y.grad_fn()->add_pre_hook([&](const variable_list& g) {
    order += "pre ";
    if (y.grad().defined()) retained_before_pre = values(y.grad());
    return g;
  });
  y.retain_grad();
  y.register_hook([&](const Tensor& g) {
    order += "tensor ";
    return g * 5;
  });
  y.backward();
  CHECK(order == "tensor pre post ");
  CHECK(retained_before_pre == std::vector<double>{5});
  CHECK(values(x.grad()) == std::vector<double>{10});
}

TEST_CASE("grad() runs the hooks of captured tensors, not of the node behind them", "[hooks]") {
  const Tensor x = leaf({1});
  const Tensor y = x * 2;
  const Tensor z = y * 3;
  int tensor_hooks = 0, node_hooks = 0;
  y.register_hook([&](const Tensor& g) {
    ++tensor_hooks;
    return g * 2;
  });
  y.grad_fn()->add_pre_hook([&](const variable_list& g) {
    ++node_hooks;
    return g;
  });
  CHECK(values(autograd::grad({z}, {y}, {}, true)[0]) == std::vector<double>{6});
  CHECK(tensor_hooks == 1);
  CHECK(node_hooks == 0);
  x.register_hook([&](const Tensor& g) { return g + 1; });
  autograd::register_post_accumulate_grad_hook(x, [&](const Tensor&) { node_hooks += 100; });
  CHECK(values(autograd::grad({z}, {x})[0]) == std::vector<double>{13});
  CHECK(node_hooks == 1);
  CHECK_FALSE(x.grad().defined());
}

TEST_CASE("Hooks can be removed, also by hooks", "[hooks]") {
  const Tensor x = leaf({1});
  int calls = 0;
  const unsigned first = x.register_hook([&](const Tensor&) {
    ++calls;
    return Tensor();
  });
  unsigned self = 0;
  self = x.register_hook([&](const Tensor&) {
    ++calls;
    x.remove_hook(first);
    x.remove_hook(self);
    return Tensor();
  });
  (x * 2).backward();
  (x * 2).backward();
  CHECK(calls == 2);
  CHECK_THROWS_AS(x.remove_hook(self), IndexError);
  const Tensor y = x * 2;
  const unsigned on_result = y.register_hook([&](const Tensor&) {
    ++calls;
    return Tensor();
  });
  y.remove_hook(on_result);
  y.backward();
  CHECK(calls == 2);
}

TEST_CASE("Post-accumulate hooks are for leaves", "[hooks]") {
  const Tensor x = leaf({1, 2});
  CHECK_THROWS_WITH(autograd::register_post_accumulate_grad_hook(x * 2, [](const Tensor&) {}),
                    "post accumulate grad hooks cannot be registered on non-leaf tensors");
  CHECK_THROWS_AS(autograd::register_post_accumulate_grad_hook(x.detach(), [](const Tensor&) {}),
                  Error);
  // An optimizer's step as soon as a gradient is there.
  const auto hook = autograd::register_post_accumulate_grad_hook(x, [](const Tensor& p) {
    const NoGradGuard guard;
    p.sub_(p.grad());
    p.mutable_grad().reset();
  });
  (x * 2).sum().backward();
  CHECK(values(x) == std::vector<double>{-1, 0});
  CHECK_FALSE(x.grad().defined());
  CHECK(hook.remove());
  CHECK_FALSE(hook.remove());
  (x * 2).sum().backward();
  CHECK(x.grad().defined());
}

TEST_CASE("retain_grad() keeps the gradient of a result", "[hooks]") {
  const Tensor x = leaf({1, 2});
  Tensor y = x * 3;
  y.retain_grad();
  y.retain_grad();
  CHECK(y.retains_grad());
  const Tensor loss = (y * y).sum();
  loss.backward({}, true);
  CHECK(values(y.grad()) == std::vector<double>{6, 12});
  loss.backward({}, true);
  CHECK(values(y.grad()) == std::vector<double>{12, 24});
  x.retain_grad();
  CHECK_FALSE(x.retains_grad());
  CHECK_THROWS_WITH(x.detach().retain_grad(),
                    "can't retain_grad on Tensor that has requires_grad=False");
  y.reset();  // before its node
  CHECK_NOTHROW(loss.backward());
}

TEST_CASE("A hook that throws ends the run", "[hooks]") {
  const Tensor x = leaf({1});
  x.register_hook([](const Tensor&) -> Tensor { throw std::out_of_range("mine"); });
  const Tensor y = x * 2;
  CHECK_THROWS_AS(y.backward(), std::out_of_range);
  CHECK_FALSE(x.grad().defined());
  CHECK(GradMode::is_enabled());
}

TEST_CASE("A hook is removed where it was registered", "[hooks]") {
  const Tensor x = leaf({1, 2});
  Tensor y = x * 3;
  std::string order;
  const auto note = [&](const char* name) {
    return [&order, name](const Tensor&) {
      order += name;
      return Tensor();
    };
  };
  const unsigned before = y.register_hook(note("before "));
  y.mul_(2);
  const unsigned after = y.register_hook(note("after "));
  SECTION("that of the old value") {
    y.remove_hook(before);
    y.sum().backward();
    CHECK(order == "after ");
    CHECK_THROWS_AS(y.remove_hook(before), IndexError);
  }
  SECTION("that of the new value") {
    y.remove_hook(after);
    y.sum().backward();
    CHECK(order == "before ");
  }
}

TEST_CASE("Hooks that hooks add and remove count from the next run on", "[hooks]") {
  const Tensor x = leaf({1});
  std::string order;
  unsigned second = 0;
  x.register_hook([&](const Tensor&) {
    order += "a";
    if (second != 0) x.remove_hook(std::exchange(second, 0));
    x.register_hook([&](const Tensor&) {
      order += "n";
      return Tensor();
    });
    return Tensor();
  });
  second = x.register_hook([&](const Tensor&) {
    order += "b";
    return Tensor();
  });
  (x * 2).backward();
  CHECK(order == "ab");
  (x * 2).backward();
  CHECK(order == "aban");
}

TEST_CASE("Hooks that were removed leave no trace", "[hooks]") {
  autograd::HookList<int> list;
  for (int i = 0; i < 1000; ++i) list.add(i).remove();
  CHECK(list.empty());
  const auto handle = list.add(7);
  list = {};
  CHECK_FALSE(handle.is_active());
  CHECK_FALSE(handle.remove());
}

TEST_CASE("What retain_grad() keeps is the tensor's own", "[hooks]") {
  const Tensor x = leaf({1, 2});
  const Tensor y = x * 3;
  y.retain_grad();
  const Tensor g = tensor({5., 6.}, TensorOptions(kFloat));
  y.backward(g, true);
  CHECK_FALSE(y.grad().is_alias_of(g));
  y.mutable_grad().reset();
  y.sum().backward({}, true);
  CHECK(y.grad().is_contiguous());
  y.mutable_grad().add_(1);
  CHECK(values(y.grad()) == std::vector<double>{2, 2});
}

TEST_CASE("A retained gradient arrives after detach_(), and not after the tensor has gone",
          "[hooks]") {
  const Tensor x = leaf({1, 2});
  Tensor y = x * 3;
  y.retain_grad();
  Tensor z = y * 2;
  y.detach_();
  z.sum().backward();
  CHECK(values(y.grad()) == std::vector<double>{2, 2});
  CHECK(y.retains_grad());
  Tensor u = x * 3;
  u.retain_grad();
  u.mul_(2);  // the new value's from here on
  z = u * 5;
  z.sum().backward({}, true);
  CHECK(values(u.grad()) == std::vector<double>{5, 5});
  u.detach_();
  u.reset();
  CHECK_NOTHROW(z.sum().backward());
}

TEST_CASE("A tensor may go in one thread while another fills its gradient", "[hooks]") {
  const Tensor x = leaf({1, 2});
  for (int i = 0; i < 200; ++i) {
    Tensor y = x.detach().requires_grad_() * 3;
    y.retain_grad();
    const Tensor z = (y * 2).sum();
    std::thread thread([&] { y.reset(); });
    z.backward();
    thread.join();
  }
}

TEST_CASE("Hooks come and go, and grad() is replaced, while other threads run backward",
          "[hooks]") {
  const Tensor x = leaf({1, 2});
  const Tensor y = x * 3;
  std::atomic<int> running{2};
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) (y * 2).sum().backward({}, true);
      --running;
    });
  }
  while (running > 0) {
    const auto handle = autograd::register_hook(x, [](const Tensor& g) { return g * 1; });
    const auto inner = autograd::register_hook(y, [](const Tensor& g) { return g * 1; });
    autograd::set_grad(x, Tensor());
    CHECK(handle.remove());
    CHECK(inner.remove());
  }
  for (auto& thread : threads) thread.join();
  autograd::set_grad(x, Tensor());
  (y * 2).sum().backward();
  CHECK(values(x.grad()) == std::vector<double>{6, 6});
}

TEST_CASE("grad() gives the gradient of what the pass goes through before its hooks", "[hooks]") {
  const Tensor x = leaf({1, 2});
  const Tensor y = x * 3;
  y.register_hook([](const Tensor& g) { return g * 10; });
  const Tensors g = autograd::grad({(y * 2).sum()}, {y, x});
  CHECK(values(g[0]) == std::vector<double>{2, 2});
  CHECK(values(g[1]) == std::vector<double>{60, 60});
}
