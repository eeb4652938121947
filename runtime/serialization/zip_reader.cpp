#include "runtime/serialization/zip_reader.h"

#include <algorithm>
#include <vector>

#include "aten/core/error.h"
#include "runtime/serialization/zip_format.h"

namespace tenon::serialization {
namespace {

/// The longest comment an archive may end with.
constexpr uint64_t kMaxComment = 0xFFFF;

}  // namespace

template <class... Parts>
void ZipReader::fail(const Parts&... parts) const {
  tenon::detail::raise<Error>("[load] '", file_.path(),
                              "': failed reading zip archive: ", parts...);
}

ZipReader::ZipReader(const InputFile& file) : file_(file) {
  TENON_CHECK(file.size() > 0, "[load] '", file.path(), "': Ran out of input: the file is empty");
  const Directory directory = find_directory();
  read_directory(directory);
}

ZipReader::Directory ZipReader::find_directory() const {
  const uint64_t size = file_.size();
  if (size < zip::kEndBytes)
    fail("failed finding central directory; the file has only ", size, " bytes");
  std::string tail(std::min(size, zip::kEndBytes + kMaxComment), '\0');
  file_.read(size - tail.size(), tail.data(), tail.size());
  // The last signature whose comment ends with the file.
  size_t at = tail.size() - zip::kEndBytes + 1;
  const char* end = nullptr;
  while (at-- > 0 && !end) {
    const char* p = tail.data() + at;
    if (zip::get<uint32_t>(p) == zip::kEnd &&
        at + zip::kEndBytes + zip::get<uint16_t>(p + 20) == tail.size())
      end = p;
  }
  if (!end) fail("failed finding central directory; the file is truncated or no archive");
  Directory directory{zip::get<uint32_t>(end + 16), zip::get<uint32_t>(end + 12),
                      zip::get<uint16_t>(end + 10)};
  uint64_t limit = size - tail.size() + static_cast<uint64_t>(end - tail.data());

  if (limit >= zip::kEnd64LocatorBytes) {
    char locator[zip::kEnd64LocatorBytes];
    file_.read(limit - sizeof(locator), locator, sizeof(locator));
    if (zip::get<uint32_t>(locator) == zip::kEnd64Locator) {
      const auto where = zip::get<uint64_t>(locator + 8);
      limit -= sizeof(locator);
      if (limit < zip::kEnd64Bytes || where > limit - zip::kEnd64Bytes) {
        fail("the zip64 end record's offset ", where, " lies outside the file of ", size, " bytes");
      }
      char end64[zip::kEnd64Bytes];
      file_.read(where, end64, sizeof(end64));
      if (zip::get<uint32_t>(end64) != zip::kEnd64) fail("no zip64 end record at byte ", where);
      directory = {zip::get<uint64_t>(end64 + 48), zip::get<uint64_t>(end64 + 40),
                   zip::get<uint64_t>(end64 + 32)};
      limit = where;
    }
  }
  if (directory.offset > limit || directory.bytes > limit - directory.offset) {
    fail("the central directory at byte ", directory.offset, " of ", directory.bytes,
         " bytes lies outside the file of ", size, " bytes");
  }
  return directory;
}

void ZipReader::read_directory(const Directory& directory) {
  std::string bytes(directory.bytes, '\0');
  file_.read(directory.offset, bytes.data(), bytes.size());
  size_t at = 0;
  for (uint64_t i = 0; i < directory.count; ++i) {
    const char* p = bytes.data() + at;
    const size_t left = bytes.size() - at;
    const uint64_t here = directory.offset + at;
    if (left < zip::kCentralEntryBytes || zip::get<uint32_t>(p) != zip::kCentralEntry) {
      fail("directory entry ", i, " at byte ", here, " is damaged");
    }
    const auto method = zip::get<uint16_t>(p + 10);
    const size_t name_bytes = zip::get<uint16_t>(p + 28), extra_bytes = zip::get<uint16_t>(p + 30);
    const size_t total =
        zip::kCentralEntryBytes + name_bytes + extra_bytes + zip::get<uint16_t>(p + 32);
    if (total > left)
      fail("directory entry ", i, " at byte ", here, " runs past the directory's end");
    std::string name(p + zip::kCentralEntryBytes, name_bytes);
    if (method != 0)
      fail("record '", name, "' is compressed (method ", method, "); only stored records are read");

    uint64_t packed = zip::get<uint32_t>(p + 20);
    Record record{zip::get<uint32_t>(p + 42), 0, zip::get<uint32_t>(p + 24),
                  zip::get<uint32_t>(p + 16)};
    const char* extra = p + zip::kCentralEntryBytes + name_bytes;
    for (size_t e = 0; e + 4 <= extra_bytes;) {
      const size_t field_bytes = zip::get<uint16_t>(extra + e + 2);
      if (e + 4 + field_bytes > extra_bytes)
        fail("the extra field of '", name, "' at byte ", here, " is damaged");
      if (zip::get<uint16_t>(extra + e) == zip::kZip64Field) {
        size_t used = 0;
        for (uint64_t* number : {&record.bytes, &packed, &record.header}) {
          if (*number != zip::kIn64) continue;
          if (used + 8 > field_bytes)
            fail("the zip64 field of '", name, "' at byte ", here, " is too short");
          *number = zip::get<uint64_t>(extra + e + 4 + used);
          used += 8;
        }
      }
      e += 4 + field_bytes;
    }
    if (packed != record.bytes)
      fail("record '", name, "' has sizes ", packed, " and ", record.bytes, ", which must agree");
    locate_data(name, record, directory.offset);
    if (i == 0) {
      const size_t slash = name.find('/');
      if (slash == std::string::npos) fail("record '", name, "' is in no folder");
      archive_ = name.substr(0, slash + 1);
    }
    if (!records_.emplace(name, record).second) fail("there are two records '", name, "'");
    at += total;
  }

  std::vector<const Record*> in_order;
  for (const auto& entry : records_) in_order.push_back(&entry.second);
  std::sort(in_order.begin(), in_order.end(),
            [](const Record* a, const Record* b) { return a->header < b->header; });
  for (size_t i = 1; i < in_order.size(); ++i) {
    const Record& before = *in_order[i - 1];
    if (before.data + before.bytes > in_order[i]->header)
      fail("records overlap at byte ", in_order[i]->header);
  }
}

void ZipReader::locate_data(const std::string& name, Record& record, uint64_t limit) const {
  char header[zip::kLocalHeaderBytes];
  if (limit < sizeof(header) || record.header > limit - sizeof(header)) {
    fail("the offset ", record.header, " of record '", name, "' lies outside the archive");
  }
  file_.read(record.header, header, sizeof(header));
  const size_t name_bytes = zip::get<uint16_t>(header + 26);
  std::string local(name_bytes, '\0');
  if (zip::get<uint32_t>(header) != zip::kLocalHeader ||
      record.header + sizeof(header) + name_bytes > limit) {
    fail("no record '", name, "' at byte ", record.header);
  }
  file_.read(record.header + sizeof(header), local.data(), name_bytes);
  if (local != name) fail("no record '", name, "' at byte ", record.header);
  record.data = record.header + sizeof(header) + name_bytes + zip::get<uint16_t>(header + 28);
  if (record.data > limit || record.bytes > limit - record.data) {
    fail("record '", name, "' of ", record.bytes, " bytes at byte ", record.data,
         " lies outside the archive");
  }
}

const ZipReader::Record* ZipReader::find(std::string_view name) const {
  const auto it = records_.find(archive_ + std::string(name));
  return it == records_.end() ? nullptr : &it->second;
}

const ZipReader::Record& ZipReader::get(std::string_view name) const {
  const Record* record = find(name);
  if (!record) fail("failed locating file ", name, ": file not found");
  return *record;
}

uint64_t ZipReader::size(std::string_view name) const { return get(name).bytes; }

void ZipReader::read(std::string_view name, void* data, uint64_t bytes) const {
  const Record& record = get(name);
  if (record.bytes != bytes) {
    fail("record ", name, " at byte ", record.data, ": record size (", record.bytes,
         " bytes) does not match expected size (", bytes, " bytes)");
  }
  file_.read(record.data, data, bytes);
  const uint32_t crc = zip::crc32(0, data, bytes);
  // Writers that do not compute the checksum leave it 0.
  if (record.crc != 0 && crc != record.crc) {
    fail("record ", name, " at byte ", record.data, " is damaged: its CRC-32 is ", crc,
         ", expected ", record.crc);
  }
}

std::string ZipReader::read(std::string_view name) const {
  std::string text(size(name), '\0');
  read(name, text.data(), text.size());
  return text;
}

}  // namespace tenon::serialization
