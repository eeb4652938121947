#include <catch2/catch.hpp>

#include "runtime/distributed/process_group.h"
#include "tenon/config.h"
#include "tests/runtime/distributed/ranks.h"

using namespace tenon;
using namespace tenon::distributed;
using namespace tenon::test;

TEST_CASE("backends: those of the build, and what is said of others") {
  const std::string without =
      TENON_HAS_GLOO
          ? ""
          : "; several ranks need Gloo, and this build is without it: TENON_GLOO=OFF, or "
            "CMake did not find it (libgloo-dev)";
  CHECK(is_backend_available("single"));
  CHECK(is_backend_available("gloo") == (TENON_HAS_GLOO == 1));
  const auto store = std::make_shared<HashStore>();
  const auto error = [&](const std::string& backend, int size) {
    return error_of([&] { ProcessGroup(backend, store, 0, size, std::chrono::seconds(1)); });
  };
  CHECK(error("single", 2) ==
        "[init_process_group] the backend single is for one rank, got 2" + without);
  CHECK(error("ucc", 1).find("there is no backend 'ucc' in this build (there is no "
                             "libtenon_distributed_ucc.so); there are: ") != std::string::npos);
  CHECK(error("ucc", 1).ends_with("single" + without));
  CHECK(error_of([&] { init_process_group({.backend = "ucc", .store = store}); }) ==
        error("ucc", 1));
  // A group of one needs no engine.
  const auto group = std::make_shared<ProcessGroup>("single", store, 0, 1);
  CHECK(all_gather_object("x", group) == std::vector<std::string>{"x"});
}
