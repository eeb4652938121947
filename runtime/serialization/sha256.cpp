#include "runtime/serialization/sha256.h"

#include <algorithm>
#include <vector>

#include "aten/core/error.h"
#include "runtime/serialization/io/byte_source.h"
#include "tenon/config.h"

#if TENON_HAS_OPENSSL
// The functions of this algorithm alone: those of any algorithm, EVP_*, would link 3.4 MB into the
// package. OpenSSL 3 calls them deprecated.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>
#endif

namespace tenon::serialization {

#if TENON_HAS_OPENSSL

namespace {

void check(bool done) {
  if (!done) tenon::detail::raise<Error>("[sha256] OpenSSL could not compute a digest");
}

}  // namespace

void Sha256::Free::operator()(SHA256state_st* state) const { delete state; }

Sha256::Sha256() : state_(new SHA256state_st) { check(SHA256_Init(state_.get()) == 1); }

void Sha256::update(const void* data, size_t bytes) {
  check(SHA256_Update(state_.get(), data, bytes) == 1);
}

Sha256::Digest Sha256::digest() const {
  SHA256state_st last = *state_;  // finishing ends a message
  Digest digest;
  check(SHA256_Final(digest.data(), &last) == 1);
  return digest;
}

#else

void Sha256::Free::operator()(SHA256state_st*) const {}

Sha256::Sha256() {
  tenon::detail::raise<NotImplementedError>(
      "[sha256] this Tenon was built without OpenSSL, which SHA-256 needs; build it with OpenSSL "
      "(on Debian libssl-dev), or leave the check out");
}

void Sha256::update(const void*, size_t) {}

Sha256::Digest Sha256::digest() const { return {}; }

#endif

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
