#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "runtime/serialization/io/crc32.h"

using namespace tenon::serialization;

namespace {

/// The definition, bit by bit.
uint32_t by_definition(const uint8_t* data, size_t bytes) {
  uint32_t state = ~0u;
  for (size_t i = 0; i < bytes; ++i) {
    state ^= data[i];
    for (int bit = 0; bit < 8; ++bit) state = (state >> 1) ^ (state & 1 ? 0xEDB88320u : 0u);
  }
  return ~state;
}

std::vector<uint8_t> noise(size_t bytes) {
  std::mt19937 random(1);
  std::vector<uint8_t> data(bytes);
  for (uint8_t& byte : data) byte = static_cast<uint8_t>(random());
  return data;
}

}  // namespace

TEST_CASE("CRC-32 of known texts") {
  CHECK(crc32(0, "", 0) == 0);
  CHECK(crc32(0, "123456789", 9) == 0xCBF43926);  // the check value of the algorithm's catalogue
  CHECK(crc32(crc32(0, "1234", 4), "56789", 5) == 0xCBF43926);
}

TEST_CASE("every way of computing CRC-32 gives the same") {
  const std::vector<uint8_t> data = noise(1500);
  for (const auto& kernel : detail::crc32_kernels()) {
    if (!kernel.supported) continue;
    INFO(kernel.name);
    for (size_t offset = 0; offset < 3; ++offset) {
      for (size_t n = 0; n + offset <= data.size(); n += n < 600 ? 1 : 37) {
        const bool same = ~kernel.update(~0u, &data[offset], n) == by_definition(&data[offset], n);
        if (!same) FAIL_CHECK("offset " << offset << ", " << n << " bytes");
      }
    }
  }
}

TEST_CASE("CRC-32 of pieces") {
  const std::vector<uint8_t> data = noise(1000);
  for (size_t n = 0; n <= data.size(); n += 50) {
    const uint32_t first = crc32(0, data.data(), n);
    const uint32_t second = crc32(0, data.data() + n, data.size() - n);
    CHECK(crc32_combine(first, second, data.size() - n) == crc32(0, data.data(), data.size()));
  }
  // Zeros after a message, more than can be summed: x^(2^32 - 1) = 1 mod P.
  CHECK(crc32_combine(0x1234, 0, (uint64_t{1} << 32) - 1) == 0x1234);
}
