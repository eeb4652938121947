// Libraries that were built for the stable interface, of this version and of an earlier one.
#include <cstddef>

#include "aten/dispatch/load_library.h"
#include "aten/generated_support/tensor_factories.h"
#include "aten/registration/library.h"
#include "aten/stable/interface.h"
#include "autograd/autograd.h"
#include "tenon/config.h"
#include "tenon/ops/arange.h"
#include "tenon/ops/full_like.h"
#include "tests/aten/test_support.h"

#undef TENON_INTERFACE_MAJOR
#undef TENON_INTERFACE_MINOR
namespace released_1_0 {
#include "tests/aten/stable/released/interface_1_0.h"
}
#undef TENON_INTERFACE_MAJOR
#undef TENON_INTERFACE_MINOR

using namespace tenon;
using namespace tenon::test;

namespace {

using Names = std::vector<std::string>;

void load_own() { load_library(TENON_TEST_STABLE "stable_library.so"); }

std::vector<Value> call(const char* name, Stack stack) {
  get_operator(name).call_boxed(stack);
  return stack;
}

}  // namespace

TEST_CASE("stable: what version 1.0 has stands where it was") {
#define SAME(type, member) \
  static_assert(offsetof(::type, member) == offsetof(released_1_0::type, member))
  SAME(TenonInterface, major);
  SAME(TenonInterface, size);
  SAME(TenonInterface, version);
  SAME(TenonInterface, set_error);
  SAME(TenonInterface, error_text);
  SAME(TenonInterface, allocate);
  SAME(TenonInterface, release_value);
  SAME(TenonInterface, tensor_empty);
  SAME(TenonInterface, tensor_from_memory);
  SAME(TenonInterface, tensor_retain);
  SAME(TenonInterface, tensor_release);
  SAME(TenonInterface, tensor_dim);
  SAME(TenonInterface, tensor_sizes);
  SAME(TenonInterface, tensor_strides);
  SAME(TenonInterface, tensor_numel);
  SAME(TenonInterface, tensor_dtype);
  SAME(TenonInterface, tensor_layout);
  SAME(TenonInterface, tensor_device);
  SAME(TenonInterface, tensor_is_contiguous);
  SAME(TenonInterface, tensor_requires_grad);
  SAME(TenonInterface, tensor_data);
  SAME(TenonInterface, operator_find);
  SAME(TenonInterface, operator_call);
  SAME(TenonInterface, operator_redispatch);
  SAME(TenonInterface, library_open);
  SAME(TenonInterface, library_define);
  SAME(TenonInterface, library_kernel);
  SAME(TenonInterface, thread_count);
  SAME(TenonInterface, parallel_for);
  SAME(TenonInterface, is_recording);
  SAME(TenonInterface, set_recording);
  SAME(TenonValue, count);
  SAME(TenonValue, as);
  SAME(TenonStableLibrary, start);
#undef SAME
  static_assert(sizeof(::TenonValue) == sizeof(released_1_0::TenonValue));
  static_assert(static_cast<int>(::TENON_DEVICE) == static_cast<int>(released_1_0::TENON_DEVICE));
  CHECK(sizeof(::TenonInterface) > sizeof(released_1_0::TenonInterface));
}

TEST_CASE("stable: a library of version 1.0 loads and runs") {
  const std::string path = TENON_TEST_STABLE "built_with_1_0.so";
  CHECK(load_library(path) == Names{"built_with_1_0::add_amount", "built_with_1_0::squared"});
  // Loading it again changes nothing.
  CHECK(load_library(path) == Names{"built_with_1_0::add_amount", "built_with_1_0::squared"});
  const auto add =
      get_operator("built_with_1_0::add_amount").typed<Tensor(const Tensor&, double)>();
  const Tensor x = tensor({1.f, 2.f});
  CHECK(values(add.call(x, 3)) == std::vector<double>{4, 5});
  check_error([&] { add.call(tensor({1.}).to(kDouble), 3); }, "[add_amount] expected float32");
  CHECK_THROWS_AS(add.call(tensor({1.}).to(kDouble), 3), TypeError);
  Tensor y = tensor({1.f, 3.f});
  y.requires_grad_();
  const auto squared = get_operator("built_with_1_0::squared").typed<Tensor(const Tensor&)>();
  squared.call(y).sum().backward();
  CHECK(values(y.grad()) == std::vector<double>{2, 6});
}

TEST_CASE("stable: a library that needs another version is not started") {
  const std::string now = "; Tenon " TENON_VERSION " has version 1.1. ";
  const std::string major = TENON_TEST_STABLE "needs_2_0.so";
  check_error([&] { load_library(major); },
              major + " was built for version 2.0 of the stable interface" + now +
                  "Use a newer Tenon, or build the library with the headers of this one");
  const std::string minor = TENON_TEST_STABLE "needs_1_99.so";
  check_error([&] { load_library(minor); }, " was built for version 1.99 of the stable interface");
  const std::string old = TENON_TEST_STABLE "needs_0_3.so";
  check_error([&] { load_library(old); }, "Build the library with the headers of this Tenon");
}

