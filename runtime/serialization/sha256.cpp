#include "runtime/serialization/sha256.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "runtime/serialization/io/byte_source.h"

namespace tenon::serialization {
namespace {

constexpr size_t kBlockBytes = 64;
constexpr size_t kLengthBytes = 8;

constexpr std::array<uint32_t, 64> kRoundConstants{
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

uint32_t big_endian(const uint8_t* from) {
  return static_cast<uint32_t>(from[0]) << 24 | static_cast<uint32_t>(from[1]) << 16 |
         static_cast<uint32_t>(from[2]) << 8 | from[3];
}

/// The compression function over one block (FIPS 180-4, 6.2.2).
void compress(std::array<uint32_t, 8>& state, const uint8_t* block) {
  std::array<uint32_t, 64> w;
  for (size_t t = 0; t < 16; ++t) w[t] = big_endian(block + 4 * t);
  for (size_t t = 16; t < 64; ++t) {
    const uint32_t s0 = std::rotr(w[t - 15], 7) ^ std::rotr(w[t - 15], 18) ^ (w[t - 15] >> 3);
    const uint32_t s1 = std::rotr(w[t - 2], 17) ^ std::rotr(w[t - 2], 19) ^ (w[t - 2] >> 10);
    w[t] = w[t - 16] + s0 + w[t - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (size_t t = 0; t < 64; ++t) {
    const uint32_t sum1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const uint32_t choice = (e & f) ^ (~e & g);
    const uint32_t t1 = h + sum1 + choice + kRoundConstants[t] + w[t];
    const uint32_t sum0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const uint32_t majority = (a & b) ^ (a & c) ^ (b & c);
    h = g;
    g = f;
    f = e;
    e = d + t1;
    d = c;
    c = b;
    b = a;
    a = t1 + sum0 + majority;
  }
  const std::array<uint32_t, 8> worked{a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < state.size(); ++i) state[i] += worked[i];
}

}  // namespace

void Sha256::update(const void* data, size_t bytes) {
  if (bytes == 0) return;
  const auto* from = static_cast<const uint8_t*>(data);
  const size_t held = bytes_ % kBlockBytes;
  bytes_ += bytes;
  if (held > 0) {
    const size_t taken = std::min(bytes, kBlockBytes - held);
    std::memcpy(pending_.data() + held, from, taken);
    if (held + taken < kBlockBytes) return;
    compress(state_, pending_.data());
    from += taken;
    bytes -= taken;
  }
  for (; bytes >= kBlockBytes; from += kBlockBytes, bytes -= kBlockBytes) compress(state_, from);
  std::copy_n(from, bytes, pending_.begin());
}

Sha256::Digest Sha256::digest() const {
  Sha256 last = *this;
  const uint64_t bits = bytes_ * 8;
  // A one bit, then zeros, so that the length ends a block.
  std::array<uint8_t, 2 * kBlockBytes> padding{0x80};
  const size_t held = bytes_ % kBlockBytes;
  const size_t zeros_end =
      (held < kBlockBytes - kLengthBytes ? kBlockBytes : 2 * kBlockBytes) - held;
  for (size_t i = 0; i < kLengthBytes; ++i)
    padding[zeros_end - 1 - i] = static_cast<uint8_t>(bits >> (8 * i));
  last.update(padding.data(), zeros_end);
  Digest digest;
  for (size_t i = 0; i < digest.size(); ++i)
    digest[i] = static_cast<uint8_t>(last.state_[i / 4] >> (24 - 8 * (i % 4)));
  return digest;
}

std::string Sha256::hex() const {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  for (const uint8_t byte : digest()) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::string sha256_hex(std::string_view text) {
  Sha256 sha;
  sha.update(text);
  return sha.hex();
}

std::string sha256_file(const std::string& path) {
  constexpr size_t kChunk = 1 << 20;
  const FileSource file(path);
  std::vector<char> buffer(kChunk);
  Sha256 sha;
  for (uint64_t at = 0; at < file.size();) {
    const auto bytes = static_cast<size_t>(std::min<uint64_t>(kChunk, file.size() - at));
    file.read(at, buffer.data(), bytes);
    sha.update(buffer.data(), bytes);
    at += bytes;
  }
  return sha.hex();
}

}  // namespace tenon::serialization
