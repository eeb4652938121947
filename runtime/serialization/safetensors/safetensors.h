#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/nn/module.h"
#include "runtime/serialization/io/byte_source.h"

/// Files of named tensors in the safetensors format: the length of a header in eight bytes, the
/// header in JSON with the dtype, the shape and the place of each tensor, and the tensors' bytes.
namespace tenon::serialization {

using nn::StateDict;

/// What a file may say besides its tensors.
using SafetensorsMetadata = std::map<std::string, std::string>;

struct SafetensorsOptions {
  /// Tensors are parts of a private mapping of the file: nothing is read before it is used, and
  /// what is written to them never reaches the file.
  bool mmap = false;
};

/// An open file, whose tensors are read one by one or all at once.
class TENON_API SafetensorsFile {
 public:
  struct Entry {
    std::string name;
    std::string dtype;  ///< the format's name: "F32", "BF16", ...
    std::vector<int64_t> shape;
    uint64_t offset;  ///< in the file
    uint64_t bytes;
  };

  /// Checks the whole header: JSON without doubled keys, known dtypes, sizes that agree, data
  /// without gaps or overlaps that end with the file. Errors "[load] 'x.safetensors': ...".
  explicit SafetensorsFile(const std::string& path, SafetensorsOptions options = {});
  /// Of anything else that can be read.
  explicit SafetensorsFile(std::shared_ptr<const ByteSource> source);

  /// All tensors, in the order of their data.
  const std::vector<Entry>& entries() const { return entries_; }
  const SafetensorsMetadata& metadata() const { return metadata_; }
  /// The tensor of that name. NotImplementedError for dtypes that Tenon does not have.
  Tensor tensor(const std::string& name) const;
  /// All tensors, in the order of their data.
  StateDict tensors() const;

 private:
  void read_header();
  /// Tensors of entries, read or mapped.
  std::vector<Tensor> load(const std::vector<Entry>& entries) const;
  bool is_mappable(const Entry& entry) const;

  std::shared_ptr<const ByteSource> source_;
  MappedSource* mapping_ = nullptr;
  std::vector<Entry> entries_;
  std::map<std::string, size_t> index_;  // names to places in entries_
  SafetensorsMetadata metadata_;
};

/// Writes the same bytes as the Python package does for these tensors. Tensors that share memory
/// are written one by one. The file appears under its name once it is complete and durable.
/// Errors "[save] ...".
TENON_API void save_safetensors(const StateDict& tensors, const std::string& path,
                                const SafetensorsMetadata& metadata = {});
TENON_API StateDict load_safetensors(const std::string& path, SafetensorsOptions options = {});

}  // namespace tenon::serialization
