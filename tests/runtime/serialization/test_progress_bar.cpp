#include <fcntl.h>

#include <catch2/catch.hpp>
#include <string>

#include "runtime/serialization/progress_bar.h"
#include "tests/stderr_of.h"

namespace tenon::serialization::test {
namespace {

TEST_CASE("progress: the line", "[serialization]") {
  CHECK(progress_line("x.pt", 0, 2'000'000, 0) ==
        "x.pt    0% [>                       ]  0.0/2.0 MB  0.0 B/s");
  CHECK(progress_line("x.pt", 500'000, 2'000'000, 1.5e6) ==
        "x.pt   25% [======>                 ]  0.5/2.0 MB  1.5 MB/s");
  CHECK(progress_line("x.pt", 2'000'000, 2'000'000, 2e9) ==
        "x.pt  100% [========================]  2.0/2.0 MB  2.0 GB/s");
  CHECK(progress_line("x.pt", 3'000'000, 2'000'000, 1) ==
        "x.pt  100% [========================]  3.0/2.0 MB  1.0 B/s");
  CHECK(progress_line("x.pt", 1'200, std::nullopt, 10) == "x.pt  1.2 kB  10.0 B/s");
  CHECK(progress_line("x.pt", 0, 0, 0) == "x.pt  0.0 B  0.0 B/s");
  CHECK(progress_line(std::string(40, 'a').append(".pt"), 0, std::nullopt, 0) ==
        "..." + std::string(26, 'a').append(".pt  0.0 B  0.0 B/s"));
}

void draw_two() {
  ProgressBar bar("x.pt", true);
  bar.update(500, 1000);
  bar.note("a note");
  bar.update(1000, 1000);
}

TEST_CASE("progress: on a terminal alone", "[serialization]") {
  CHECK(tenon::test::stderr_of(draw_two).empty());
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
  if (terminal < 0 || ::grantpt(terminal) != 0 || ::unlockpt(terminal) != 0) {
    WARN("no pseudo-terminal here");
    return;
  }
  const int screen = ::open(::ptsname(terminal), O_RDWR | O_NOCTTY);
  REQUIRE(screen >= 0);
  tenon::test::with_stderr(screen, draw_two);
  tenon::test::with_stderr(screen, [] { ProgressBar("x.pt", false).update(1, 2); });
  ::close(screen);
  std::string shown;
  char text[4096];
  for (ssize_t bytes; (bytes = ::read(terminal, text, sizeof(text))) > 0;)
    shown.append(text, static_cast<size_t>(bytes));
  ::close(terminal);
  const auto count = [&](const std::string& part) {
    size_t found = 0;
    for (size_t at = shown.find(part); at != std::string::npos; at = shown.find(part, at + 1))
      ++found;
    return found;
  };
  CHECK(count("50% [") == 1);
  CHECK(count("100% [") == 1);
  CHECK(count("x.pt: a note\r\n") == 1);
  CHECK(count("\x1b[K") == 3);
  CHECK(shown.ends_with("\r\n"));
}

}  // namespace
}  // namespace tenon::serialization::test
