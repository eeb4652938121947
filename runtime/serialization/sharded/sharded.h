#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/nn/module.h"

/// Checkpoints that are folders: tensors cut into pieces, pieces in several files that are written
/// and read at once, and an index that says where each piece is. Each file is a zip file of a dict
/// of tensors, which torch.load reads as well.
namespace tenon::serialization {

using nn::StateDict;

struct ShardedOptions {
  /// A file holds at least one piece and ends with the first that makes it larger than this.
  uint64_t file_bytes = uint64_t{1} << 30;
  /// Tensors larger than this are cut along their first dimension. It bounds what is read to load
  /// a part of a tensor.
  uint64_t piece_bytes = uint64_t{64} << 20;
  /// zlib's level of 1 to 9 to deflate the records, 0 to store them.
  int deflate = 0;
  /// Whether the index has the SHA-256 of each file. It takes a second reading of the files.
  bool sha256 = false;
  /// Free text that comes with the tensors.
  std::map<std::string, std::string> metadata = {};
};

/// A part of a tensor: where it lies in the whole and what it holds.
struct TensorPiece {
  std::string name;
  /// Shape of the whole tensor.
  std::vector<int64_t> shape;
  /// Indices of the part's first element.
  std::vector<int64_t> offset;
  Tensor data;
};

/// Writes a whole state dict into a folder, which is made if its parent exists. Readers see the
/// older checkpoint of the folder until the new one's index takes its place, as the last step; then
/// the older one's files are removed. Errors "[save] ...".
TENON_API void save_sharded(const StateDict& tensors, const std::string& folder,
                            const ShardedOptions& options = {});

/// The first half of save_sharded() for a checkpoint that several processes write: writes this
/// one's pieces and returns what its part of the index says, for commit_shards(). `writer` tells
/// the processes apart.
TENON_API std::string write_shards(const std::vector<TensorPiece>& pieces,
                                   const std::string& folder, const std::string& writer,
                                   const ShardedOptions& options = {});
/// The second half, for one of the processes when all have written: checks that the parts make up
/// whole tensors and puts the index in place.
TENON_API void commit_shards(const std::vector<std::string>& parts, const std::string& folder,
                             const ShardedOptions& options = {});

struct ShardIndex;
struct ShardPiece;

/// An open sharded checkpoint.
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

TENON_API StateDict load_sharded(const std::string& folder);

/// Whether a folder has the index of a sharded checkpoint.
TENON_API bool is_sharded(const std::string& folder);

}  // namespace tenon::serialization
