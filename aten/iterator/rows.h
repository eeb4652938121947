#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <vector>

#include "aten/core/tensor_base.h"
#include "aten/iterator/pointwise_op.h"

// How operators of `rowwise` entries run: a row is what their dimensions hold for one value of all
// others. Every element operand has the shape `sizes`, broadcast; an operand of rows has a value
// for each row, its shape that of the reduction with or without the reduced dimensions; a column's
// shape is that of a row.

namespace tenon::native {

/// The shape of a call's elements, and which dimensions make a row.
struct RowShape {
  DimVector sizes;
  uint64_t mask = 0;     ///< bit d: dimension d is in the row
  bool keepdim = false;  ///< results of rows keep those dimensions, with size 1
  bool with_row(size_t dim) const { return (mask >> dim) & 1; }

  int64_t rows() const;
  int64_t length() const;
  DimVector row_sizes() const;      ///< of the row's dimensions, in order
  DimVector outer_sizes() const;    ///< of the others
  DimVector reduced_sizes() const;  ///< of a result that has one value per row
  DimVector row_last() const;       ///< permutation: the others, then the row's
};

/// Rows over `dims`, wrapped; none, or an empty list, means all. Errors "[op] dim 0 appears
/// multiple times in the list of dims", and where the elements do not broadcast.
TENON_API RowShape row_shape(const char* op, std::initializer_list<const TensorBase*> elements,
                             OptionalIntArrayRef dims, bool keepdim);
/// Rows over one dimension; none means all.
TENON_API RowShape row_shape_of_dim(const char* op,
                                    std::initializer_list<const TensorBase*> elements,
                                    std::optional<int64_t> dim, bool keepdim);
/// Rows over the last dimensions, whose sizes must be these. Error "[op] expected the last
/// dimensions to be [5], got an input of shape [2, 3]".
TENON_API RowShape row_shape_of_sizes(const char* op,
                                      std::initializer_list<const TensorBase*> elements,
                                      IntArrayRef sizes, bool keepdim);

/// Error "[op] 'target' must have one value per row, shape [2], got [3]".
TENON_API void check_row_values(const char* op, const char* operand, IntArrayRef sizes,
                                const RowShape& shape);
/// Error "[op] 'weight' must have the shape of a row, [3], got [4]".
TENON_API void check_column_values(const char* op, const char* operand, IntArrayRef sizes,
                                   const RowShape& shape);

/// What a generated loop gets: some rows, their operands in the compute type T. The elements of a
/// row are `segments` times `segment_length`.
struct RowBlock {
  /// Element i of segment s of row r is at data + r * row + s * segment + i * step, in elements.
  /// `data` is null where an output is not wanted.
  struct Elements {
    void* data = nullptr;
    int64_t row = 0, segment = 0, step = 0;
  };
  int64_t rows = 0;
  int64_t length = 0;
  int64_t segments = 1, segment_length = 1;
  const Elements* inputs = nullptr;
  const Elements* outputs = nullptr;
  const Elements* spills = nullptr;  ///< intermediate values
  /// Rows whose segments lie one after the other in all operands: so many are taken at a time.
  int64_t together = 1;
  bool padded_spills = false;  ///< with room for a vector behind each row of them
  /// Rows of outputs begin at kStreamAlignment and are too large to be found in a cache later.
  bool past_caches = false;
  const int64_t* const* positions = nullptr;  ///< of inputs that `pick` reads from: one a row
  const Scalar* scalars = nullptr;
  /// Set by the loop: the input that holds a position which is needed and not in the row, and the
  /// row.
  int bad_input = -1;
  int64_t bad_row = 0;

