#pragma once

#include <cstdint>
#include <istream>
#include <string>
#include <vector>

#include "runtime/serialization/values/value.h"

namespace tenon::serialization {

/// A tensor in a checkpoint.
struct TensorInfo {
  /// Keys and indices on the way to it, with dots between: "model.0.weight".
  std::string name;
  /// "dense", "parameter", "meta", "sparse_coo", "sparse_csr", ..., "quantized", "nested", ...
  std::string kind;
  std::string dtype;  ///< Python's name: "float32", "qint8"
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
  int64_t offset = 0;  ///< in elements
  bool requires_grad = false;
  std::vector<std::string> storages;  ///< keys; a sparse tensor has several, a meta tensor none
  /// What stands for it in CheckpointInfo::value: a tensor on the meta device, an Object for a kind
  /// that the library has not.
  Value value;
};

/// A storage in a checkpoint.
struct StorageInfo {
  std::string key;
  std::string cls;       ///< "FloatStorage"
  std::string location;  ///< "cpu", "cuda:0"
  uint64_t bytes = 0;
  uint64_t offset = 0;  ///< of its data in the file
  /// Names of the tensors that lie in it: more than one share memory.
  std::vector<std::string> tensors;
};

struct CheckpointInfo {
  bool is_legacy = false;
  std::string archive;    ///< folder of the records of a zip file
  int version = 0;        ///< of the zip format
  std::string byteorder;  ///< "little" or "big"
  /// Of the pickle, or the pickles, as they are in the file.
  uint64_t pickle_bytes = 0;
  std::vector<TensorInfo> tensors;
  std::vector<StorageInfo> storages;
  /// All functions and classes the file names, as "module.name", and those that load() refuses.
  std::vector<std::string> globals;
  std::vector<std::string> unsafe_globals;
  /// The whole structure: tensors without data, on the meta device, and Objects in place of what
  /// load() refuses.
  Value value;
};

/// What a checkpoint holds. No tensor's data are read and nothing is ever called, so any file may
/// be looked at. Errors as load().
TENON_API CheckpointInfo inspect(const std::string& path);
TENON_API CheckpointInfo inspect(std::istream& in);
TENON_API CheckpointInfo inspect(const void* data, size_t bytes);

/// The functions and classes, as "module.name", for which load() would refuse the file.
TENON_API std::vector<std::string> get_unsafe_globals(const std::string& path);

}  // namespace tenon::serialization
