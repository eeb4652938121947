#include "runtime/serialization/io/crc32.h"

#include <array>
#include <bit>
#include <cstring>

#ifdef __x86_64__
#include <immintrin.h>
#endif

/// CRC-32 is the remainder of the message, a polynomial over two elements, divided by P. All
/// polynomials here are bit-reflected: the highest power is bit 0. Long messages are folded (V.
/// Gopal et al., "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction", Intel,
/// 2009): a block is multiplied by x^distance mod P, by carry-less multiplication, and added to the
/// block that lies that far behind, which leaves the remainder as it was.
namespace tenon::serialization {
namespace {

constexpr uint32_t kPolynomial = 0xEDB88320;
constexpr uint32_t kOne = 0x80000000;

constexpr uint32_t times_x(uint32_t a) { return (a >> 1) ^ (a & 1 ? kPolynomial : 0); }

/// a * b mod P.
constexpr uint32_t multiply(uint32_t a, uint32_t b) {
  uint32_t product = 0;
  for (uint32_t bit = kOne; bit != 0; bit >>= 1) {
    if (a & bit) product ^= b;
    b = times_x(b);
  }
  return product;
}

/// x^n mod P.
constexpr uint32_t power_of_x(uint64_t n) {
  uint32_t result = kOne;
  for (uint32_t square = kOne >> 1; n != 0; n >>= 1) {
    if (n & 1) result = multiply(result, square);
    square = multiply(square, square);
  }
  return result;
}

using Tables = std::array<std::array<uint32_t, 256>, 8>;

constexpr Tables make_tables() {
  Tables tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) value = times_x(value);
    for (auto& table : tables) {
      table[byte] = value;
      for (int bit = 0; bit < 8; ++bit) value = times_x(value);
    }
  }
  return tables;
}

constexpr Tables kTables = make_tables();

/// Eight bytes a step, by tables.
uint32_t update_by_tables(uint32_t state, const uint8_t* data, size_t bytes) {
  if constexpr (std::endian::native == std::endian::little) {
    for (; bytes >= 8; bytes -= 8, data += 8) {
      uint64_t block;
      std::memcpy(&block, data, 8);
      block ^= state;
      state = 0;
      for (int i = 0; i < 8; ++i) state ^= kTables[7 - i][(block >> (8 * i)) & 255];
    }
  }
  for (; bytes > 0; --bytes) state = (state >> 8) ^ kTables[0][(state ^ *data++) & 255];
  return state;
}

#ifdef __x86_64__

/// What a block's two 64-bit halves are multiplied by to move it `bytes` further. The product of
/// reflected polynomials comes out one bit short, which the shift makes good.
template <uint64_t bytes>
struct Factors {
  static constexpr auto kLow = static_cast<int64_t>(uint64_t{power_of_x(8 * bytes + 32)} << 1);
  static constexpr auto kHigh = static_cast<int64_t>(uint64_t{power_of_x(8 * bytes - 32)} << 1);
};

#define TENON_TARGET __attribute__((target("pclmul,sse4.1")))

TENON_TARGET inline __m128i fold(__m128i block, __m128i factors, __m128i onto) {
  return _mm_xor_si128(_mm_xor_si128(_mm_clmulepi64_si128(block, factors, 0x00),
                                     _mm_clmulepi64_si128(block, factors, 0x11)),
                       onto);
}

TENON_TARGET inline __m128i load128(const uint8_t* from) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
}

