#pragma once

#include <cstdint>

namespace tenon::native {

/// Until the end of the scope the outputs that this thread gives to pointwise operators are parts
/// of memory that is new, `bytes` together: large ones are written past the caches, as new results
/// are.
class NewMemory {
 public:
  explicit NewMemory(int64_t bytes) : previous_(bytes_) { bytes_ = bytes; }
  ~NewMemory() { bytes_ = previous_; }
  NewMemory(const NewMemory&) = delete;
  NewMemory& operator=(const NewMemory&) = delete;

  static int64_t bytes() { return bytes_; }

 private:
  static inline constinit thread_local int64_t bytes_ = 0;

  int64_t previous_;
};

}  // namespace tenon::native
