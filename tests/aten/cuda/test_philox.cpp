#include <catch2/catch.hpp>
#include <random>

#include "aten/cuda/divisor.cuh"
#include "aten/cuda/philox.cuh"

namespace tenon::cuda {
namespace {

void check(const Words& words, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  CHECK(words.x[0] == a);
  CHECK(words.x[1] == b);
  CHECK(words.x[2] == c);
  CHECK(words.x[3] == d);
}

// The known answers that come with the paper's Random123 library.
TEST_CASE("philox4x32-10 gives the published numbers") {
  check(philox4x32(0, 0, 0), 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8);
  check(philox4x32(~0ull, ~0ull, ~0ull), 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd);
  check(philox4x32(0x85a308d3243f6a88, 0x0370734413198a2e, 0x299f31d0a4093822), 0xd16cfe09,
        0x94fdcceb, 0x5001e420, 0x24126ea1);
}

TEST_CASE("a generator's stream advances by blocks of four words") {
  const PhiloxState start{42, 0}, later{42, 12};
  for (uint64_t thread : {0ull, 7ull}) {
    const Words a = start.block(thread, 3), b = later.block(thread, 0);
    check(a, b.x[0], b.x[1], b.x[2], b.x[3]);
  }
}

TEST_CASE("division by a constant agrees with division") {
  std::mt19937 random(3);
  const auto below = [&](uint32_t limit) { return static_cast<uint32_t>(random() % limit); };
  constexpr uint32_t kLimit = 1u << 31;
  for (int i = 0; i < 20000; ++i) {
    const uint32_t d = 1 + (i < 2000 ? static_cast<uint32_t>(i) : below(kLimit - 1));
    const Divisor divisor(d);
    for (uint32_t n : {0u, d - 1, d, kLimit - 1, below(kLimit)}) {
      if (divisor.quotient(n) != n / d) FAIL(n << " / " << d << " gave " << divisor.quotient(n));
    }
  }
}

}  // namespace
}  // namespace tenon::cuda
