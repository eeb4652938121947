#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "aten/core/macros.h"

namespace tenon::serialization {

/// SHA-256 (FIPS 180-4) of a message that comes in pieces.
class TENON_API Sha256 {
 public:
  using Digest = std::array<uint8_t, 32>;

  /// Continues the message.
  void update(const void* data, size_t bytes);
  void update(std::string_view text) { update(text.data(), text.size()); }
  /// The digest of the message so far, which may go on.
  Digest digest() const;
  /// The digest in 64 lower-case hexadecimal digits.
  std::string hex() const;

 private:
  static constexpr size_t kBlockBytes = 64;

  std::array<uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<uint8_t, kBlockBytes> pending_{};
  uint64_t bytes_ = 0;
};

/// The digest of `text` in hexadecimal digits.
TENON_API std::string sha256_hex(std::string_view text);
/// The digest of a file in hexadecimal digits. Error "[load] cannot open ..." or "[load] cannot
/// read ...".
TENON_API std::string sha256_file(const std::string& path);

}  // namespace tenon::serialization
