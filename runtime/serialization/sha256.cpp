#include "runtime/serialization/sha256.h"

#include <algorithm>
#include <vector>

#include "aten/core/error.h"
#include "runtime/serialization/io/byte_source.h"
#include "tenon/config.h"

#if TENON_HAS_OPENSSL
#include <openssl/evp.h>
#endif

namespace tenon::serialization {

#if TENON_HAS_OPENSSL

namespace {

void check(bool done) {
  if (!done) tenon::detail::raise<Error>("[sha256] OpenSSL could not compute a digest");
}

}  // namespace

void Sha256::Free::operator()(evp_md_ctx_st* context) const { EVP_MD_CTX_free(context); }

Sha256::Sha256() : context_(EVP_MD_CTX_new()) {
  check(context_ && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1);
}

void Sha256::update(const void* data, size_t bytes) {
  check(EVP_DigestUpdate(context_.get(), data, bytes) == 1);
}

Sha256::Digest Sha256::digest() const {
  // Finishing ends a context.
  const Context last(EVP_MD_CTX_new());
  Digest digest;
  check(last && EVP_MD_CTX_copy_ex(last.get(), context_.get()) == 1 &&
        EVP_DigestFinal_ex(last.get(), digest.data(), nullptr) == 1);
  return digest;
}

#else

void Sha256::Free::operator()(evp_md_ctx_st*) const {}

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
