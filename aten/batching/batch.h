#pragma once

#include <memory>

#include "aten/core/tensor_impl.h"

namespace tenon {

/// What random operators do while a function is batched: raise an error, draw once for the whole
/// batch, or draw for each of its examples.
enum class BatchRandomness : uint8_t { Error, Same, Different };

/// One call of a batched function, from its start to its end. Levels nest; the innermost has the
/// highest number.
struct BatchLevel {
  int64_t number;  ///< from 1
  int64_t size;    ///< how many examples the batch has
  BatchRandomness randomness;
  std::shared_ptr<const BatchLevel> below;  ///< the next lower level, null for the first
  mutable bool ended = false;               ///< what is batched at this level can be used no more
};

/// What makes a tensor a batched one: its sizes are those of one example, its elements those of
/// `value`, whose first dimension is the batch. `value` may be batched at lower levels.
struct BatchedValue {
  IntrusivePtr<TensorImpl> value;
  std::shared_ptr<const BatchLevel> level;
};

void destroy_batched_value(BatchedValue* value) noexcept;

}  // namespace tenon
