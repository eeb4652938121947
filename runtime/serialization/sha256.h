#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "aten/core/macros.h"

struct SHA256state_st;

namespace tenon::serialization {

/// SHA-256 (FIPS 180-4) of a message that comes in pieces, as OpenSSL computes it. In a build
/// without OpenSSL the constructor throws NotImplementedError.
class TENON_API Sha256 {
 public:
  using Digest = std::array<uint8_t, 32>;

  Sha256();

  /// Continues the message.
  void update(const void* data, size_t bytes);
  void update(std::string_view text) { update(text.data(), text.size()); }
  /// The digest of the message so far, which may go on.
  Digest digest() const;
  /// The digest in 64 lower-case hexadecimal digits.
  std::string hex() const;

 private:
  struct Free {
    void operator()(SHA256state_st* state) const;
  };

  std::unique_ptr<SHA256state_st, Free> state_;
};

/// The digest of `text` in hexadecimal digits.
TENON_API std::string sha256_hex(std::string_view text);
/// The digest of a file in hexadecimal digits. Error "[load] cannot open ..." or "[load] cannot
/// read ...".
TENON_API std::string sha256_file(const std::string& path);

}  // namespace tenon::serialization
