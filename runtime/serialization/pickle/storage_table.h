#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/serialization/values/value.h"

namespace tenon::serialization {

/// The storages of a file that is being written, numbered in the order of their first appearance.
class StorageTable {
 public:
  struct Range {
    uint64_t begin = 0, end = 0;
    uint64_t bytes() const { return end - begin; }
    /// Grows to hold the other one as well.
    void add(const Range& other);
  };
  /// Bytes [begin, end) of a storage, which are what the file holds of it.
  struct Record {
    std::string key;
    std::string location;  ///< tag of the device, "cpu" or "cuda:0"
    Storage storage;
    ScalarType dtype;  ///< of the elements as first seen; Byte for untyped bytes
    uint64_t begin;
    uint64_t end;
    uint64_t bytes() const { return end - begin; }
    Range used{};  ///< what tensors and storages in the value use
    /// The first tensor that uses little of it: where that is, and how much it uses.
    std::optional<std::pair<std::string, uint64_t>> part{};
  };

  /// Has the table hold no more of a storage than the tensors in `value` use.
  void trim_to(const Value& value);
  /// The storage's record, made when it is new. Throws "Cannot save multiple tensors or storages
  /// that view the same data as different types" if it has elements of another dtype.
  const Record& add(const Storage& storage, ScalarType dtype);
  const std::vector<std::unique_ptr<Record>>& records() const { return records_; }
  /// Notes that the tensor, or all of the storage, is saved. `place` gives where it is in the
  /// value.
  void note_use(const Tensor& t, const std::function<std::string()>& place);
  void note_use(const Storage& storage);
  /// What is saved though no tensor uses it, told by its first tensor; empty if that is little.
  std::string waste() const;
  /// Copies what the file will hold of the storages, so that they may change. Nothing may be added
  /// after it.
  void snapshot();

 private:
  std::vector<std::unique_ptr<Record>> records_;
  std::unordered_map<const void*, Record*> index_;
  std::unordered_map<const void*, Range> used_;
};

/// The bytes of a record in CPU memory; `keep` owns them if they had to be copied from a device.
const char* host_bytes(const StorageTable::Record& record, Tensor& keep);

}  // namespace tenon::serialization
