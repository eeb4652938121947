#pragma once

#include <memory>

#include "aten/batching/batch.h"

/// The functions that this thread is batching, one in another.
namespace tenon::batching {

using Level = std::shared_ptr<const BatchLevel>;

/// Begins a level of `size` examples on this thread and returns its number.
/// ValueError for a negative size.
TENON_API int64_t begin_level(int64_t size, BatchRandomness randomness);
/// Ends the innermost level: what is batched at it can be used no more.
TENON_API void end_level();
/// The innermost level, null if there is none. Rules run with the levels below their own.
TENON_API Level current_level();
/// That of this number, from 1 to the innermost. ValueError if there is none.
TENON_API Level level_of_number(int64_t number);

/// Whether an operator without a rule says once that it runs for each example; at first true.
TENON_API bool loop_warnings();
TENON_API void set_loop_warnings(bool warn);

/// Until the end of the scope the levels from this one on are none.
class BelowLevel {
 public:
  explicit BelowLevel(const BatchLevel& level);
  ~BelowLevel();
  BelowLevel(const BelowLevel&) = delete;
  BelowLevel& operator=(const BelowLevel&) = delete;

 private:
  Level previous_;
};

}  // namespace tenon::batching
