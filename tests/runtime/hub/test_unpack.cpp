#include <catch2/catch.hpp>

#include "aten/core/error.h"
#include "runtime/hub/unpack.h"
#include "tenon/config.h"
#include "tests/runtime/hub/support.h"
#include "tests/runtime/hub/zip_bytes.h"

using Catch::Contains;
using tenon::Error;

namespace tenon::hub::test {
namespace {

constexpr uint64_t kMany = 1 << 20;
// The same files, as `git archive` and `git archive -0` write them.
const std::string kDeflated = TENON_TEST_DIR "/runtime/hub/data/deflated.zip";
const std::string kStored = TENON_TEST_DIR "/runtime/hub/data/repository.zip";

/// Unpacks an archive's bytes, and after a failure checks that nothing is left of it.
void unpack_bytes(const TemporaryFolder& folder, const std::string& bytes,
                  const UnpackLimits& limits = {.bytes = kMany}) {
  write_file(folder / "x.zip", bytes);
  try {
    unpack(folder / "x.zip", folder / "out", limits);
  } catch (const Error& error) {
    CHECK_THAT(error.what(), Contains(folder / "x.zip"));
    CHECK(folder.entries() == 1);
    throw;
  }
}

TEST_CASE("unpack: what git archive writes", "[hub]") {
  const TemporaryFolder folder;
  unpack_bytes(folder, read_file(TENON_HAS_ZLIB ? kDeflated : kStored));
  CHECK(read_file(folder / "out/README.md") == "# LeNet\n");
  CHECK(read_file(folder / "out/run.sh") == "#!/bin/sh\nexit 1\n");
  std::string labels;
  for (int i = 1; i <= 40; ++i) labels += "label " + std::to_string(i) + "\n";
  CHECK(read_file(folder / "out/data/labels.txt") == labels);
  CHECK(std::filesystem::is_empty(folder / "out/data/empty"));
  CHECK(folder.entries() == 2);
  // What is there is not written over.
  CHECK_THROWS_AS(unpack(folder / "x.zip", folder / "out", {.bytes = kMany}), Error);
  CHECK(read_file(folder / "out/README.md") == "# LeNet\n");
}

TEST_CASE("unpack: folders need no entries, files may be from any system", "[hub]") {
  const TemporaryFolder folder;
  unpack_bytes(folder,
               zip_bytes({{"top/a/b/c", "deep"}, {"top/d", "", 0}, {"top/e/", "", 040755}}));
  CHECK(read_file(folder / "out/a/b/c") == "deep");
  CHECK(std::filesystem::is_regular_file(folder / "out/d"));
  CHECK(std::filesystem::is_directory(folder / "out/e"));
}

TEST_CASE("unpack: no name leads out of the folder", "[hub]") {
  const TemporaryFolder folder;
  const auto check = [&](const std::vector<ZipEntry>& entries) {
    CHECK_THROWS_WITH(unpack_bytes(folder, zip_bytes(entries)),
                      Contains("is not unpacked: ") || Contains("is not in the folder") ||
                          Contains("is in no folder"));
  };
  for (const std::string& name : {std::string("../x"),
                                  std::string("top/../x"),
                                  std::string("top/../../x"),
                                  std::string("top/a/.."),
                                  std::string("/x"),
                                  std::string("/top/x"),
                                  std::string("//x"),
                                  std::string("top//x"),
                                  std::string("top/./x"),
                                  std::string("./x"),
                                  std::string(".."),
                                  std::string("top\\..\\x"),
                                  std::string("..\\x"),
                                  std::string("C:\\x"),
                                  std::string("x"),
                                  std::string(),
                                  std::string("other/x"),
                                  std::string("top/a\nb"),
                                  std::string("top/a\x1b[2J"),
                                  std::string("top/a\0b", 7),
                                  "top/" + std::string(300, 'a')}) {
    CAPTURE(name);
    check({{"top/a", "1"}, {name, "2"}});
    check({{name, "2"}, {"top/b", "1"}});
  }
}

TEST_CASE("unpack: links and special files are refused", "[hub]") {
  const TemporaryFolder folder;
  for (const uint32_t type : {0120000u, 0010000u, 0020000u, 0060000u, 0140000u}) {
    CHECK_THROWS_WITH(
        unpack_bytes(folder, zip_bytes({{"top/a", "1"}, {"top/link", "/etc", type | 0777}})),
        Contains("'link' is "));
  }
  CHECK_THROWS_WITH(
      unpack_bytes(folder, read_file(TENON_TEST_DIR "/runtime/hub/data/symbolic_link.zip")),
      Contains("symbolic link"));
}

TEST_CASE("unpack: a name occurs once, as a file or as a folder", "[hub]") {
  const TemporaryFolder folder;
  const auto check = [&](const std::vector<ZipEntry>& entries, const std::string& text) {
    CHECK_THROWS_WITH(unpack_bytes(folder, zip_bytes(entries)), Contains(text));
  };
  check({{"top/a", "1"}, {"top/a", "2"}}, "two records 'top/a'");
  check({{"top/a", "1"}, {"top/a/b", "2"}}, "'a' is both a file and a folder");
  check({{"top/a/b", "1"}, {"top/a", "2"}}, "'a' is both a file and a folder");
  check({{"top/a/", "", 040755}, {"top/a", "2"}}, "'a' is both a file and a folder");
  check({{"top/a/", "", 0100644}}, "neither a file nor a folder");
  check({{"top/a/", "bytes", 040755}}, "has bytes");
  check({}, "is empty");
}

// Deflated data (RFC 1951): one block, not compressed, of three bytes.
const std::string kThree("\x01\x03\x00\xfc\xff"
                         "abc",
                         8);

TEST_CASE("unpack: what an entry says must hold", "[hub]") {
  const TemporaryFolder folder;
  CHECK_THROWS_WITH(
      unpack_bytes(folder, zip_bytes({{"top/a", "12345"}, {"top/b", "67890"}}), {.bytes = 9}),
      Contains("more than the 9 bytes allowed"));
  const ZipEntry small{"top/a", kThree, 0100644, 8, 3, 0x352441c2};
#if !TENON_HAS_ZLIB
  CHECK_THROWS_WITH(unpack_bytes(folder, zip_bytes({small})), Contains("has no zlib"));
#else
  unpack_bytes(folder, zip_bytes({small}));
  CHECK(read_file(folder / "out/a") == "abc");
  std::filesystem::remove_all(folder / "out");
  const auto check = [&](ZipEntry entry, const std::string& text) {
    CHECK_THROWS_WITH(unpack_bytes(folder, zip_bytes({entry})), Contains(text));
  };
  ZipEntry liar = small;
  liar.size = 0;
  check(liar, "inflates to more than its 0 bytes");
  liar.size = 2;
  check(liar, "inflates to more than its 2 bytes");
  liar.size = 4;
  check(liar, "inflates to 3 bytes, expected 4");
  liar.size = 0x7fffffff;
  check(liar, "more than its 8 deflated ones can become");
  liar.size = 9;
  liar.method = 0;
  check(liar, "has sizes 8 and 9");

  ZipEntry bad = small;
  bad.data[6] = 'X';
  bad.crc = small.crc;
  check(bad, "is damaged");
  bad = small;
  bad.data.pop_back();
  check(bad, "end early");
  bad = small;
  bad.data[0] = '\x07';
  check(bad, "is damaged");
  bad = small;
  bad.flags = 1;
  check(bad, "is encrypted");
  bad = small;
  bad.method = 12;
  check(bad, "method 12");
#endif
}

TEST_CASE("unpack: entries, folders, names and depth are limited", "[hub]") {
  const TemporaryFolder folder;
  const auto check = [&](const std::vector<ZipEntry>& entries, const UnpackLimits& limits,
                         const std::string& text) {
    CHECK_THROWS_WITH(unpack_bytes(folder, zip_bytes(entries), limits), Contains(text));
  };
  const std::vector<ZipEntry> three{{"top/a", "1"}, {"top/b", "2"}, {"top/c", "3"}};
  unpack_bytes(folder, zip_bytes(three), {.bytes = kMany, .entries = 3});
  std::filesystem::remove_all(folder / "out");
  // Before the directory is read, and for folders that names alone mention, while it is.
  check(three, {.bytes = kMany, .entries = 2}, "more than the 2 of");
  check({{"top/a/b/c", "1"}}, {.bytes = kMany, .entries = 2}, "more than the 2 files and folders");
  check({{"top/a/b/c", "1"}}, {.bytes = kMany, .depth = 2}, "more than the 2 parts allowed");
  check({{"top/a/b/c", "1"}}, {.bytes = kMany, .path_bytes = 4},
        "has 5 bytes, more than the 4 allowed");
  check({{"top/" + std::string(5000, 'x'), "1"}}, {.bytes = kMany, .entries = 1, .path_bytes = 4},
        "more than the 1 of 204 allowed");

  // By default, too: what a small archive of deep paths would become.
  std::string deep = "top/";
  for (int i = 0; i < 400; ++i) deep += "d/";
  check({{deep + "x", ""}}, {.bytes = kMany}, "more than the 64 parts allowed");
  check({{deep + std::string(300, '/') + "x", ""}}, {.bytes = kMany}, "bytes, more than the 1000");
}

TEST_CASE("unpack: large files go through in pieces", "[hub]") {
  const TemporaryFolder folder;
  const std::string large = sample_bytes(3 << 20);
  unpack_bytes(folder, zip_bytes({{"top/large", large}, {"top/small", "1"}}), {.bytes = 4 << 20});
  CHECK(read_file(folder / "out/large") == large);
  CHECK(read_file(folder / "out/small") == "1");
  std::filesystem::remove_all(folder / "out");
  // Its last byte is wrong, which shows when the others are written: none stays.
  ZipEntry damaged{"top/large", large};
  damaged.crc = 12345;
  CHECK_THROWS_WITH(
      unpack_bytes(folder, zip_bytes({{"top/small", "1"}, damaged}), {.bytes = 4 << 20}),
      Contains("is damaged"));
}

TEST_CASE("unpack: every truncation is an error, every flipped byte an error or harmless",
          "[hub]") {
  const TemporaryFolder folder;
  const std::string archive = read_file(TENON_HAS_ZLIB ? kDeflated : kStored);
  for (size_t bytes = 0; bytes < archive.size(); ++bytes)
    CHECK_THROWS_AS(unpack_bytes(folder, archive.substr(0, bytes)), Error);
  for (size_t at = 0; at < archive.size(); ++at) {
    std::string flipped = archive;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x15);
    try {
      unpack_bytes(folder, flipped);
    } catch (const Error&) {
    }
    std::filesystem::remove_all(folder / "out");
    CHECK(folder.entries() == 1);
  }
}

}  // namespace
}  // namespace tenon::hub::test
