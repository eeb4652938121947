// A device of another library: memory, copies, kernels, and the CPU for the rest.
#include "aten/core/generator.h"
#include "aten/core/thread_state.h"
#include "aten/generated_support/tensor_factories.h"
#include "aten/registration/cpu_fallback.h"
#include "aten/registration/library.h"
#include "autograd/autograd.h"
#include "autograd/engine/node.h"
#include "autograd/tools/gradcheck.h"
#include "tenon/ops/add.h"
#include "tenon/ops/arange.h"
#include "tenon/ops/cat.h"
#include "tenon/ops/empty.h"
#include "tenon/ops/empty_like.h"
#include "tenon/ops/equal.h"
#include "tenon/ops/full.h"
#include "tenon/ops/linear.h"
#include "tenon/ops/mse_loss.h"
#include "tenon/ops/mul.h"
#include "tenon/ops/ones.h"
#include "tenon/ops/rand.h"
#include "tenon/ops/randn.h"
#include "tenon/ops/sigmoid.h"
#include "tenon/ops/tanh.h"
#include "tenon/ops/zeros.h"
#include "tests/aten/registration/toy_device.h"
#include "tests/aten/test_support.h"
#include "tests/stderr_of.h"

using namespace tenon;
using namespace tenon::test;

namespace {

ToyDevice& toy() {
  static auto* device = [] {
    rename_privateuse1_backend("toy");
    return new ToyDevice;
  }();
  return *device;
}

/// The device with the CPU behind it, for one test.
struct Session {
  Session() {
    register_device_interface(kPrivateUse1, &toy());
    set_fallback_warnings(false);
    library.fallback(DispatchKey::PrivateUse1, cpu_fallback);
  }
  ~Session() { register_device_interface(kPrivateUse1, nullptr); }
  Library library{"aten", Library::IMPL, DispatchKey::PrivateUse1};
};

Tensor on_toy(const Tensor& t) { return t.to(TensorOptions(Device("toy"))); }

}  // namespace

TEST_CASE("backend: the device's name parses and prints") {
  toy();
  CHECK(Device("toy:1").str() == "toy:1");
  CHECK(Device("toy") == Device(kPrivateUse1));
  CHECK(Device("privateuseone:1") == Device("toy:1"));
  CHECK(std::string(get_privateuse1_backend_name()) == "toy");
  rename_privateuse1_backend("toy");
  check_error<ValueError>([] { rename_privateuse1_backend("other"); },
                          "PrivateUse1 is toy already");
  check_error([] { Device("tooy"); }, "meta or toy, got 'tooy'");
}

TEST_CASE("backend: without its library a device says so") {
  toy();
  check_error([] { empty({2}, Device("toy")); }, "no memory can be had on device toy");
  check_error<ValueError>([] { register_device_interface(kCPU, &toy()); }, "built in");
}

TEST_CASE("backend: memory and copies, whatever the strides and dtypes") {
  const Session session;
  const size_t before = toy().live_bytes();
  {
    const Tensor x = arange(6).view({2, 3});
    const Tensor t = on_toy(x);
    CHECK(t.device().str() == "toy:0");
    CHECK(toy().live_bytes() == before + 48);
    CHECK(values(t.cpu()) == values(x));
    CHECK(values(t.t().cpu()) == values(x.t()));
    CHECK(t.t().cpu().strides() == x.t().strides());
    CHECK(values(t.select(1, 1).cpu()) == std::vector<double>{1, 4});
    CHECK(values(t.to(kFloat).cpu()) == values(x));
    CHECK(t.to(kFloat).device() == t.device());

    // Into a view with gaps: what lies between stays.
    Tensor gaps = on_toy(zeros({2, 4}));
    gaps.slice(1, 0, 4, 2).copy_(tensor({{1., 2.}, {3., 4.}}));
    CHECK(values(gaps.cpu()) == std::vector<double>{1, 0, 2, 0, 3, 0, 4, 0});
    gaps.slice(1, 1, 4, 2).copy_(on_toy(ones({1})));
    CHECK(values(gaps.cpu()) == std::vector<double>{1, 1, 2, 1, 3, 1, 4, 1});

    const Tensor other = t.to(Device("toy:1"));
    CHECK(other.device().str() == "toy:1");
    CHECK(values(other.cpu()) == values(x));
    CHECK(on_toy(empty({0, 3})).numel() == 0);
    check_error([&] { x.copy_(empty({2, 3}, Device(kMeta))); }, "meta");
  }
  CHECK(toy().live_bytes() == before);
}

