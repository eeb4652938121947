#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/nn/module.h"

namespace tenon::serialization {

using nn::StateDict;

struct ShardIndex;
struct ShardPiece;

/// An open sharded checkpoint. Its files are opened when they are first needed: OSError with the
/// code ENOENT if another checkpoint has taken its place in the folder by then.
class TENON_API ShardedCheckpoint {
 public:
  struct Entry {
    std::string name;
    ScalarType dtype;
    std::vector<int64_t> shape;
  };

  /// Reads and checks the index. Errors "[load] ...".
  explicit ShardedCheckpoint(const std::string& folder);
  ~ShardedCheckpoint();

  const std::vector<Entry>& entries() const { return entries_; }
  const std::map<std::string, std::string>& metadata() const;
  /// A whole tensor. The CRC-32 of what is read is verified, here and below.
  Tensor tensor(const std::string& name) const;
  /// The part of a tensor that begins at `offset` and has `shape`, whatever the pieces are that it
  /// was saved in: what a process needs that holds another part of a model than its writer did.
  /// IndexError for a part that leaves the tensor.
  Tensor tensor(const std::string& name, IntArrayRef offset, IntArrayRef shape) const;
  StateDict tensors() const;
  /// Reads everything and checks sizes, CRC-32 and, where the index has them, SHA-256.
  void verify() const;

 private:
  struct Files;

  /// What is declared is what is allocated: the records must be as large as it says.
  void check_record(const std::string& name, const ShardPiece& piece) const;

  std::string folder_;
  std::unique_ptr<ShardIndex> index_;
  std::unique_ptr<Files> files_;
  std::vector<Entry> entries_;
};

/// All tensors of the checkpoint that is in the folder, be it replaced meanwhile.
TENON_API StateDict load_sharded(const std::string& folder);

/// Whether a folder has the index of a sharded checkpoint.
TENON_API bool is_sharded(const std::string& folder);

}  // namespace tenon::serialization
