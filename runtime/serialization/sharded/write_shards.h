#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runtime/nn/module.h"

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

/// What writer `rank` of `size` writes of a state that all of them hold: rows of each tensor, as
/// many as the others, and in turn those that cannot be divided. Views.
TENON_API std::vector<TensorPiece> share_of(const StateDict& state, int rank, int size);

/// Writes a whole state dict into a folder, which is made if its parent exists. The new files have
/// names of their own; readers find the older checkpoint of the folder until the new one's index
/// takes its place, as the last step; then the older one's files are removed. Of several at once,
/// by whatever processes, each is written whole, and the last to be ready stays. Errors
/// "[save] ...".
TENON_API void save_sharded(const StateDict& tensors, const std::string& folder,
                            const ShardedOptions& options = {});

/// The first half of save_sharded() for a checkpoint that several processes write: writes this
/// one's pieces and returns what its part of the index says, for commit_shards(). `writer` tells
/// the processes apart. Nobody need wait for anybody before or after: the files of a part that was
/// not committed are left alone for a day, whatever else is saved to the folder.
TENON_API std::string write_shards(const std::vector<TensorPiece>& pieces,
                                   const std::string& folder, const std::string& writer,
                                   const ShardedOptions& options = {});
/// The second half, for one of the processes once it has the parts of all: checks that they make up
/// whole tensors and that their files are there, and puts the index in place.
TENON_API void commit_shards(const std::vector<std::string>& parts, const std::string& folder,
                             const ShardedOptions& options = {});

}  // namespace tenon::serialization
