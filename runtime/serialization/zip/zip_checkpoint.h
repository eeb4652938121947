#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/serialization/budget.h"
#include "runtime/serialization/io/byte_source.h"
#include "runtime/serialization/load.h"
#include "runtime/serialization/pickle/globals.h"
#include "runtime/serialization/pickle/tensor_builder.h"
#include "runtime/serialization/pickle/unpickler.h"
#include "runtime/serialization/stored_storage.h"
#include "runtime/serialization/zip/zip_reader.h"

namespace tenon::serialization {

/// Reads one checkpoint of the zip format.
///
///     record of the archive "x"    contents
///     x/data.pkl                   the pickle: values, with persistent ids in place of storages
///     x/.format_version            "1", of a file without compression
///     x/.storage_alignment         "64"
///     x/byteorder                  "little"
///     x/data/0, x/data/1, ...      the bytes of a storage; uncompressed, they begin at a multiple
///                                  of 64 bytes in the archive
///     x/version                    "3\n"
///     x/.data/serialization_id     a digest of names and contents
///     central directory            name, place, size and CRC-32 of each record
///
///     load():  data.pkl ---> Unpickler ---> value
///                               |  ^
///              ('storage', class, key, location, numel)
///                               v  |
///              load_storage: a key that was loaded before is the same storage; otherwise
///                               |    to meta       nothing is read
///              data/<key> ------+    mmap          a part of the mapping
///                               |    to the CPU    memory, filled by read_requests() after the
///                               |                  pickle, or before a function that needs data
///                               +    elsewhere     read now, then map_location
class ZipCheckpoint {
 public:
  /// Checks everything that is not data: directory, version, byte order. `mapping` is the source if
  /// storages are to be parts of it, else null. To inspect, the options must map to "meta".
  ZipCheckpoint(const ByteSource& source, std::shared_ptr<MappedSource> mapping,
                const LoadOptions& options, Globals::Mode mode);

  const ZipReader& zip() const { return zip_; }
  int version() const { return version_; }
  bool is_big_endian() const { return big_endian_; }
  Value load();

  // Of what was loaded:

  /// In the order of their first appearance.
  const std::vector<StoredStorage>& storages() const { return storages_; }
  const Globals& globals() const { return globals_; }
  uint64_t pickle_bytes() const { return zip_.get("data.pkl").packed; }
  /// What is left of it.
  Budget& budget() { return budget_; }

 private:
  std::string short_record(const char* name) const;
  void check_version();
  Value load_storage(const StorageId& id);
  Storage read_storage(const ZipReader::Record& record, ScalarType dtype,
                       const std::string& location);
  Storage mapped(const ZipReader::Record& record, ScalarType dtype) const;
  void swap_untyped(const Storage& storage, ScalarType dtype);
  void read_requests();
  void report(uint64_t bytes);
  [[noreturn]] void fail(const std::string& what) const;

  const ByteSource& source_;
  std::shared_ptr<MappedSource> mapping_;
  const LoadOptions& options_;
  ZipReader zip_;
  Budget budget_;
  TensorBuilder tensors_;
  Globals globals_;
  int version_ = 0;
  bool big_endian_ = false;
  std::vector<StoredStorage> storages_;
  std::unordered_map<std::string, size_t> index_;  // key to position
  std::vector<ZipReader::Request> requests_;
  std::unordered_map<const void*, size_t> swapped_;  // untyped storages to bytes of an element
  uint64_t done_ = 0;
  uint64_t total_ = 0;
};

}  // namespace tenon::serialization
