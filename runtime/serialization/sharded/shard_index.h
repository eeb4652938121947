#pragma once

#include <map>
#include <string>
#include <vector>

#include "aten/core/scalar_type.h"

namespace tenon::serialization {

/// The name of the index in its folder.
inline constexpr const char* kIndexName = "index.json";

/// The text of a folder's index. OSError if it cannot be read.
std::string read_index(const std::string& folder);

/// Where a part of a tensor is.
struct ShardPiece {
  std::string file;
  std::string record;  ///< of the zip file
  std::vector<int64_t> offset;
  std::vector<int64_t> shape;
};

/// What the index of a sharded checkpoint, or a writer's part of it, says.
struct ShardIndex {
  struct File {
    uint64_t bytes;
    std::string sha256;  ///< empty: not computed
  };
  using Piece = ShardPiece;
  struct Tensor {
    ScalarType dtype;
    std::vector<int64_t> shape;
    std::vector<Piece> pieces;
  };

  std::map<std::string, std::string> metadata;
  std::map<std::string, File> files;
  std::vector<std::string> order;  ///< of the tensors
  std::map<std::string, Tensor> tensors;

  /// The tensor of that name, new or not; Error if it is known with another dtype or shape.
  Tensor& tensor(const std::string& name, ScalarType dtype, const std::vector<int64_t>& shape,
                 const std::string& what);
  /// Adds another writer's part.
  void merge(const ShardIndex& part, const std::string& what);
  /// Error unless the pieces of each tensor fill it exactly.
  void check_complete(const std::string& what) const;

  std::string print() const;
  /// Checks all that concerns one piece. Errors begin with `what`.
  static ShardIndex parse(const std::string& text, const std::string& what);
};

}  // namespace tenon::serialization
