#pragma once

#include <algorithm>

#include "aten/iterator/rows.h"

// A call of run_rows, whose types are chosen and whose outputs are allocated, and how its operands
// lie. Not for other files than those that compute it.

namespace tenon::native {

struct RowRun {
  const RowOp& op;
  const RowShape& shape;
  ArrayRef<const TensorBase*> inputs;
  ArrayRef<const Scalar*> scalars;
  TensorBase* outputs;
  int64_t rows, length;
  std::optional<ScalarType> dtype;  ///< that the call asks for
  Device device = kCPU;
  ScalarType common = ScalarType::Undefined;  ///< promoted
  ScalarType compute =
      ScalarType::Undefined;        ///< Float, Double, Long; on a CPU also Int, Byte, Bool
  const RowLoops* loops = nullptr;  ///< the CPU's

  RowLoop row_major() const { return loop_of(loops->row_major); }
  RowLoop column_major() const { return loop_of(loops->column_major); }
  bool may_divide_by_zero() const { return is_integral(compute, false); }

 private:
  template <class Loops>
  RowLoop loop_of(const Loops& loops) const {
    return compute == kLong                       ? loops.i64
           : compute == kInt                      ? loops.i32
           : compute == kByte || compute == kBool ? loops.u8
           : compute == kDouble                   ? loops.f64
                                                  : loops.f32;
  }
};

/// The most rows whose sums, for columns, are added up in the compute type.
inline constexpr int64_t kSummedRows = 64;

/// `value` in a compute type.
inline void fill_number(double value, ScalarType compute, void* values, int64_t count) {
  if (compute == kFloat) std::fill_n(static_cast<float*>(values), count, static_cast<float>(value));
  if (compute == kDouble) std::fill_n(static_cast<double*>(values), count, value);
  if (compute == kLong)
    std::fill_n(static_cast<int64_t*>(values), count, static_cast<int64_t>(value));
}

/// A contiguous tensor's elements become 0.
inline void clear(const TensorBase& t) {
  std::fill_n(static_cast<char*>(t.data_ptr()), t.numel() * t.element_size(), '\0');
}

/// Whether the sizes are those of a value per row, with or without the row's dimensions.
bool are_row_values(IntArrayRef sizes, const RowShape& shape);
/// A whole call of few elements and values of rows, all of one floating type and dense: types,
/// allocation and all. False: it is another.
bool run_plain_rows(const RowOp& op, const RowShape& shape, ArrayRef<const TensorBase*> inputs,
                    ArrayRef<const Scalar*> scalars, TensorBase* outputs, uint32_t wanted);
/// Few elements that lie as the loop wants them: one block, without a layout. False: they do not.
bool run_few_rows(const RowRun& run);
void run_rows_on_cpu(const RowRun& run);
void run_rows_on_device(const RowRun& run);

/// Tensors as rows: the shape's dimensions, those of a row apart, neighbours merged where all
/// operands allow it. There is at least one of each.
struct RowLayout {
  struct Operand {
    TensorBase tensor;  ///< undefined: absent
    RowOperand kind = RowOperand::Element;
    DimVector outer, inner;  ///< strides in elements, by the sizes below
    bool is_element() const { return tensor.defined() && kind == RowOperand::Element; }
    char* data() const { return static_cast<char*>(tensor.data_ptr()); }
    /// Along the last dimension of a row, and from row to row along the last of the others.
    int64_t step() const { return inner.back(); }
    int64_t row() const { return outer.back(); }
  };
  DimVector outer, inner;  ///< sizes
  SmallVector<Operand, 6> operands;

  /// `dense`: element operands whose rows do not lie one after the other become copies, whose
  /// values are those of the tensor where it is an input.
  RowLayout(const RowRun& run, ArrayRef<TensorBase> tensors, bool dense);

  int64_t segments() const;
  int64_t segment_length() const { return inner.back(); }
  /// Of the row that is number `first` along the last of the other dimensions, `index` counting the
  /// combinations of those before it; in elements.
  int64_t offset(const Operand& operand, int64_t index, int64_t first) const;
};

/// What run_rows returns is `outputs`: copies what was written elsewhere.
void deliver_rows(const RowRun& run, const RowLayout& layout);

}  // namespace tenon::native
