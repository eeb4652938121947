#include <sys/mman.h>

#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <sstream>

#include "aten/core/error.h"
#include "runtime/serialization/io/crc32.h"
#include "runtime/serialization/zip/zip_deflate.h"
#include "runtime/serialization/zip/zip_format.h"
#include "runtime/serialization/zip/zip_reader.h"
#include "runtime/serialization/zip/zip_writer.h"

using namespace tenon;
using namespace tenon::serialization;

namespace {

/// Text that deflates well but not to nothing.
std::string compressible(size_t bytes) {
  std::mt19937 random(1);
  std::string text;
  while (text.size() < bytes) text += std::to_string(random() % 100) + " and ";
  text.resize(bytes);
  return text;
}

std::string archive_of(const std::vector<std::pair<std::string, std::string>>& records,
                       int level = 0) {
  MemorySink sink;
  ZipWriter zip(sink, "a");
  for (const auto& [name, text] : records) zip.add(name, text.data(), text.size(), level);
  zip.finish();
  return std::move(sink).bytes();
}

std::string error_of(const std::string& bytes) {
  try {
    const MemorySource source(bytes);
    const ZipReader zip(source);
    for (const auto& record : zip.records()) zip.read(record.name);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

/// Replaces `count` bytes at `at` of a copy.
std::string patched(std::string bytes, size_t at, const std::string& by) {
  return bytes.replace(at, by.size(), by);
}

template <class T>
std::string number(T value) {
  std::string bytes;
  zip::put<T>(bytes, value);
  return bytes;
}

/// Terabytes of zeros with islands of other bytes.
class SparseFile {
 public:
  class Sink : public ByteSink {
   public:
    Sink(SparseFile& file, uint64_t position) : ByteSink("a sparse file"), file_(file) {
      position_ = position;
    }

   private:
    void append(const char* data, size_t bytes) override {
      const uint64_t at = std::max(position_, file_.end_);
      if (bytes < 1 << 16) file_.islands_[at].assign(data, bytes);
      file_.end_ = at + bytes;
    }

    SparseFile& file_;
  };

  class Source : public ByteSource {
   public:
    explicit Source(const SparseFile& file) : ByteSource("a sparse file"), file_(file) {
      size_ = file.end_;
    }

   private:
    void fetch(uint64_t offset, char* data, size_t bytes) const override {
      std::fill_n(data, bytes, '\0');
      for (const auto& [at, island] : file_.islands_) {
        const uint64_t begin = std::max(offset, at);
        const uint64_t end = std::min<uint64_t>(offset + bytes, at + island.size());
        if (begin < end) island.copy(data + (begin - offset), end - begin, begin - at);
      }
    }

    const SparseFile& file_;
  };

 private:
  std::map<uint64_t, std::string> islands_;
  uint64_t end_ = 0;
};

}  // namespace

TEST_CASE("records are read back and aligned") {
  const std::vector<std::pair<std::string, std::string>> records{
      {"data.pkl", "x"}, {"empty", ""}, {"data/0", compressible(1000)}, {"data/10", "y"}};
  const std::string bytes = archive_of(records);
  const MemorySource source(bytes);
  const ZipReader zip(source);
  CHECK(zip.archive() == "a");
  REQUIRE(zip.records().size() == records.size());
  for (size_t i = 0; i < records.size(); ++i) {
    const auto& [name, text] = records[i];
    CHECK(zip.records()[i].name == name);
    CHECK(zip.read(name) == text);
    CHECK(zip.offset(name) % 64 == 0);
    CHECK(zip.get(name).crc == crc32(0, text.data(), text.size()));
  }
  CHECK_FALSE(zip.has("data"));
  CHECK_THROWS_WITH(zip.read("data/1"), Catch::Contains("failed locating file data/1"));
  char short_buffer[1];
  CHECK_THROWS_WITH(zip.read("data/0", short_buffer, 1),
                    Catch::Contains("record size (1000 bytes) does not match expected size (1"));
}

TEST_CASE("an archive begins where its sink stands") {
  MemorySink sink;
  sink.write("twelve bytes", 12);
  ZipWriter zip(sink, "a");
  zip.add("x", "text");
  zip.finish();
  const std::string bytes = sink.bytes();
  std::istringstream stream(bytes);
  stream.seekg(12);
  const StreamSource source(stream);
  CHECK(ZipReader(source).read("x") == "text");
  CHECK(ZipReader(source).offset("x") % 64 == 0);
  CHECK_THAT(error_of(bytes), Catch::Contains("the archive begins only at byte 12"));
}

TEST_CASE("several archives in one stream are told apart") {
  const std::string one = archive_of({{"x", "1"}}), two = archive_of({{"x", "2"}});
  CHECK_THAT(error_of(one + two),
             Catch::Contains("several archives, one after the other; the last begins at byte " +
                             std::to_string(one.size())));
  CHECK_THAT(error_of(one.substr(10)), Catch::Contains("bytes are missing"));
}

TEST_CASE("deflated records") {
  if (!zip::has_deflate()) return;
  const std::string text = compressible(1 << 20);
  for (const int level : {1, 6, 9}) {
    const std::string bytes = archive_of({{"x", text}, {"empty", ""}, {"y", "y"}}, level);
    const MemorySource source(bytes);
    const ZipReader zip(source);
    CHECK(zip.get("x").deflated);
    CHECK(zip.get("x").packed < text.size() / 2);
    CHECK(zip.read("x") == text);
    CHECK(zip.read("y") == "y");
    CHECK(zip.read("empty").empty());
  }
  // What cannot shrink.
  std::string noise(100000, '\0');
  std::mt19937 random(2);
  for (char& c : noise) c = static_cast<char>(random());
  const std::string bytes = archive_of({{"x", noise}}, 9);
  const MemorySource source(bytes);
  CHECK(ZipReader(source).read("x") == noise);
  CHECK_THROWS_AS(archive_of({{"x", "y"}}, 10), ValueError);
}

TEST_CASE("deflated records that lie") {
  if (!zip::has_deflate()) return;
  const std::string whole = archive_of({{"x", compressible(5000)}}, 6);
  const size_t entry = whole.find("PK\x01\x02");
  CHECK_THAT(error_of(patched(whole, entry + 24, number<uint32_t>(4999))),
             Catch::Contains("inflates to more than its 4999 bytes"));
  CHECK_THAT(error_of(patched(whole, entry + 24, number<uint32_t>(5001))),
             Catch::Contains("inflates to 5000 bytes, expected 5001"));
  CHECK_THAT(error_of(patched(whole, entry + 24, number<uint32_t>(0xFFFFFFFE))),
             Catch::Contains("more than its"));
  const auto packed = zip::get<uint32_t>(whole.data() + entry + 20);
  CHECK_THAT(error_of(patched(whole, entry + 20, number<uint32_t>(packed - 1))),
             Catch::Contains("end early"));
  CHECK_THAT(error_of(patched(whole, 64, std::string(3, '\xff'))), Catch::Contains("is damaged"));
  // Of bytes that are not there, and bytes too many.
  CHECK_THAT(error_of(patched(whole, entry + 24, number<uint32_t>(0))),
             Catch::Contains("record x at byte 64 inflates to more than its 0 bytes"));
  CHECK_THAT(error_of(patched(whole, entry + 20, number<uint32_t>(packed + 1))),
             Catch::Contains("record x at byte 64 is damaged: its deflated data end at byte " +
                             std::to_string(64 + packed) + ", 1 bytes before the record does"));
}

TEST_CASE("empty records are read and checked as well") {
  // A record of two bytes, which are what nothing deflates to.
  const std::string stored = archive_of({{"x", std::string("\x03\0", 2)}, {"none", ""}});
  const size_t entry = stored.find("PK\x01\x02"), none = stored.find("PK\x01\x02", entry + 4);
  std::string empty = patched(stored, 8, number<uint16_t>(zip::kDeflated));
  empty = patched(empty, entry + 10, number<uint16_t>(zip::kDeflated));
  empty = patched(empty, entry + 24, number<uint32_t>(0));
  CHECK_THAT(error_of(patched(stored, none + 16, number<uint32_t>(1))),
             Catch::Contains("record none at byte 128 is damaged: its CRC-32 is 0, expected 1"));
  if (!zip::has_deflate()) return;
  CHECK_THAT(error_of(empty), Catch::Contains("record x at byte 64 is damaged: its CRC-32 is 0"));
  empty = patched(empty, entry + 16, number<uint32_t>(0));
  CHECK(error_of(empty) == "no error");
  CHECK_THAT(error_of(patched(empty, entry + 20, number<uint32_t>(0))),
             Catch::Contains("record x at byte 64 is damaged: its deflated data end early"));
}

TEST_CASE("checksums are verified where they were computed") {
  const std::string text = "some text";
  const std::string whole = archive_of({{"x", text}});
  const size_t entry = whole.find("PK\x01\x02");
  const std::string damaged = patched(whole, 64, "S");
  CHECK_THAT(error_of(damaged), Catch::Contains("record x at byte 64 is damaged: its CRC-32 is"));
  CHECK(error_of(patched(damaged, entry + 16, number<uint32_t>(0))) == "no error");
}

TEST_CASE("hostile directories") {
  const std::string whole = archive_of({{"x", "1"}, {"y", "2"}});
  const size_t first = whole.find("PK\x01\x02"), second = whole.find("PK\x01\x02", first + 1);
  const size_t end64 = whole.find("PK\x06\x06");
  CHECK_THAT(error_of(patched(whole, second + 48, "x")), Catch::Contains("no record 'a/x'"));
  CHECK_THAT(error_of(patched(whole, second, whole.substr(first, second - first))),
             Catch::Contains("there are two records 'a/x'"));
  CHECK_THAT(error_of(patched(whole, first + 42, number<uint32_t>(1))),
             Catch::Contains("no record 'a/x' at byte 1"));
  CHECK_THAT(error_of(patched(whole, first + 42, number<uint32_t>(0xFFFFFFF0))),
             Catch::Contains("lies outside the archive"));
  CHECK_THAT(error_of(patched(whole, first + 20, number<uint64_t>(0x100000001000))),
             Catch::Contains("lies outside the archive"));
  CHECK_THAT(error_of(patched(whole, first + 20, number<uint64_t>(0x4000000040))),
             Catch::Contains("records overlap at byte"));
  CHECK_THAT(error_of(patched(whole, first + 20, number<uint32_t>(2))),
             Catch::Contains("which must agree"));
  CHECK_THAT(error_of(patched(whole, first + 10, number<uint16_t>(12))),
             Catch::Contains("compressed by method 12"));
  CHECK_THAT(error_of(patched(whole, first + 8, number<uint16_t>(1))),
             Catch::Contains("is encrypted"));
  CHECK_THAT(error_of(patched(whole, first + 28, number<uint16_t>(0xFFFF))),
             Catch::Contains("runs past the directory's end"));
  CHECK_THAT(error_of(patched(whole, first + 46, "b")), Catch::Contains("no record 'b/x'"));
  CHECK_THAT(error_of(patched(whole, end64 + 32, number<uint64_t>(1))),
             Catch::Contains("bytes more than its 1 entries"));
  CHECK_THAT(error_of(patched(whole, end64 + 32, number<uint64_t>(~uint64_t{0}))),
             Catch::Contains("the directory entry at byte"));
  CHECK_THAT(error_of(patched(whole, end64 + 48, number<uint64_t>(~uint64_t{0}))),
             Catch::Contains("does not end at byte"));
}

TEST_CASE("every truncation and every flipped bit of an archive is harmless") {
  for (const int level : {0, 6}) {
    if (level > 0 && !zip::has_deflate()) continue;
    const std::string text = compressible(150);
    const std::string whole = archive_of({{"x", text}, {"y", "2"}}, level);
    for (size_t n = 0; n < whole.size(); ++n)
      CHECK_THAT(error_of(whole.substr(0, n)), Catch::StartsWith("[load] a buffer: "));
    for (size_t i = 0; i < 8 * whole.size(); ++i) {
      std::string damaged = whole;
      damaged[i / 8] = static_cast<char>(damaged[i / 8] ^ (1 << (i % 8)));
      const MemorySource source(damaged);
      try {
        // The data are right, or it is an error; only a checksum that became 0 hides damage.
        const ZipReader zip(source);
        const bool right = !zip.has("x") || zip.get("x").crc == 0 || zip.read("x") == text;
        CHECK(right);
      } catch (const Error& error) {
        CHECK_THAT(error.what(), Catch::StartsWith("[load] a buffer: "));
      }
    }
  }
}

TEST_CASE("records and offsets over 4 GiB") {
  const uint64_t large = (uint64_t{1} << 32) + 4096;
  // Pages that are never written all are the system's page of zeros.
  void* zeros =
      ::mmap(nullptr, large, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  REQUIRE(zeros != MAP_FAILED);
  ::madvise(zeros, large, MADV_HUGEPAGE);
  SparseFile file;
  SparseFile::Sink sink(file, 0);
  ZipWriter zip(sink, "a");
  zip.add("before", "1");
  zip.add("large", zeros, large);
  zip.add("after", "2");
  zip.finish();
  ::munmap(zeros, large);
  const SparseFile::Source source(file);
  const ZipReader reader(source);
  CHECK(reader.size("large") == large);
  CHECK(reader.offset("after") > large);
  for (const char* name : {"before", "large", "after"}) CHECK(reader.offset(name) % 64 == 0);
  CHECK(reader.read("before") == "1");
  CHECK(reader.read("after") == "2");
  // The fields are those that the format's text prescribes.
  char header[30 + 7];
  source.read(reader.get("after").header, header, sizeof(header));
  CHECK(zip::get<uint32_t>(header) == zip::kLocalHeader);
  // The local header is PyTorch's: the size, and 0 for what it would be packed.
  char local[30 + 7 + 20];
  source.read(reader.get("large").header, local, sizeof(local));
  const char* extra = local + 30 + 7;
  CHECK(zip::get<uint16_t>(extra) == zip::kZip64Field);
  CHECK(zip::get<uint16_t>(extra + 2) == 16);
  CHECK(zip::get<uint64_t>(extra + 4) == large);
  CHECK(zip::get<uint64_t>(extra + 12) == 0);
  char descriptor[24];
  source.read(reader.offset("large") + large, descriptor, sizeof(descriptor));
  CHECK(zip::get<uint32_t>(descriptor) == zip::kDescriptor);
  CHECK(zip::get<uint32_t>(descriptor + 4) == reader.get("large").crc);
  CHECK(zip::get<uint64_t>(descriptor + 8) == large);
  CHECK(zip::get<uint64_t>(descriptor + 16) == large);
}
