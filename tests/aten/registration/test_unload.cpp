// A shared library that registers operators is loaded, used and unloaded.
#include <dlfcn.h>

#include <optional>

#include "aten/generated_support/tensor_factories.h"
#include "aten/registration/library.h"
#include "autograd/autograd.h"
#include "tests/aten/test_support.h"

using namespace tenon;
using namespace tenon::test;

TEST_CASE("registration: unloading a library takes its operators and kernels with it") {
  const Tensor x = tensor({-2.});
  for (int round = 0; round < 2; ++round) {
    CHECK(find_operator("plugin::triple") == nullptr);
    void* handle = dlopen(TENON_TEST_PLUGIN, RTLD_NOW | RTLD_LOCAL);
    INFO((handle ? "" : dlerror()));
    REQUIRE(handle);
    const OperatorEntry& triple = get_operator("plugin::triple");
    const auto call = triple.typed<Tensor(const Tensor&)>();
    CHECK(values(call(x)) == std::vector<double>{-6});
    CHECK(values(x.abs()) == std::vector<double>{-200});
    CHECK(find_operator("plugin::pair"));

    CHECK(dlclose(handle) == 0);
    CHECK(dlopen(TENON_TEST_PLUGIN, RTLD_NOW | RTLD_NOLOAD) == nullptr);
    CHECK(find_operator("plugin::triple") == nullptr);
    CHECK(find_operator("plugin::pair") == nullptr);
    check_error([&] { call(x); }, "the library that defined it has been unloaded");
    CHECK(values(x.abs()) == std::vector<double>{2});
  }
}

TEST_CASE("registration: a library of generated operators stays for graphs and handles") {
  void* handle = dlopen(TENON_TEST_OPERATORS, RTLD_NOW | RTLD_LOCAL);
  INFO((handle ? "" : dlerror()));
  REQUIRE(handle);
  const auto cube = get_operator("unload::cube").typed<Tensor(const Tensor&)>();
  Tensor x = tensor({-2.});
  x.set_requires_grad(true);
  const Tensor y = cube(x);
  std::optional<Tensor> unused = cube(y);
  CHECK(dlclose(handle) == 0);

  autograd::backward({y.sum()});
  CHECK(values(x.grad()) == std::vector<double>{12});
  CHECK(values(cube(x.detach())) == std::vector<double>{-8});
  CHECK(find_operator("unload::cube"));
  unused.reset();
}
