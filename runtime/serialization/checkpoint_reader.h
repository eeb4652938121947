#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/serialization/io/byte_source.h"
#include "runtime/serialization/load.h"
#include "runtime/serialization/pickle/globals.h"
#include "runtime/serialization/pickle/tensor_builder.h"
#include "runtime/serialization/pickle/unpickler.h"
#include "runtime/serialization/zip_reader.h"

namespace tenon::serialization {

/// A value that is looked at and dropped, circles included.
struct Passing {
  explicit Passing(Value v) : value(std::move(v)) {}
  ~Passing() { dispose(value); }
  Passing(const Passing&) = delete;
  Passing& operator=(const Passing&) = delete;
  const Value value;
};

/// Reads one checkpoint of the zip format.
class ZipCheckpoint {
 public:
  /// Checks everything that is not data: directory, version, byte order. `mapping` is the source if
  /// storages are to be parts of it, else null.
  ZipCheckpoint(const ByteSource& source, std::shared_ptr<MappedSource> mapping,
                const LoadOptions& options);

  const ZipReader& zip() const { return zip_; }
  int version() const { return version_; }
  bool is_big_endian() const { return big_endian_; }
  Value load();

 private:
  struct Loaded {
    Storage storage;
    uint64_t bytes;
  };

  void check_version();
  Value load_storage(const StorageId& id);
  Storage read_storage(const ZipReader::Record& record, ScalarType dtype,
                       const std::string& location);
  Storage mapped(const ZipReader::Record& record, ScalarType dtype) const;
  void read_requests();
  void report(uint64_t bytes);
  [[noreturn]] void fail(const std::string& what) const;

  const ByteSource& source_;
  std::shared_ptr<MappedSource> mapping_;
  const LoadOptions& options_;
  ZipReader zip_;
  int version_ = 0;
  bool big_endian_ = false;
  std::unordered_map<std::string, Loaded> storages_;
  std::vector<ZipReader::Request> requests_;
  uint64_t done_ = 0;
  uint64_t total_ = 0;
};

/// Reads one checkpoint of the legacy format: consecutive pickles and then the storages' data.
class LegacyCheckpoint {
 public:
  LegacyCheckpoint(const ByteSource& source, const LoadOptions& options);

  Value load();
  /// Where the checkpoint ended.
  uint64_t end() const { return in_.position(); }

 private:
  struct Loaded {
    Storage host;     ///< what the data are read into
    Storage storage;  ///< where they go
    std::string cls;
    ScalarType dtype;
    int64_t numel;
    bool filled = false;
  };

  Value plain();
  void check_header();
  Value load_storage(const StorageId& id);
  Value view(const StorageId& id, const Loaded& root);
  void read_data();
  void fill(Loaded& loaded, const std::string& key);
  [[noreturn]] void fail(const std::string& what) const;

  const ByteSource& source_;
  const LoadOptions& options_;
  ByteCursor in_;
  TensorBuilder tensors_;
  Globals globals_;
  std::unordered_map<std::string, Loaded> storages_;
  std::unordered_map<std::string, Storage> views_;
  uint64_t allocated_ = 0;
  uint64_t done_ = 0;
};

/// What LoadOptions allow pickles to name.
inline Globals::Mode globals_mode(const LoadOptions& options) {
  return options.weights_only ? Globals::Mode::WeightsOnly : Globals::Mode::Harmless;
}

/// Turns the bytes of elements around, both halves of complex ones each.
void swap_bytes(void* data, uint64_t bytes, ScalarType dtype);

/// A part of memory that `owner` keeps alive.
Storage storage_part(std::shared_ptr<const void> owner, void* data, uint64_t bytes, Device device);

}  // namespace tenon::serialization
