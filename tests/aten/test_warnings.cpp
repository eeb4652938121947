#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "aten/dispatch/warning.h"
#include "tests/stderr_of.h"

using namespace tenon;
using tenon::test::stderr_of;

namespace {

struct Kept : WarningHandler {
  void process(const Warning& warning) override { messages.push_back(warning.msg()); }
  std::vector<std::string> messages;
};

void warn_once() { TENON_WARN_ONCE("once"); }

}  // namespace

TEST_CASE("warnings go to the thread's handler, and to the error stream without one") {
  Kept kept;
  {
    const WarningUtils::WarningHandlerGuard guard(&kept);
    TENON_WARN("size ", 3);
  }
  CHECK(kept.messages == std::vector<std::string>{"size 3"});
  CHECK(stderr_of([] { TENON_WARN("size ", 3); }) == "tenon: warning: size 3\n");
}

TEST_CASE("what warns once warns again under WarnAlways") {
  Kept kept;
  const WarningUtils::WarningHandlerGuard guard(&kept);
  warn_once();
  warn_once();
  CHECK(kept.messages.size() == 1);
  {
    const Warning::WarnAlways always;
    warn_once();
  }
  warn_once();
  CHECK(kept.messages.size() == 2);
}