  /// The position in the row, or 0 after noting that it is outside.
  int64_t position(int k, int64_t row, bool needed) {
    const int64_t p = positions[k][row];
    if (p >= 0 && p < length) return p;
    if (needed && bad_input < 0) {
      bad_input = k;
      bad_row = row;
    }
    return 0;
  }
};

/// Rows of at least two such chunks are computed chunk by chunk, on several threads if there are
/// fewer rows than threads. The chunks' partial reductions are merged in their order.
inline constexpr int64_t kRowChunk = 65536;
/// The most rows whose segments lie one after the other that a loop takes at a time.
#ifdef __OPTIMIZE_SIZE__
inline constexpr int64_t kRowsTogether = 1;
#else
inline constexpr int64_t kRowsTogether = 16;
#endif
/// The most rows side by side that a loop takes at a time, and their chunks.
inline constexpr int64_t kRowStrip = 512, kRowStripChunk = 4096;

using RowLoop = void (*)(RowBlock& block);
/// Half types are computed in float, integers and Bool in int64, or where there are such loops up
/// to 32 bits in int32 and Bool and bytes in uint8; f16 and bf16 read elements of those types;
/// null: not defined for the type.
struct RowLoops {
  /// For rows whose elements follow one another in memory, `step` 1: lanes hold elements of a row.
  struct RowMajor {
    RowLoop f32 = nullptr, f64 = nullptr, i64 = nullptr, i32 = nullptr, f16 = nullptr,
            bf16 = nullptr, u8 = nullptr;
  } row_major;
  /// For rows that are interleaved in memory, `row` 1 in all operands but columns: a lane per row.
  struct ColumnMajor {
    RowLoop f32 = nullptr, f64 = nullptr, i64 = nullptr, i32 = nullptr, u8 = nullptr;
  } column_major;
};

/// What a kernel of another device gets: all rows at once, as the operands lie. Elements are of the
/// compute type, or of Half or BFloat16 where that is float; values of rows and columns of the
/// compute type, dense; positions int64, dense; sums over the rows double, dense.
struct RowCall {
  struct Operand {
    void* data = nullptr;  ///< null: an input that is absent, an output that is not wanted
    ScalarType dtype = ScalarType::Undefined;
    int64_t stride = 0;              ///< along the row, in elements
    const int64_t* outer = nullptr;  ///< along the other dimensions
    double absent = 0;
  };
  const char* op = nullptr;
  Device device = kCPU;
  ScalarType compute = ScalarType::Undefined;  ///< Float, Double or Long
  int64_t rows = 0, length = 0;
  const int64_t* sizes = nullptr;  ///< of the other dimensions, merged, kMaxOuter at most
  int ndim = 0;
  bool neighbours = false;  ///< rows rather than their elements lie side by side
  const Operand* inputs = nullptr;
  const Operand* outputs = nullptr;
  const Scalar* const* scalars = nullptr;

  static constexpr int kMaxOuter = 8;
};
using RowDeviceKernel = void (*)(const RowCall& call);

enum class RowOperand : uint8_t { Element, Row, Column };

struct RowInput {
  const char* name;
  RowOperand kind;
  bool is_position = false;  ///< integers
  bool promotes = true;      ///< takes part in type promotion
  double absent = 0;         ///< stands for a tensor that is not given
};

struct RowOutput {
  enum class DType : uint8_t {
    Promoted,  ///< the promoted dtype of the operands
    Sum,       ///< the same, but int64 for integers and Bool
    Bool,
    Long  ///< of one value per row, which the loop writes as int64
  };
  RowOperand kind;
  DType dtype = DType::Promoted;
};

/// A row operator's kernel and dtype rule: what the generator emits.
struct RowOp {
  const char* name;
  const RowInput* inputs;
  const RowOutput* outputs;
  const int* spill_outputs;  ///< for each spilled row: an output that may hold it, or -1
  uint8_t num_inputs, num_outputs, num_scalars, num_spills, num_passes;
  bool floating;        ///< integers become the default dtype
  bool needs_elements;  ///< a row must not be empty: max, min
  bool uses_index;      ///< positions are values of the compute type
  const RowLoops* (*cpu)();
  RowDeviceKernel cuda;  ///< null where there is none
};

/// Computes outputs k with bit k of `wanted`, newly allocated; the others stay undefined. On meta
/// tensors they are only allocated. inputs[k] is null, or undefined, where absent. With a dtype,
/// inputs are converted to it first, but for positions, and it is that of the outputs, but for
/// those that are Bool or Long. Errors name the operator and the operand: "[op] 'target' must have
/// one value per row, shape [2], got [3]".
TENON_API void run_rows(const RowOp& op, const RowShape& shape, ArrayRef<const TensorBase*> inputs,
                        ArrayRef<const Scalar*> scalars, TensorBase* outputs, uint32_t wanted = ~0u,
                        std::optional<ScalarType> dtype = std::nullopt);

/// Error "[op] 'dtype' must be a floating type, got Long" where only such are computed in.
TENON_API void check_row_dtype(const char* op, std::optional<ScalarType> dtype, bool floating);

/// Whether the operator has a kernel for the device; elsewhere the same is computed with operators.
TENON_API bool row_kernel_runs(const RowOp& op, Device device);

}  // namespace tenon::native
