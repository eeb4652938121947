// Truncated, damaged and hostile files.
#include <catch2/catch.hpp>
#include <random>
#include <sstream>

#include "runtime/serialization/serialize.h"
#include "runtime/serialization/zip/zip_reader.h"
#include "tests/runtime/serialization/archive.h"
#include "tests/runtime/serialization/files.h"
#include "tests/runtime/serialization/in_memory.h"

using namespace tenon;
using namespace tenon::serialization;
using namespace tenon::test;
using namespace std::string_literals;

namespace {

// Bytes from one that is damaged to the next. With sanitizers a file takes ten times as long.
#ifdef __SANITIZE_ADDRESS__
constexpr size_t kStep = 3;
#else
constexpr size_t kStep = 1;
#endif

/// Loads and inspects what may be damaged: either it works or the error says where.
void try_both(const std::string& bytes) {
  const auto check = [](const Error& error) {
    CHECK_THAT(error.what(), Catch::StartsWith("[load] a buffer"));
  };
  try {
    dispose(loaded(bytes));
  } catch (const Error& error) {
    check(error);
  }
  try {
    dispose(inspect(bytes.data(), bytes.size()).value);
  } catch (const Error& error) {
    check(error);
  }
}

}  // namespace

TEST_CASE("every truncation of a file is an error") {
  for (const char* name : {"checkpoint.pt", "legacy.pt", "deflated.pt"}) {
    const std::string whole = bytes_of(kData + name);
    INFO(name);
    REQUIRE_NOTHROW(loaded(whole));
    for (size_t n = 0; n < whole.size(); ++n) {
      INFO("truncated to " << n);
      const std::string error = error_of([&] { loaded(whole.substr(0, n)); });
      CHECK_THAT(error, Catch::StartsWith("[load] a buffer"));
    }
  }
}

TEST_CASE("a flipped bit anywhere does no harm") {
  for (const char* name : {"kinds.pt", "containers.pt", "torch_types.pt", "legacy.pt",
                           "legacy_view.pt", "protocol5.pt", "conj.pt", "sparse_coo.pt"}) {
    const std::string whole = bytes_of(kData + name);
    INFO(name);
    for (size_t i = 0; i < whole.size(); i += kStep) {
      INFO("byte " << i);
      std::string damaged = whole;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << (i % 8)));
      try_both(damaged);
    }
  }
}

TEST_CASE("pickles damaged before their checksum was made do no harm") {
  // Past the checksum: archives made of pickles that were damaged before.
  std::mt19937 random(1);
  for (const char* name : {"kinds.pt", "containers.pt", "views.pt", "strings.pt", "storage_only.pt",
                           "recursive.pt", "conj.pt", "sparse_coo.pt", "quantized.pt"}) {
    INFO(name);
    const std::string whole = bytes_of(kData + name);
    const MemorySource source(whole);
    const ZipReader zip(source);
    std::vector<std::pair<std::string, std::string>> records;
    for (const auto& record : zip.records())
      if (record.name.starts_with("data/"))
        records.emplace_back(record.name, zip.read(record.name));
    const std::string pickle = zip.read("data.pkl");
    for (size_t i = 0; i < pickle.size(); ++i) {
      INFO("byte " << i);
      std::string damaged = pickle;
      damaged[i] = static_cast<char>(random());
      try_both(archive_of(damaged, records));
    }
  }
}

TEST_CASE("hostile pickles are refused") {
  const auto failure = [](const std::string& opcodes) {
    return error_of([&] { loaded(archive_of("\x80\x02" + opcodes + ".")); });
  };
  CHECK_THAT(failure("cposix\nsystem\nX\x02\0\0\0id\x85R"s),
             Catch::StartsWith("[load] a buffer: data.pkl at byte 2: Weights only load failed."));
  CHECK_THAT(failure("cbuiltins\nexec\nX\x01\0\0\0x\x85R"s), Catch::Contains("GLOBAL exec"));
  // A persistent id whose storage is not there, or has another size.
  const std::string pid =
      "(X\x07\0\0\0storagectorch\nFloatStorage\nX\x01\0\0\0"s + "0X\x03\0\0\0cpu"s;
  CHECK_THAT(failure(pid + "K\x01tQ"), Catch::Contains("failed locating file data/0"));
  CHECK_THAT(error_of([&] {
               loaded(archive_of("\x80\x02" + pid + "J\xff\xff\xff\x7ftQ.", {{"data/0", "1234"}}));
             }),
             Catch::Contains("record size (4 bytes) does not match expected size"));
  // A key that leaves the folder is a name like any other.
  const std::string up =
      "(X\x07\0\0\0storagectorch\nFloatStorage\nX\x06\0\0\0../../"s + "X\x03\0\0\0cpuK\x01tQ"s;
  CHECK_THAT(failure(up), Catch::Contains("failed locating file data/../../"));
  // A location that no device has.
  const std::string foo =
      "(X\x07\0\0\0storagectorch\nFloatStorage\nX\x01\0\0\0"s + "0X\x03\0\0\0foo"s;
  CHECK_THAT(error_of([&] {
               loaded(archive_of("\x80\x02" + foo + "K\x01tQ.", {{"data/0", "1234"}}));
             }),
             Catch::Contains("record data/0: don't know how to restore data location of "
                             "tenon.UntypedStorage (tagged with foo)"));
}
