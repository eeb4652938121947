#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtime/serialization/io/byte_source.h"

namespace tenon::serialization {

/// Reads an archive of stored and deflated records. The whole directory is checked at once: bounds,
/// duplicates, overlaps, local headers. Errors name the source and the offset.
class TENON_API ZipReader {
 public:
  struct Record {
    std::string name;  ///< without the archive's folder
    uint64_t header;   ///< where it begins
    uint64_t data;     ///< where its data begin
    uint64_t packed;   ///< bytes of its data in the archive
    uint64_t bytes;    ///< bytes of its contents
    uint32_t crc;      ///< of its contents; 0 if it was not computed
    bool deflated;
    uint32_t unix_mode;  ///< type and permissions; 0 if the writer was not of Unix
  };

  /// What a directory may have before it is read.
  struct Limits {
    uint64_t records = UINT64_MAX;
    uint64_t directory_bytes = UINT64_MAX;
  };

  /// Error "failed reading zip archive: failed finding central directory" for what is no archive or
  /// not all of one. The source must outlive the reader.
  explicit ZipReader(const ByteSource& source) : ZipReader(source, Limits()) {}
  ZipReader(const ByteSource& source, const Limits& limits);

  /// The folder that all records are in: "model" for model.pt.
  const std::string& archive() const { return archive_; }
  /// All records, in the directory's order.
  const std::vector<Record>& records() const { return records_; }
  bool has(std::string_view name) const { return find(name) != nullptr; }
  /// The record of that name, or nullptr.
  const Record* find(std::string_view name) const;
  /// The record of that name; Error "failed locating file data/0: file not found".
  const Record& get(std::string_view name) const;
  /// Bytes of a record's contents.
  uint64_t size(std::string_view name) const { return get(name).bytes; }
  /// Offset of a record's data in the source.
  uint64_t offset(std::string_view name) const { return get(name).data; }

  /// Where the contents of a record go, which must be exactly `bytes`; a null `data` has them
  /// checked alone.
  struct Request {
    std::string name;
    void* data;
    uint64_t bytes;
  };
  /// Reads records, several at a time and large ones in pieces, and checks their CRCs.
  void read(const std::vector<Request>& requests) const;
  void read(std::string_view name, void* data, uint64_t bytes) const;
  std::string read(std::string_view name) const;
  /// Hands a record's contents on in pieces of at most a MiB. What is wrong with them may only show
  /// behind the last.
  using Taker = std::function<void(const char* data, size_t bytes)>;
  void read(std::string_view name, const Taker& take) const;
  /// Checks the CRC of a record, of which no more than a MiB per thread is in memory.
  void verify(std::string_view name) const;

 private:
  struct Directory {
    uint64_t offset;
    uint64_t bytes;
    uint64_t count;
  };

  Directory find_directory() const;
  Directory find_directory64(uint64_t locator_at) const;
  void check_start(uint64_t expected, uint64_t found) const;
  void read_directory(const Directory& directory);
  Record read_entry(const char* entry, size_t left, uint64_t at, size_t& total) const;
  void locate_data(Record& record, const std::string& name, uint64_t limit) const;
  void check_overlaps() const;
  const Record& check_request(const Request& request) const;
  void check_crc(const Record& record, uint32_t crc) const;
  uint32_t inflate(const Record& record, void* data) const;
  uint32_t inflate(const Record& record, const Taker& take) const;
  std::string what(const Record& record) const;
  template <class... Parts>
  [[noreturn]] void fail(const Parts&... parts) const;

  const ByteSource& source_;
  std::string archive_;
  std::vector<Record> records_;
  std::unordered_map<std::string, size_t> index_;
};

}  // namespace tenon::serialization
