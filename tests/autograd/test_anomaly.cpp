#include <thread>

#include "autograd/engine/multi_grad_hook.h"
#include "autograd/tools/anomaly.h"
#include "autograd/tools/to_dot.h"
#include "tenon/ops/ones.h"
#include "tests/autograd/test_support.h"
#include "tests/stderr_of.h"

using namespace tenon;
using namespace tenon::test;

TEST_CASE("Anomaly mode names the operation whose backward gives NaN", "[anomaly]") {
  const Tensor x = leaf({0});
  std::string message;
  const auto run = [&] { message = message_of([&] { (x.sqrt() * 0).sum().backward(); }); };
  CHECK(stderr_of(run).empty());
  CHECK(message.empty());
  {
    const autograd::DetectAnomalyGuard guard;
    CHECK(autograd::AnomalyMode::is_enabled());
    const std::string text = stderr_of(run);
    CHECK(message == "Function 'SqrtBackward0' returned nan values in its 0th output.");
    CHECK_THAT(text, Contains("Error detected in SqrtBackward0. Traceback of forward call that "
                              "caused the error:\n"));
    CHECK_THAT(text, Contains("sqrt"));
    const autograd::DetectAnomalyGuard unchecked(false);
    CHECK(stderr_of(run).empty());
    CHECK(message.empty());
  }
  CHECK_FALSE(autograd::AnomalyMode::is_enabled());
}

TEST_CASE("Anomaly mode follows operations that backward recorded", "[anomaly]") {
  const Tensor x = leaf({0}, kDouble);
  const Tensor before = x.sqrt();
  std::string message;
  const autograd::DetectAnomalyGuard guard;
  const Tensor y = (x * 1).pow(1.5);
  const Tensor g = autograd::grad({y}, {x}, {}, std::nullopt, true)[0];
  const std::string text = stderr_of([&] { message = message_of([&] { (g * 0).backward(); }); });
  CHECK_THAT(message, Contains("returned nan values in its 0th output."));
  CHECK_THAT(text, Contains("Previous calculation was induced by PowBackward"));
  CHECK_THAT(stderr_of([&] { message_of([&] { (before * 0).backward(); }); }),
             Contains("Error detected in SqrtBackward0. No forward pass information available."));
}

TEST_CASE("Anomaly mode tells of exceptions too", "[anomaly]") {
  const autograd::DetectAnomalyGuard guard;
  const Tensor x = leaf({1, 2});
  Tensor a = x * 1;
  const Tensor y = a.exp();
  const Tensor z = a * a;
  a.add_(1);
  CHECK_THAT(stderr_of([&] { message_of([&] { z.sum().backward(); }); }),
             Contains("Error detected in MulBackward0."));
}

TEST_CASE("A graph is drawn with names, sizes and what it keeps", "[to_dot]") {
  const Tensor x = leaf({1, 2});
  const Tensor y = (x.exp() * x).sum();
  const std::string dot = autograd::to_dot(y);
  CHECK(dot == "digraph {\n"
               "  t0 [shape=plain, label=\"Float[]\"];\n"
               "  n0 [shape=box, label=\"SumBackward0\\nFloat[]\"];\n"
               "  n1 [shape=box, label=\"MulBackward0\\nFloat[2]\\nother: Float[2] version 0\\n"
               "self: Float[2] version 0\\n16 bytes saved\"];\n"
               "  n2 [shape=box, label=\"ExpBackward0\\nFloat[2]\\nresult: Float[2] version 0\\n"
               "8 bytes saved\"];\n"
               "  n3 [shape=ellipse, label=\"AccumulateGrad\\nFloat[2]\"];\n"
               "  t0 -> n0;\n"
               "  n0 -> n1;\n"
               "  n1 -> n2;\n"
               "  n1 -> n3;\n"
               "  n2 -> n3;\n"
               "}\n");
  CHECK(autograd::to_dot(y) == dot);
  y.backward();
  CHECK(autograd::to_dot(y).find("bytes saved") == std::string::npos);
  CHECK_THAT(autograd::to_dot(y), Contains("result: freed"));
  const std::vector<Tensor> parts = x.unbind();
  CHECK_THAT(autograd::to_dot({parts[0], parts[1]}), Contains("t1 -> n0 [label=\"1\"];"));
  CHECK(autograd::to_dot(ones({2})) == "digraph {\n  t0 [shape=plain, label=\"Float[2]\"];\n}\n");
  CHECK_THROWS_AS(autograd::to_dot(Tensor()), Error);
}

