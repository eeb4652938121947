#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "runtime/serialization/file.h"

namespace tenon::serialization {

/// Reads an archive of stored records. The whole directory is checked at once: bounds, duplicates,
/// overlaps, local headers. Errors name the file and the offset.
class ZipReader {
 public:
  /// Error "failed reading zip archive: failed finding central directory" for what is no archive or
  /// not all of one.
  explicit ZipReader(const InputFile& file);

  bool has(std::string_view name) const { return find(name) != nullptr; }
  /// Bytes of a record; Error "failed locating file data/0: file not found".
  uint64_t size(std::string_view name) const;
  /// Offset of a record's data in the file.
  uint64_t offset(std::string_view name) const { return get(name).data; }
  /// Reads a record of exactly `bytes` and checks its CRC.
  void read(std::string_view name, void* data, uint64_t bytes) const;
  std::string read(std::string_view name) const;

 private:
  struct Record {
    uint64_t header;
    uint64_t data;
    uint64_t bytes;
    uint32_t crc;
  };
  struct Directory {
    uint64_t offset;
    uint64_t bytes;
    uint64_t count;
  };

  Directory find_directory() const;
  void read_directory(const Directory& directory);
  void locate_data(const std::string& name, Record& record, uint64_t limit) const;
  const Record* find(std::string_view name) const;
  const Record& get(std::string_view name) const;
  template <class... Parts>
  [[noreturn]] void fail(const Parts&... parts) const;

  const InputFile& file_;
  std::string archive_;
  std::unordered_map<std::string, Record> records_;
};

}  // namespace tenon::serialization
