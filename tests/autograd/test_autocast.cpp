// Automatic mixed precision.
#include "autograd/autocast.h"

#include <thread>

#include "aten/dispatch/exclude_layers.h"
#include "aten/registration/library.h"
#include "autograd/autograd.h"
#include "autograd/checkpoint/checkpoint.h"
#include "tenon/ops/add.h"
#include "tenon/ops/cat.h"
#include "tenon/ops/linear.h"
#include "tenon/ops/matmul.h"
#include "tenon/ops/mm.h"
#include "tenon/ops/mse_loss.h"
#include "tenon/ops/mul.h"
#include "tenon/ops/ones.h"
#include "tenon/ops/prod.h"
#include "tenon/ops/sum.h"
#include "tests/autograd/test_support.h"

using namespace tenon;
using namespace tenon::test;
using autocast::AutocastGuard;

TEST_CASE("Within autocast products compute in the shorter dtype, sums as they are") {
  const Tensor a = ones({2, 3}), b = ones({3, 4});
  CHECK(mm(a, b).scalar_type() == kFloat);
  {
    const AutocastGuard guard(kCPU);
    CHECK(autocast::is_enabled(kCPU));
    CHECK_FALSE(autocast::is_enabled(kCUDA));
    CHECK(mm(a, b).scalar_type() == kBFloat16);
    CHECK(linear(a, ones({5, 3}), ones({5})).scalar_type() == kBFloat16);
    CHECK(matmul(a, b).scalar_type() == kBFloat16);
    CHECK((a + a).scalar_type() == kFloat);
    CHECK(sum(a).scalar_type() == kFloat);
    {
      const AutocastGuard off(kCPU, std::nullopt, false);
      CHECK(mm(a, b).scalar_type() == kFloat);
      const AutocastGuard half(kCPU, kHalf);
      CHECK(mm(a, b).scalar_type() == kHalf);
    }
    CHECK(mm(a, b).scalar_type() == kBFloat16);
  }
  CHECK(mm(a, b).scalar_type() == kFloat);
  CHECK_FALSE(autocast::is_enabled(kCPU));
  CHECK(thread_state.skipped_layers == kThreadLayers);
}

TEST_CASE("Within autocast losses compute in float32, and cat takes the widest dtype") {
  const AutocastGuard guard(kCPU);
  const Tensor h = ones({4}, kBFloat16), f = ones({4});
  CHECK(mse_loss(h, h).scalar_type() == kFloat);
  CHECK(prod(h).scalar_type() == kFloat);
  CHECK(cat({h, f}).scalar_type() == kFloat);
  CHECK(cat({h, h}).scalar_type() == kBFloat16);
}

TEST_CASE("Autocast leaves double, integers and operators in place alone") {
  const AutocastGuard guard(kCPU);
  const Tensor d = ones({2, 2}, kDouble), i = ones({2, 2}, kLong);
  CHECK(mm(d, d).scalar_type() == kDouble);
  CHECK(mm(i, i).scalar_type() == kLong);
  Tensor out = ones({2, 2}) * 0;
  const Tensor f = ones({2, 2});
  mm_out(out, f, f);
  CHECK(out.scalar_type() == kFloat);
}

TEST_CASE("Gradients pass through autocast's casts") {
  Tensor x = tensor({1., 2.}, kFloat).reshape({1, 2}).requires_grad_();
  Tensor w = tensor({3., 4.}, kFloat).reshape({2, 1}).requires_grad_();
  Tensor y;
  {
    const AutocastGuard guard(kCPU);
    y = mm(x, w);
  }
  CHECK(y.scalar_type() == kBFloat16);
  y.backward(ones({1, 1}, kBFloat16));
  CHECK(x.grad().scalar_type() == kFloat);
  CHECK(values(x.grad()) == std::vector<double>{3, 4});
  CHECK(values(w.grad()) == std::vector<double>{1, 2});
}

TEST_CASE("Autocast casts a leaf once per scope, unless it has changed") {
  Tensor w = ones({2, 2}).requires_grad_();
  const auto cast = [&] { return autocast::cached_cast(kBFloat16, w, kCPU); };
  {
    const AutocastGuard guard(kCPU);
    const Tensor first = cast();
    CHECK(cast().is_same(first));
    {
      const NoGradGuard no_grad;
      const Tensor unrecorded = cast();
      CHECK_FALSE(unrecorded.requires_grad());
      w.mul_(2);
    }
    const Tensor second = cast();
    CHECK_FALSE(second.is_same(first));
    CHECK(values(second)[0] == 2);
    CHECK(second.requires_grad());
    {
      const AutocastGuard inner(kCPU);
      CHECK(cast().is_same(second));
    }
    CHECK(cast().is_same(second));
    autocast::clear_cache();
    CHECK_FALSE(cast().is_same(second));
    const AutocastGuard uncached(kCPU, std::nullopt, true, false);
    CHECK_FALSE(cast().is_same(cast()));
  }
  const AutocastGuard guard(kCPU);
  (mm(w, w) + mm(w, w)).sum().backward();
  CHECK(values(w.grad()) == std::vector<double>(4, 16));
}

TEST_CASE("Autocast is a thread's own") {
  const AutocastGuard guard(kCPU);
  const Tensor a = ones({2, 2});
  ScalarType seen = kBFloat16;
  std::thread([&] { seen = mm(a, a).scalar_type(); }).join();
  CHECK(seen == kFloat);
}

TEST_CASE("A checkpointed call is computed again under its own autocast state") {
  for (const bool reentrant : {false, true}) {
    Tensor x = ones({2, 2}).requires_grad_();
    std::vector<ScalarType> seen;
    Tensor y;
    {
      const AutocastGuard guard(kCPU);
      y = autograd::checkpoint(
          [&](const Tensor& t) {
            const Tensor product = mm(t, t);
            seen.push_back(product.scalar_type());
            return product.sum();
          },
          x, {.use_reentrant = reentrant, .early_stop = false});
    }
    y.backward();
    CHECK(seen == std::vector<ScalarType>{kBFloat16, kBFloat16});
    CHECK(x.grad().scalar_type() == kFloat);
  }
}

TEST_CASE("An operator of one's own takes part in autocast") {
  Library library("lib");
  library.def("scaled(Tensor self) -> Tensor")
      .impl("scaled", DispatchKey::CPU, [](const Tensor& x) { return x * 2; })
      .impl("scaled", DispatchKey::Autocast, [](const Tensor& x) {
        const ExcludeLayers below(DispatchLayer::Autocast);
        return get_operator("lib::scaled")
            .typed<Tensor(const Tensor&)>()
            .call(autocast::cached_cast(autocast::dtype(kCPU), x, kCPU));
      });
  const auto scaled = get_operator("lib::scaled").typed<Tensor(const Tensor&)>();
  CHECK(scaled(ones({2})).scalar_type() == kFloat);
  const AutocastGuard guard(kCPU);
  CHECK(scaled(ones({2})).scalar_type() == kBFloat16);
}

TEST_CASE("Autocast is for two devices and two dtypes") {
  CHECK(message_of([] { AutocastGuard(kCPU, kInt); }) ==
        "autocast: the dtype must be bfloat16 or float16, got Int");
  CHECK(message_of([] { AutocastGuard guard(kMeta); }) ==
        "autocast: the device must be cpu or cuda, got meta");
  CHECK_FALSE(autocast::is_enabled(kCPU));
}
