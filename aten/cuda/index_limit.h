#pragma once

#include <cstdint>

#include "aten/core/macros.h"

namespace tenon::cuda {

/// Work of fewer elements than this, and of fewer bytes from its first to its last, is addressed
/// with 32 bits; larger work is split, or takes 64-bit divisions. 2^31 but for tests.
TENON_API int64_t index_limit();

/// Lowers the limit until the end of the scope, so that little data reaches both ways.
class TENON_API LowerIndexLimit {
 public:
  explicit LowerIndexLimit(int64_t limit);
  ~LowerIndexLimit();
  LowerIndexLimit(const LowerIndexLimit&) = delete;
  LowerIndexLimit& operator=(const LowerIndexLimit&) = delete;

 private:
  int64_t previous_;
};

}  // namespace tenon::cuda
