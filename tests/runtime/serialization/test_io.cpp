#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <functional>
#include <sstream>

#include "runtime/serialization/io/byte_sink.h"
#include "runtime/serialization/io/byte_source.h"
#include "runtime/serialization/io/crc32.h"
#include "runtime/serialization/io/os_error.h"
#include "tests/runtime/serialization/files.h"

using namespace tenon;
using namespace tenon::serialization;
using namespace tenon::test;
namespace fs = std::filesystem;

namespace {

const std::string kText = "0123456789abcdef";

std::string read_all(const ByteSource& source) {
  std::string bytes(source.size(), '\0');
  source.read(0, bytes.data(), bytes.size());
  return bytes;
}

/// What every source of kText does.
void check_source(const ByteSource& source) {
  INFO(source.name());
  CHECK(read_all(source) == kText);
  char middle[4];
  CHECK(source.read_crc(10, middle, 4) == crc32(0, "abcd", 4));
  CHECK(std::string(middle, 4) == "abcd");
  source.read(source.size(), middle, 0);
  for (const uint64_t offset : {uint64_t{13}, uint64_t{17}, ~uint64_t{0}}) {
    CHECK_THROWS_WITH(source.read(offset, middle, 4),
                      Catch::StartsWith("[load] " + source.name() + ": unexpected EOF"));
  }
}

/// A stream buffer that only goes forward, like a pipe's.
class ForwardBuffer : public std::stringbuf {
 public:
  using std::stringbuf::stringbuf;

 protected:
  pos_type seekoff(off_type, std::ios::seekdir, std::ios::openmode) override { return -1; }
  pos_type seekpos(pos_type, std::ios::openmode) override { return -1; }
};

}  // namespace

TEST_CASE("sources of all kinds read alike") {
  const TemporaryFolder folder;
  const std::string path = folder / "x";
  write_bytes(path, kText);
  check_source(FileSource(path));
  check_source(MappedSource(path));
  check_source(MemorySource(kText));
  std::istringstream stream("before" + kText);
  stream.seekg(6);
  check_source(StreamSource(stream));
  ForwardBuffer forward(kText);
  std::istream pipe(&forward);
  check_source(StreamSource(pipe));

  write_bytes(path, "");
  CHECK(FileSource(path).size() == 0);
  CHECK(MappedSource(path).size() == 0);
}

TEST_CASE("a private mapping keeps the file, a shared one writes to it") {
  const TemporaryFolder folder;
  const std::string path = folder / "x";
  write_bytes(path, kText);
  MappedSource(path).mutable_data()[0] = 'X';
  CHECK(bytes_of(path) == kText);
  MappedSource(path, MappedSource::Mode::Shared).mutable_data()[0] = 'X';
  CHECK(bytes_of(path)[0] == 'X');
}

TEST_CASE("sources that cannot be opened") {
  const TemporaryFolder folder;
  CHECK(code_of([&] { FileSource(folder / "none"); }) == ENOENT);
  CHECK(code_of([&] { MappedSource(folder / "none"); }) == ENOENT);
  CHECK_THROWS_WITH(FileSource(folder.path()),
                    "[load] '" + folder.path() + "' is not a regular file");
  // A pipe is not waited for.
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0666) == 0);
  CHECK_THROWS_WITH(FileSource(folder / "pipe"), Catch::Contains("is not a regular file"));
  CHECK_THROWS_WITH(MappedSource(folder / "pipe", MappedSource::Mode::Shared),
                    Catch::Contains("is not a regular file"));
}

TEST_CASE("sinks of all kinds write alike") {
  const TemporaryFolder folder;
  const std::string large(1 << 20, 'x');
  const auto fill = [&](ByteSink& sink) {
    sink.reserve(large.size() + kText.size());
    sink.write("ab", 2);
    CHECK(sink.write_crc(kText.data(), kText.size()) == crc32(0, kText.data(), kText.size()));
    sink.write(nullptr, 0);
    CHECK(sink.write_crc(large.data(), large.size()) == crc32(0, large.data(), large.size()));
    sink.write("z", 1);
    CHECK(sink.position() == large.size() + kText.size() + 3);
    sink.commit();
  };
  const std::string expected = "ab" + kText + large + "z";
  MemorySink memory;
  fill(memory);
  CHECK(memory.bytes() == expected);
  std::ostringstream stream;
  StreamSink to_stream(stream);
  fill(to_stream);
  CHECK(stream.str() == expected);
  FileSink file(folder / "x");
  fill(file);
  CHECK(bytes_of(folder / "x") == expected);
  FileSink quick(folder / "y", {.durable = false});
  fill(quick);
  CHECK(bytes_of(folder / "y") == expected);
  CHECK_THROWS_WITH(quick.write("z", 1), Catch::EndsWith("is closed"));
  CHECK(folder.files() == 2);
}

TEST_CASE("a failed stream is an error") {
  std::ostringstream stream;
  stream.setstate(std::ios::badbit);
  StreamSink sink(stream);
  CHECK_THROWS_WITH(sink.write("a", 1), "[save] cannot write to a stream at byte 0");
}

TEST_CASE("a file appears whole or not at all") {
  const TemporaryFolder folder;
  const std::string path = folder / "x";
  {
    FileSink sink(path);
    sink.write("new", 3);
    CHECK_FALSE(fs::exists(path));
  }
  CHECK(folder.files() == 0);
  write_bytes(path, "old");
  fs::permissions(path, fs::perms(0600));
  {
    FileSink sink(path);
    sink.write("new", 3);
    CHECK(bytes_of(path) == "old");
    sink.commit();
    CHECK(bytes_of(path) == "new");
  }
  CHECK(fs::status(path).permissions() == fs::perms(0600));
  CHECK(folder.files() == 1);
}

TEST_CASE("a symbolic link stays one") {
  const TemporaryFolder folder;
  fs::create_directory(folder / "real");
  fs::create_symlink("real/x", folder / "link");
  FileSink sink(folder / "link");
  sink.write("new", 3);
  sink.commit();
  CHECK(fs::is_symlink(folder / "link"));
  CHECK(bytes_of(folder / "real/x") == "new");
  fs::create_symlink("loop", folder / "loop");
  CHECK(code_of([&] { FileSink(folder / "loop"); }) == ELOOP);
}

TEST_CASE("a device is written, not replaced") {
  FileSink null("/dev/null");
  null.write("x", 1);
  null.commit();
  CHECK(fs::is_character_file("/dev/null"));
  FileSink full("/dev/full");
  full.write("x", 1);
  CHECK(code_of([&] { full.commit(); }) == ENOSPC);
}