TEST_CASE("stable: a library of C++ types that was built against another Tenon is not loaded") {
  const std::string path = TENON_TEST_STABLE "of_another_tenon.so";
  check_error([&] { load_library(path); },
              path + " was built against Tenon 0.1; this is Tenon " TENON_VERSION
                     ". Build it again, or build it once for several versions");
}

TEST_CASE("stable: what fails to start leaves nothing behind") {
  const std::string path = TENON_TEST_STABLE "failing_library.so";
  for (int round = 0; round < 2; ++round) {
    check_error([&] { load_library(path); },
                "/aten/stable/failing_library.cpp:4) the schema does not parse");
    CHECK(find_operator("stable_failing::first") == nullptr);
  }
}

TEST_CASE("stable: kernels, derivatives and meta tensors") {
  load_own();
  const auto scale = get_operator("stable_test::scale").typed<Tensor(const Tensor&, double)>();
  Tensor x = arange(12, kFloat).view({3, 4}).t();
  CHECK(scale.call(x, 3).equal(x * 3));
  CHECK(scale.call(x.to(kMeta), 3).sizes() == x.sizes());
  check_error([&] { scale.call(x, -1); }, "[scale] factor must not be negative");
  CHECK_THROWS_AS(scale.call(x, -1), ValueError);
  CHECK_THROWS_AS(scale.call(x.to(kDouble), 1), TypeError);
  Tensor y = x.clone();
  y.requires_grad_();
  const Tensor grad =
      autograd::grad({scale.call(y * y, 5).sum()}, {y}, {}, {.create_graph = true})[0];
  CHECK(grad.equal(10 * y));
  CHECK(autograd::grad({grad.sum()}, {y})[0].equal(full_like(y, 10)));
  CHECK(grad.requires_grad());
}

TEST_CASE("stable: a derivative saves lists and counts changes in place") {
  load_own();
  Tensor x = tensor({2.f, 3.f});
  Tensor a = tensor({1.f, 1.f});
  Tensor b = tensor({5.f, 6.f});
  for (Tensor* t : {&x, &a, &b}) t->requires_grad_();
  Tensor shifted = x + 0;
  const Tensor y = Tensor(
      call("stable_test::gather_up", {TensorBase(shifted), Value::Tensors{a, b}})[0].to_tensor());
  CHECK(values(y) == std::vector<double>{10, 16});
  CHECK(y.grad_fn()->name() == "Gather_upBackward0");
  const auto grads = autograd::grad({y.sum()}, {x, a, b}, {}, {.retain_graph = true});
  CHECK(values(grads[0]) == std::vector<double>{4, 6});
  CHECK(values(grads[1]) == std::vector<double>{1, 1});
  CHECK(values(grads[2]) == std::vector<double>{1, 1});
  shifted.mul_(2);
  check_error([&] { autograd::grad({y.sum()}, {x}); }, "modified by an inplace operation");
}

TEST_CASE("stable: every kind of value goes in and out") {
  load_own();
  const Tensor t = tensor({1.f});
  const Stack out = call("stable_test::describe", {TensorBase(t), Scalar(2.5), Value::Ints{3, 4},
                                                   Value(), Value::Bools{true, false, true}, "four",
                                                   kInt, Device(kMeta), TensorBase(t)});
  CHECK(out[0].to_tensor().is_same(t));
  CHECK(out[1].to_int() == 3 + 4 + 200 + 4 + static_cast<int>(kInt) + static_cast<int>(kMeta));
  CHECK(out[2].to_double() == 1002.5);
  CHECK(out[3].to_bool());
  const Stack list = call("stable_test::twice", {TensorBase(t)});
  REQUIRE(list[0].to_tensors().size() == 2);
  CHECK(list[0].to_tensors()[0].is_same(t));
}

TEST_CASE("stable: a change in place is counted") {
  load_own();
  const Tensor t = tensor({1.f, 2.f});
  const int64_t before = t._version();
  CHECK(call("stable_test::add_one_", {TensorBase(t)})[0].to_tensor().is_same(t));
  CHECK(values(t) == std::vector<double>{2, 3});
  CHECK(t._version() == before + 1);
}

TEST_CASE("stable: errors keep their class and text") {
  load_own();
  const Tensor t = tensor({1.f, 2.f});
  const auto fails = [&](int64_t how) { call("stable_test::fails", {TensorBase(t), how}); };
  check_error([&] { fails(0); }, "shape '[7]' is invalid for input of size 2");
  check_error([&] { fails(1); }, "a standard exception");
  CHECK_THROWS_AS(fails(2), IndexError);
  check_error([&] { fails(3); }, "no operator 'aten::no_such'");
  check_error([&] { fails(4); }, "[aten::mul] no overload takes (tensor, string); there are:");
  CHECK_THROWS_AS(fails(5), TypeError);
}
