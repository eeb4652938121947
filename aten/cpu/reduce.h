#pragma once

#include "aten/core/tensor_base.h"

namespace tenon::native {

/// any and all share their loops.
enum class Logic { kAny, kAll };

/// What `finish` needs besides the accumulated values.
struct ReduceContext {
  int64_t count = 1;          ///< elements reduced to one
  Logic logic = Logic::kAny;  ///< the result to take from the loops of any and all
};

/// The loops of one reduction for one element type. An accumulator is a plain value of acc_size
/// bytes. `first` means that the accumulators hold nothing yet.
struct ReduceLoops {
  size_t acc_size;
  size_t item_size;  ///< bytes of an element of the input
  /// acc[i] takes in the n contiguous elements at in + i * step, i < count; step in elements.
  void (*rows)(const void* in, int64_t step, int64_t count, int64_t n, void* acc, bool first);
  /// acc[j] takes in the elements in[r * pitch + j], r < rows, j < n; n <= kMaxColumns. Null: the
  /// caller has to bring the reduced elements side by side.
  void (*columns)(const void* in, int64_t pitch, int64_t rows, int64_t n, void* acc, bool first);
  /// acc[i] takes in other[i].
  void (*combine)(void* acc, const void* other, int64_t n);
  /// The value of an empty reduction.
  void (*identity)(void* acc, int64_t n);
  /// out[i * step] = the result of acc[i]; step in elements of the output.
  void (*finish)(const void* acc, void* out, int64_t step, int64_t n, const ReduceContext& context);
};

inline constexpr int64_t kMaxColumns = 2048;

/// Reduces the dimensions of the mask. `out` has the sizes of what is left, with or without ones
/// for what is reduced. The context's count is filled in.
void reduce(const TensorBase& self, uint64_t mask, const TensorBase& out, const ReduceLoops& loops,
            ReduceContext context = {});

}  // namespace tenon::native
