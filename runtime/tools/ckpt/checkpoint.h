#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/serialization/budget.h"
#include "runtime/serialization/values/value.h"

namespace tenon::ckpt {

using serialization::Value;

enum class Format { Zip, Legacy, Safetensors, Sharded };

/// "zip", "legacy", "safetensors" or "sharded".
const char* name_of(Format format);
/// What a file or folder is, by its contents. Error "[tenon-ckpt] ..." for what is none of them.
Format format_of(const std::string& path);

/// A tensor or another value that a checkpoint holds.
struct Entry {
  std::string name;  ///< keys and indices on the way to it, with dots between
  bool is_tensor;
  std::string kind;  ///< of a tensor: its dtype; else "int", "string", ...
  std::vector<int64_t> shape;
  uint64_t bytes = 0;  ///< of a tensor's elements, or what 64 bits hold if they are more
  std::string text;    ///< of another value, shortened
  /// Of a tensor that has no elements of its own to be shown: "meta", "sparse_coo", "quantized",
  /// ...
  std::string form{};
};

/// "float32", "float32 sparse_coo".
inline std::string dtype_and_form(const Entry& tensor) {
  return tensor.form.empty() ? tensor.kind : tensor.kind + " " + tensor.form;
}

/// An open checkpoint, of which nothing large has been read yet.
class Checkpoint {
 public:
  virtual ~Checkpoint() = default;
  static std::unique_ptr<Checkpoint> open(const std::string& path);

  Format format() const { return format_; }
  const std::vector<Entry>& entries() const { return entries_; }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  /// Null if there is no such entry.
  const Entry* find(const std::string& name) const;
  virtual Tensor tensor(const std::string& name) = 0;

 protected:
  explicit Checkpoint(Format format) : format_(format) {}

  Format format_;
  std::vector<Entry> entries_;
  std::map<std::string, std::string> metadata_;

 private:
  mutable std::map<std::string, const Entry*> index_;  // of entries_, when it is first asked for
};

/// The leaves of a value, in order: tensors and what is no container. An object of a class that is
/// not known is a leaf, and so is what its attributes hold. An object that occurs several times
/// does so each time; `budget` pays for all of them.
void each_leaf(const Value& value, serialization::Budget& budget,
               const std::function<void(const std::string& name, const Value& leaf)>& f);

/// What reading the names of a whole file may take.
serialization::Budget budget_of(const std::string& path);

}  // namespace tenon::ckpt
