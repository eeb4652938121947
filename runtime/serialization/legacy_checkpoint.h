#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/serialization/budget.h"
#include "runtime/serialization/io/byte_source.h"
#include "runtime/serialization/load.h"
#include "runtime/serialization/pickle/byte_cursor.h"
#include "runtime/serialization/pickle/globals.h"
#include "runtime/serialization/pickle/tensor_builder.h"
#include "runtime/serialization/pickle/unpickler.h"
#include "runtime/serialization/stored_storage.h"

namespace tenon::serialization {

/// Reads one checkpoint of the legacy format: consecutive pickles and then the storages' data.
class LegacyCheckpoint {
 public:
  /// To inspect, the options must map to "meta".
  LegacyCheckpoint(const ByteSource& source, const LoadOptions& options, Globals::Mode mode);

  Value load();

  // Of what was loaded:

  /// Where the checkpoint ended.
  uint64_t end() const { return in_.position(); }
  /// In the order of their first appearance.
  const std::vector<StoredStorage>& storages() const { return storages_; }
  const Globals& globals() const { return globals_; }
  uint64_t pickle_bytes() const { return pickle_bytes_; }
  /// What is left of it.
  Budget& budget() { return budget_; }

 private:
  /// What has yet to be read of a storage.
  struct Unread {
    Storage host;  ///< what the data are read into
    int64_t numel;
    uint64_t element_bytes;
    bool filled = false;
  };

  Value plain();
  void check_header();
  Value load_storage(const StorageId& id);
  size_t add_storage(const StorageId& id, uint64_t element_bytes);
  Storage view(const StorageId& id, size_t root);
  void read_data();
  void fill(size_t at);
  [[noreturn]] void fail(const std::string& what) const;

  const ByteSource& source_;
  const LoadOptions& options_;
  ByteCursor in_;
  Budget budget_;
  TensorBuilder tensors_;
  Globals globals_;
  std::vector<StoredStorage> storages_;
  std::vector<Unread> unread_;                     // of storages_
  std::unordered_map<std::string, size_t> index_;  // key to position
  uint64_t pickle_bytes_ = 0;
  uint64_t allocated_ = 0;
  uint64_t done_ = 0;
};

}  // namespace tenon::serialization
