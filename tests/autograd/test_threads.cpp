#include <latch>
#include <thread>

#include "aten/core/generator.h"
#include "aten/core/parallel.h"
#include "autograd/checkpoint/checkpoint.h"
#include "autograd/saved/saved_tensor_hooks.h"
#include "tenon/ops/bernoulli.h"
#include "tenon/ops/mul.h"
#include "tenon/ops/view_as_real.h"
#include "tenon/ops/zeros.h"
#include "tests/autograd/test_support.h"

// What several threads do at once with tensors that they share. Each case gives every thread the
// same start, often, so that the thread sanitizer sees them meet; operators run on one thread each.

namespace tenon::test {
namespace {

using autograd::grad;

constexpr int kThreads = 4;

/// Runs f(thread) on kThreads threads, which start together, and waits for them.
template <class F>
void at_once(const F& f) {
  std::latch start(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      set_num_threads(1);
      start.arrive_and_wait();
      f(t);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

/// Whether all threads get this from `f`.
template <class F>
bool all_get(const std::vector<double>& expected, const F& f) {
  std::atomic<int> right{0};
  at_once([&](int) { right += values(f()) == expected; });
  return right == kThreads;
}

TEST_CASE("Threads use a view whose base was changed", "[threads]") {
  for (int i = 0; i < 30; ++i) {
    const Tensor a = leaf({1, 2, 3, 4}).view({2, 2}).detach().requires_grad_();
    const Tensor y = a * 1;
    const Tensor v = y.select(0, 1);
    const auto gradient = [&] { return grad({v * 2}, {a}, {v.detach()})[0]; };

    y.mul_(3);
    CHECK(all_get({0, 0, 54, 72}, gradient));
    // Once more: the node that goes may still be another thread's.
    y.mul_(2);
    CHECK(all_get({0, 0, 216, 288}, gradient));
    CHECK(v.grad_fn()->name() == "AsStridedBackward0");
  }
}

TEST_CASE("Threads use a view of another dtype whose base was changed", "[threads]") {
  for (int i = 0; i < 30; ++i) {
    const Tensor a = zeros({2}, TensorOptions(kComplexDouble)).requires_grad_();
    const Tensor y = a * 1;
    const Tensor pairs = view_as_real(y);
    y.mul_(3);
    CHECK(all_get({3, 3}, [&] {
      return view_as_real(grad({pairs.select(1, 0).sum()}, {a})[0]).select(1, 0);
    }));
  }
}

TEST_CASE("Threads use a view that had no history before its base", "[threads]") {
  for (int i = 0; i < 30; ++i) {
    const Tensor w = leaf({5});
    const Tensor base = zeros({2, 2});
    const Tensor v = base.select(0, 0), whole = base.view({4});
    base.add_(w);
    at_once([&](int thread) {
      if (thread % 2) (void)v.requires_grad();
      (void)whole.is_leaf();
      (void)whole.output_nr();
    });
    CHECK(all_get({2}, [&] { return grad({v.sum()}, {w})[0]; }));
  }
}

TEST_CASE("Threads use a leaf that is a view of what changes without history", "[threads]") {
  const Tensor base = zeros({4});
  const Tensor v = base.view({2, 2}).requires_grad_();
  for (int i = 0; i < 30; ++i) {
    {
      const NoGradGuard no_grad;
      base.add_(1);
    }
    CHECK(all_get({2, 2, 2, 2}, [&] { return grad({(v * 2).sum()}, {v})[0]; }));
  }
}

TEST_CASE("Threads use a view whose gradient is retained", "[threads]") {
  for (int i = 0; i < 20; ++i) {
    const Tensor a = leaf({1, 2});
    const Tensor y = a * 1;
    const Tensor v = y.view({2, 1});
    v.retain_grad();
    y.mul_(3);
    at_once([&](int) {
      (v * 2).sum().backward({}, true);
      (void)v.retains_grad();
    });
    CHECK(values(a.grad()) == std::vector<double>(2, 6 * kThreads));
  }
}

TEST_CASE("Threads change parts of one tensor, and each change counts", "[threads]") {
  const Tensor t = zeros({kThreads, 3});
  const uint32_t before = t.unsafe_impl()->version();
  constexpr int kChanges = 200;
  at_once([&](int thread) {
    const NoGradGuard no_grad;
    const Tensor row = t.select(0, thread);
    for (int i = 0; i < kChanges; ++i) row.add_(1);
  });
  CHECK(t.unsafe_impl()->version() == before + kThreads * kChanges);
  CHECK(values(t) == std::vector<double>(3 * kThreads, kChanges));
}

TEST_CASE("Threads detach a tensor while others record with it", "[threads]") {
  for (int i = 0; i < 50; ++i) {
    const Tensor a = leaf({1, 2});
    const Tensor y = a * 2;
    CHECK(all_get({8, 16}, [&] {
      const Tensor d = y.detach();
      return grad({y * y}, {a}, {d * 0 + 1})[0];
    }));
    // All of them count the same changes.
    const Tensor d = y.detach();
    d.zero_();
    CHECK(y.unsafe_impl()->version() == d.unsafe_impl()->version());
  }
}

TEST_CASE("Threads take and leave a leaf's accumulator", "[threads]") {
  const Tensor x = leaf({1, 2});
  std::atomic<int> wrong{0};
  at_once([&](int) {
    for (int i = 0; i < 500; ++i) {
      auto edge = autograd::get_gradient_edge(x);
      const auto another = edge;
      edge = {};
      wrong += another.function->input_metadata(0).sizes() != IntArrayRef({2});
    }
  });
  CHECK(wrong == 0);
  at_once([&](int) {
    for (int i = 0; i < 50; ++i) (x * 2).sum().backward();
  });
  CHECK(values(x.grad()) == std::vector<double>(2, 2 * 50 * kThreads));
}

TEST_CASE("Threads add and remove hooks of one tensor during passes", "[threads]") {
  const Tensor x = leaf({1, 2});
  const Tensor y = x * 3;
  std::atomic<int> calls{0};
  at_once([&](int) {
    for (int i = 0; i < 50; ++i) {
      const auto hook = [&](const Tensor& g) { return ++calls, g * 1; };
      const unsigned on_leaf = x.register_hook(hook), on_result = y.register_hook(hook);
      y.sum().backward({}, true);
      x.remove_hook(on_leaf);
      y.remove_hook(on_result);
    }
  });
  CHECK(calls >= 2 * 50 * kThreads);
  CHECK(values(x.grad()) == std::vector<double>(2, 3 * 50 * kThreads));
  calls = 0;
  y.sum().backward();
  CHECK(calls == 0);
}

TEST_CASE("Threads share a graph that saves through hooks", "[threads]") {
  const Tensor x = leaf({1, 2});
  std::atomic<int> unpacked{0};
  Tensor y;
  {
    const autograd::SavedTensorHooksGuard hooks(
        {[](const Tensor& t) -> std::any { return t.clone(); },
         [&](const std::any& packed) {
           ++unpacked;
           return std::any_cast<const Tensor&>(packed);
         }});
    y = (x * x).exp().log();
  }
  CHECK(all_get({2, 4}, [&] {
    const Tensor seed = (y.detach() * 0) + 1;
    Tensor rounded = grad({y}, {x}, {seed}, true)[0].round();
    (void)y.grad_fn()->saved_nbytes();
    return rounded;
  }));
  CHECK(unpacked >= 3 * kThreads);
}

TEST_CASE("Threads checkpoint, drawing random numbers", "[threads]") {
  const Tensor x = leaf({1, 2, 3, 4});
  for (const bool reentrant : {false, true}) {
    std::atomic<int> wrong{0};
    at_once([&](int) {
      for (int i = 0; i < 10; ++i) {
        const Tensor mine = x.detach().requires_grad_();
        const Tensor y = autograd::checkpoint(
            [](const Tensor& t) { return (t * t) * (bernoulli(t.detach() * 0 + 0.5) + 1); }, mine,
            {.use_reentrant = reentrant});
        y.sum().backward();
        // 2x or 4x: which of the two is the other threads' doing as well.
        for (int k = 0; k < 4; ++k) {
          const double ratio = values(mine.grad())[k] / (2 * (k + 1));
          wrong += ratio != 1 && ratio != 2;
        }
      }
    });
    CHECK(wrong == 0);
  }
}

TEST_CASE("Threads run one checkpointed graph", "[threads]") {
  const Tensor x = leaf({1, 2});
  const Tensor y = autograd::checkpoint([](const Tensor& t) { return (t * t) * (t * t); }, x,
                                        {.use_reentrant = false});
  CHECK(all_get({4, 32}, [&] { return grad({y.sum()}, {x}, {}, true)[0]; }));
}

}  // namespace
}  // namespace tenon::test
