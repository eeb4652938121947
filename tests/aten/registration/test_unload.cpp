// A shared library that registers operators is loaded, used and unloaded.
#include <dlfcn.h>

#include "aten/composite/tensor_factories.h"
#include "aten/registration/library.h"
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