TEST_CASE("backend: DeviceGuard") {
  const Session session;
  {
    const DeviceGuard guard(Device("toy:1"));
    CHECK(empty({1}, Device("toy")).device().str() == "toy:1");
    const DeviceGuard same(Device("toy:1"));
    const DeviceGuard none(Device("cpu"));
  }
  CHECK(empty({1}, Device("toy")).device().str() == "toy:0");
}

TEST_CASE("DeviceGuard serves devices that only tell which is current") {
  static DeviceIndex current;
  static int changes;
  static constexpr CurrentDevice kFunctions{[] { return current; },
                                            [](DeviceIndex index) { current = index, ++changes; }};
  current = 0, changes = 0;
  const CurrentDevice* const before = register_current_device(kCUDA, &kFunctions);
  {
    const DeviceGuard guard(Device("cuda:3"));
    CHECK(current == 3);
    const DeviceGuard same(Device("cuda:3"));
    const DeviceGuard any(Device("cuda"));
    CHECK(changes == 1);
    {
      const DeviceGuard inner(Device("cuda:1"));
      CHECK(current == 1);
    }
    CHECK(current == 3);
  }
  CHECK(current == 0);
  CHECK(changes == 4);
  CHECK(register_current_device(kCUDA, before) == &kFunctions);
}

TEST_CASE("backend: its kernels run, views need none, autograd records above them") {
  Session session;
  int calls = 0;
  session.library.impl("add.Tensor", [&](const Tensor& a, const Tensor& b, const Scalar& alpha) {
    ++calls;
    Tensor out = empty_like(a);
    const float* x = ToyDevice::data<float>(a);
    const float* y = ToyDevice::data<float>(b);
    for (int64_t i = 0; i < a.numel(); ++i) {
      ToyDevice::data<float>(out)[i] = x[i] + alpha.to<float>() * y[i];
    }
    return out;
  });
  const Tensor x = on_toy(tensor({1., 2.})), y = on_toy(tensor({10., 20.}));
  CHECK(values((x + y).cpu()) == std::vector<double>{11, 22});
  CHECK(values(tenon::add(x, y, 2).view({2, 1}).cpu()) == std::vector<double>{21, 42});
  CHECK(calls == 2);
  Tensor leaf = on_toy(tensor({1., 2.})).requires_grad_();
  const Tensor sum = leaf + y;
  CHECK(sum.grad_fn()->name() == "AddBackward0");
  sum.backward(on_toy(tensor({3., 4.})));
  CHECK(leaf.grad().device().str() == "toy:0");
  CHECK(values(leaf.grad().cpu()) == std::vector<double>{3, 4});
}

TEST_CASE("backend: without a fallback a missing kernel is an error") {
  register_device_interface(kPrivateUse1, &toy());
  const Tensor x = on_toy(ones({2}));
  check_error<NotImplementedError>([&] { x.exp(); },
                                   "Could not run 'aten::exp' with arguments from the "
                                   "'PrivateUse1' backend");
  register_device_interface(kPrivateUse1, nullptr);
}

