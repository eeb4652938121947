#pragma once

#include <cstddef>
#include <vector>

#include "aten/core/macros.h"

namespace tenon {

/// Memory of the caller's for results that another library has the place for: while this lives, a
/// CPU storage of the calling thread that has exactly the size of a block lies in it, once for each
/// block. The caller keeps the memory longer than all tensors that are made meanwhile.
class TENON_API DonatedMemory {
 public:
  struct Block {
    void* data;    ///< aligned to 64 bytes
    size_t bytes;  ///< more than memory::kMaxSmall; smaller ones are not used
  };

  explicit DonatedMemory(std::vector<Block> blocks);
  ~DonatedMemory();
  DonatedMemory(const DonatedMemory&) = delete;
  DonatedMemory& operator=(const DonatedMemory&) = delete;

  /// A block of the thread's that is left, or null.
  static void* take(size_t bytes) noexcept;

 private:
  std::vector<Block> left_;
  DonatedMemory* const outer_;
};

}  // namespace tenon