TEST_CASE("A hook on several tensors is called once per pass", "[multi_grad]") {
  const Tensor x = leaf({1}), w = leaf({2}), unused = leaf({3});
  const Tensor y = x * 2, z = w * 3;
  std::vector<Tensors> calls;
  const auto handle = autograd::register_multi_grad_hook(
      {y, w, unused}, [&](const Tensors& grads) { calls.push_back(grads); });
  (y * z).backward({}, true);
  REQUIRE(calls.size() == 1);
  CHECK(values(calls[0][0]) == std::vector<double>{6});
  CHECK(values(calls[0][1]) == std::vector<double>{6});
  CHECK_FALSE(calls[0][2].defined());
  (y * 5).backward({}, true);  // some of them
  REQUIRE(calls.size() == 2);
  CHECK(values(calls[1][0]) == std::vector<double>{5});
  CHECK_FALSE(calls[1][1].defined());
  unused.exp().backward();
  REQUIRE(calls.size() == 3);
  CHECK(values(calls[2][2])[0] == Approx(std::exp(3.f)));
  (x * 7).backward();  // none
  CHECK(calls.size() == 3);
  autograd::grad({y * z}, {w}, {}, true);  // only that one is wanted
  REQUIRE(calls.size() == 4);
  CHECK_FALSE(calls[3][0].defined());
  CHECK(calls[3][1].defined());
  handle.remove();
  (y * z).backward();
  CHECK(calls.size() == 4);
  CHECK_THROWS_WITH(autograd::register_multi_grad_hook({x, ones({1})}, [](const Tensors&) {}),
                    Contains("tensor 1 does not"));
}

TEST_CASE("A hook on several tensors keeps none of them", "[multi_grad]") {
  const Tensor x = leaf({1});
  int calls = 0;
  Tensor y = x * 2;
  const IntrusivePtr<StorageImpl> storage = y.unsafe_impl()->storage;
  Tensor e = y.exp();
  autograd::register_multi_grad_hook({y, e, x}, [&](const Tensors& grads) {
    ++calls;
    CHECK_FALSE(grads[0].defined());
  });
  y.reset();
  e.reset();
  CHECK(storage->refs.count() == 1);
  (x * 2).backward();
  CHECK(calls == 1);
}

TEST_CASE("The first gradient of any of several tensors", "[multi_grad]") {
  const Tensor x = leaf({1}), y = x * 2, z = y * 3;
  std::vector<double> seen;
  const auto handle = autograd::register_any_grad_hook(
      {x, y, z}, [&](const Tensor& grad) { seen.push_back(values(grad)[0]); });
  z.backward({}, true);
  (y * 5).backward({}, true);
  CHECK(seen == std::vector<double>{1, 5});
  handle.remove();
  z.backward();
  CHECK(seen.size() == 2);
}

TEST_CASE("Passes of several threads count apart", "[multi_grad]") {
  const Tensor x = leaf({1}), w = leaf({2});
  std::atomic<int> calls{0}, whole{0};
  autograd::register_multi_grad_hook({x, w}, [&](const Tensors& grads) {
    ++calls;
    whole += grads[0].defined() && grads[1].defined();
  });
  const auto run = [&] {
    for (int i = 0; i < 20; ++i) (x * w).backward();
  };
  std::thread other(run);
  run();
  other.join();
  CHECK(calls == 40);
  CHECK(whole == 40);
}