TEST_CASE("backend: the CPU runs what the device cannot") {
  const Session session;
  const Tensor x = on_toy(tensor({{1., 2.}, {3., 4.}}));
  const Tensor e = x.exp();
  CHECK(e.device().str() == "toy:0");
  CHECK(values(e.cpu()) == values(tensor({{1., 2.}, {3., 4.}}).exp()));
  CHECK(values(x.mm(x).cpu()) == std::vector<double>{7, 10, 15, 22});
  CHECK(x.sum().item<double>() == 10);
  CHECK((x * 2).device() == x.device());
  CHECK(values((x * tensor(3.)).cpu()) == std::vector<double>{3, 6, 9, 12});

  // In place, through a view, and counted once.
  Tensor t = on_toy(zeros({2, 2}));
  const int64_t version = t._version();
  CHECK(t.select(0, 1).add_(5).device() == t.device());
  CHECK(t._version() == version + 1);
  CHECK(values(t.cpu()) == std::vector<double>{0, 0, 5, 5});
  // Out, which is resized.
  Tensor out = on_toy(ones({1}));
  Tensor& same = tenon::mul_out(out, x, x);
  CHECK(&same == &out);
  CHECK(values(out.cpu()) == std::vector<double>{1, 4, 9, 16});
  // Several results, lists of tensors, indices from the CPU, numbers.
  const auto [best, at] = x.max(1);
  CHECK(values(best.cpu()) == std::vector<double>{2, 4});
  CHECK(at.device() == x.device());
  CHECK(values(cat({x, x}, 1).cpu()).size() == 8);
  CHECK(equal(x, x));
  // Factories and random numbers.
  const auto options = TensorOptions(Device("toy"));
  CHECK(values(full({2}, 7, options).cpu()) == std::vector<double>{7, 7});
  CHECK(values(arange(3, options).cpu()) == std::vector<double>{0, 1, 2});
  manual_seed(1);
  const auto a = values(rand({4}, options).cpu());
  manual_seed(1);
  CHECK(a == values(rand({4})));
  Generator generator = make_generator(Device("toy"), 5);
  const auto first = values(rand({3}, generator, options).cpu());
  const auto second = values(rand({3}, generator, options).cpu());
  CHECK(first != second);
  Generator again = make_generator(kCPU, 5);
  CHECK(first == values(rand({3}, again)));
  CHECK(second == values(rand({3}, again)));

  check_error([&] { x + tensor({1., 2.}); }, "at least two devices, toy:0 and cpu");
  check_error([&] { x + x.to(Device("toy:1")); }, "at least two devices, toy:0 and toy:1");
  check_error([&] { x.mm(on_toy(ones({3, 1}))); }, "cannot be multiplied");
}

TEST_CASE("backend: training gives what the CPU gives") {
  const Session session;
  const auto train = [](Device device) {
    manual_seed(3);
    const Tensor x = randn({8, 3}).to(device), y = randn({8, 2}).to(device);
    Tensor w = randn({2, 3}).to(device).requires_grad_();
    Tensor b = zeros({2}).to(device).requires_grad_();
    for (int step = 0; step < 3; ++step) {
      const Tensor loss = mse_loss(tanh(linear(x, w, b)) * sigmoid(w.sum()), y);
      loss.backward();
      const NoGradGuard no_grad;
      for (Tensor* p : {&w, &b}) {
        p->sub_(p->grad(), 0.1);
        p->mutable_grad().reset();
      }
    }
    auto all = values(w.detach().cpu());
    for (double v : values(b.detach().cpu())) all.push_back(v);
    return all;
  };
  CHECK(close(train(Device("toy")), train(kCPU), 1e-6));

  // Gradients of gradients, where formulas are made of operators.
  Tensor x = on_toy(tensor({0.5, -0.3}, kDouble)).requires_grad_();
  const Tensor g = autograd::grad({(x.exp() * x).sum()}, {x}, {}, std::nullopt, true)[0];
  const Tensor gg = autograd::grad({g.sum()}, {x})[0];
  CHECK(close(values(gg.cpu()), {std::exp(0.5) * 2.5, std::exp(-0.3) * 1.7}, 1e-12));
}

TEST_CASE("backend: each operator's fallback is reported once") {
  const Session session;
  const Tensor x = on_toy(ones({2}));
  set_fallback_warnings(true);
  const std::string text = stderr_of([&] {
    x.exp();
    x.exp();
    x.cos();
  });
  set_fallback_warnings(false);
  CHECK(text == "tenon: warning: aten::exp runs on the CPU for device toy, with copies\n"
                "tenon: warning: aten::cos runs on the CPU for device toy, with copies\n");
}

TEST_CASE("backend: operators of other libraries fall back too, their views do not") {
  const Session session;
  Library library("lib");
  library.def("double_(Tensor(a!) self, Tensor? other=None) -> Tensor(a!)")
      .impl("double_", DispatchKey::CPU,
            [](Tensor& self, const std::optional<Tensor>&) -> Tensor& { return self.mul_(2); })
      .def("first(Tensor(a) self) -> Tensor(a)")
      .impl("first", DispatchKey::CPU, [](const Tensor& self) { return self.select(0, 0); });
  Tensor x = on_toy(ones({2}));
  Tensor& same = get_operator("lib::double_")
                     .typed<Tensor&(Tensor&, const std::optional<Tensor>&)>()(x, std::nullopt);
  CHECK(&same == &x);
  CHECK(values(x.cpu()) == std::vector<double>{2, 2});
  check_error<NotImplementedError>(
      [&] { get_operator("lib::first").typed<Tensor(const Tensor&)>()(x); },
      "[lib::first] its result is a view");
}