TENON_TARGET uint32_t update_by_pclmul(uint32_t state, const uint8_t* data, size_t bytes) {
  constexpr size_t kLanes = 8, kStep = kLanes * sizeof(__m128i);
  if (bytes < 2 * kStep) return update_by_tables(state, data, bytes);
  alignas(16) __m128i lanes[kLanes];
  for (size_t i = 0; i < kLanes; ++i) lanes[i] = load128(data + 16 * i);
  lanes[0] = _mm_xor_si128(lanes[0], _mm_cvtsi32_si128(static_cast<int>(state)));
  const __m128i factors = _mm_set_epi64x(Factors<kStep>::kHigh, Factors<kStep>::kLow);
  for (data += kStep, bytes -= kStep; bytes >= kStep; data += kStep, bytes -= kStep) {
    for (size_t i = 0; i < kLanes; ++i) lanes[i] = fold(lanes[i], factors, load128(data + 16 * i));
  }
  state = update_by_tables(0, reinterpret_cast<const uint8_t*>(lanes), kStep);
  return update_by_tables(state, data, bytes);
}

#undef TENON_TARGET
#define TENON_TARGET __attribute__((target("vpclmulqdq,avx512f")))

TENON_TARGET inline __m512i fold(__m512i block, __m512i factors, __m512i onto) {
  constexpr int kXor3 = 0x96;
  return _mm512_ternarylogic_epi64(_mm512_clmulepi64_epi128(block, factors, 0x00),
                                   _mm512_clmulepi64_epi128(block, factors, 0x11), onto, kXor3);
}

template <uint64_t bytes>
TENON_TARGET inline __m512i factors512() {
  constexpr int64_t kLow = Factors<bytes>::kLow, kHigh = Factors<bytes>::kHigh;
  return _mm512_set_epi64(kHigh, kLow, kHigh, kLow, kHigh, kLow, kHigh, kLow);
}

TENON_TARGET uint32_t update_by_vpclmul(uint32_t state, const uint8_t* data, size_t bytes) {
  constexpr size_t kLanes = 4, kStep = kLanes * sizeof(__m512i);
  if (bytes < 2 * kStep) return update_by_pclmul(state, data, bytes);
  alignas(64) __m512i lanes[kLanes];
  for (size_t i = 0; i < kLanes; ++i) lanes[i] = _mm512_loadu_si512(data + 64 * i);
  lanes[0] = _mm512_xor_si512(lanes[0],
                              _mm512_zextsi128_si512(_mm_cvtsi32_si128(static_cast<int>(state))));
  const __m512i factors = factors512<kStep>();
  for (data += kStep, bytes -= kStep; bytes >= kStep; data += kStep, bytes -= kStep) {
    for (size_t i = 0; i < kLanes; ++i)
      lanes[i] = fold(lanes[i], factors, _mm512_loadu_si512(data + 64 * i));
  }
  const __m512i narrow = factors512<64>();
  for (size_t i = 1; i < kLanes; ++i) lanes[i] = fold(lanes[i - 1], narrow, lanes[i]);
  state = update_by_tables(0, reinterpret_cast<const uint8_t*>(&lanes[kLanes - 1]), 64);
  return update_by_pclmul(state, data, bytes);
}

#undef TENON_TARGET

#endif

}  // namespace

const detail::Crc32Kernel (&detail::crc32_kernels())[3] {
  static const Crc32Kernel kernels[] = {
#ifdef __x86_64__
      {"vpclmulqdq", update_by_vpclmul,
       __builtin_cpu_supports("vpclmulqdq") && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1")},
      {"pclmul", update_by_pclmul,
       __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1")},
#else
      {"vpclmulqdq", nullptr, false},
      {"pclmul", nullptr, false},
#endif
      {"tables", update_by_tables, true},
  };
  return kernels;
}

uint32_t crc32(uint32_t crc, const void* data, size_t bytes) {
  static const detail::Crc32Update update = [] {
    const auto& kernels = detail::crc32_kernels();
    size_t i = 0;
    while (!kernels[i].supported) ++i;
    return kernels[i].update;
  }();
  return ~update(~crc, static_cast<const uint8_t*>(data), bytes);
}

uint32_t crc32_combine(uint32_t first, uint32_t second, uint64_t second_bytes) {
  return multiply(power_of_x(8 * second_bytes), first) ^ second;
}

}  // namespace tenon::serialization
