#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>

#include "runtime/serialization/sha256.h"

namespace tenon::serialization {
namespace {

// The examples of FIPS 180-4 that NIST publishes beside the standard.
TEST_CASE("sha256: NIST's examples", "[serialization]") {
  CHECK(sha256_hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256_hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(sha256_hex(
            "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqkl"
            "mnopqrlmnopqrsmnopqrstnopqrstu") ==
        "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
  CHECK(sha256_hex(std::string(1000000, 'a')) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  // From NIST's byte-oriented vectors: messages of 1 and 64 bytes.
  CHECK(sha256_hex("\xbd") == "68325720aabd7c82f30f554b313d0570c95accbb7dc4b5aae11204c08ffe732b");
  CHECK(sha256_hex(std::string(64, '\0')) ==
        "f5a5fd42d16a20302798ef6ed309979b43003d2320d9f0e8ea9831a92759fb4b");
  CHECK(sha256_hex(std::string(55, '\0')) ==
        "02779466cdec163811d078815c633f21901413081449002f24aa3e80f0b88ef7");
  CHECK(sha256_hex(std::string(56, '\0')) ==
        "d4817aa5497628e7c77e6b606107042bbba3130888c5f47a375e6179be789fbb");
}

TEST_CASE("sha256: pieces of any size give the whole's digest", "[serialization]") {
  std::string text;
  for (int i = 0; i < 300; ++i) text += static_cast<char>(i * 37);
  const std::string whole = sha256_hex(text);
  for (const size_t piece : {1, 3, 55, 56, 63, 64, 65, 127, 128, 299}) {
    Sha256 sha;
    for (size_t at = 0; at < text.size(); at += piece)
      sha.update(std::string_view(text).substr(at, piece));
    CHECK(sha.hex() == whole);
    CHECK(sha.hex() == whole);  // asking changes nothing
  }
}

TEST_CASE("sha256: of a file", "[serialization]") {
  const auto path =
      std::filesystem::temp_directory_path() / ("tenon_sha256_" + std::to_string(::getpid()));
  const std::string text(3'000'000, 'x');
  std::ofstream(path, std::ios::binary) << text;
  CHECK(sha256_file(path.string()) == sha256_hex(text));
  std::filesystem::remove(path);
  CHECK_THROWS_WITH(sha256_file(path.string()), Catch::Contains("cannot open"));
}

}  // namespace
}  // namespace tenon::serialization
