#include "aten/core/parallel.h"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>

using namespace tenon;

namespace {

int64_t sum_below(int64_t end) {
  std::atomic<int64_t> sum{0};
  parallel_for(0, end, 1, [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; ++i) sum += i;
  });
  return sum;
}

}  // namespace

TEST_CASE("A child of fork() computes where its parent used several threads", "[parallel]") {
  const int before = get_num_threads();
  set_num_threads(2);
  REQUIRE(sum_below(100) == 4950);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    alarm(60);  // ends a child that waits for its parent's threads
    set_num_threads(2);
    const bool right = sum_below(100) == 4950 && get_num_threads() == 1;
    _exit(right ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(sum_below(100) == 4950);
  set_num_threads(before);
}
