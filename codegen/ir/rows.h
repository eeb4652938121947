#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/expr/rows/row_schedule.h"
#include "codegen/schema/fields.h"

namespace tenon::codegen::ir {

using RowKind = expr::RowOutput;

struct RowInput {
  std::string name;
  RowKind kind = RowKind::kElement;
  bool position = false;  ///< an index into the row
  bool promotes = true;   ///< takes part in type promotion
  bool optional = false;
  std::string absent = "0.0";  ///< C++ of the value that stands for it then
  TENON_FIELDS(name, kind, position, promotes, optional, absent)
};

enum class RowDtype : uint8_t { kBool, kLong, kSum, kPromoted };

struct RowResult {
  RowKind kind = RowKind::kElement;
  RowDtype dtype = RowDtype::kPromoted;
  TENON_FIELDS(kind, dtype)
};

struct RowStep : expr::RowStep {
  std::optional<size_t> position_input;  ///< index of the input that is the position, if one is
  std::vector<std::string> ahead;        ///< inputs that are fetched for the next row meanwhile
  bool operator==(const RowStep&) const = default;
  TENON_MORE_FIELDS(expr::RowStep, position_input, ahead)
};

/// How the CUDA kernel goes about it.
struct CudaRows {
  std::vector<RowStep> steps;
  std::vector<size_t> kept;  ///< inputs that a thread keeps
  std::vector<size_t> sums;  ///< outputs added up over the rows
  TENON_FIELDS(steps, kept, sums)
};

struct RowKernel {
  std::string ident;
  std::vector<RowInput> inputs;
  std::vector<std::string> scalars;
  std::vector<RowResult> outputs;
  std::vector<int> spill_outputs;  ///< for each spilled row: an output with room for it, or -1
  bool column_major = false;       ///< there is a loop for rows that are interleaved in memory
  bool reads_once = false;   ///< half types, bytes with int32_loops, are converted as they are read
  bool int32_loops = false;  ///< integers of up to 32 bits are computed in int32
  size_t batched_tail = 0;  ///< of the last steps, those that are computed for several rows at once
  std::vector<std::string> last_reads;  ///< what these read, without what they define
  bool floating = false;                ///< no integers
  bool integer_only = false;            ///< integers alone
  std::vector<std::string> types;       ///< f32, f64, i64: those it is compiled for
  bool needs_elements = false;
  bool uses_index = false;
  size_t num_passes = 0;
  std::vector<RowStep> steps;
  CudaRows cuda;
  TENON_FIELDS(ident, inputs, scalars, outputs, spill_outputs, column_major, reads_once,
               int32_loops, batched_tail, last_reads, floating, integer_only, types, needs_elements,
               uses_index, num_passes, steps, cuda)
};

/// A tensor as the operators of the composed form read it.
struct RowConversion {
  std::string name;
  bool position = false;
  RowKind kind = RowKind::kElement;
  bool optional = false;
  std::string absent = "0.0";
  TENON_FIELDS(name, position, kind, optional, absent)
};

/// A result made of operators.
struct ComposedRow {
  RowKind kind = RowKind::kElement;
  RowDtype dtype = RowDtype::kPromoted;
  std::string text;
  TENON_FIELDS(kind, dtype, text)
};

struct Rowwise {
  std::string shape;     ///< C++ of the call's RowShape
  std::string as_float;  ///< arguments of the same call in Float; empty without `half_to_float`
  RowKernel kernel;
  std::vector<ComposedRow> composed;
  std::vector<RowConversion> conversions;
  std::vector<expr::NamedText> defaults;  ///< of numbers that may be absent
  bool dtype = false;                     ///< an argument of that name is what is computed in
  std::string like;
  std::vector<std::string> operators;
  std::vector<std::string> readable;
  std::vector<std::string> headers;
  TENON_FIELDS(shape, as_float, kernel, composed, conversions, defaults, dtype, like, operators,
               readable, headers)
};

struct RowGradient {
  size_t input = 0;
  RowKind kind = RowKind::kElement;
  std::string text, readable;
  std::string sizes;              ///< kRow: the saved value with the argument's sizes
  std::optional<size_t> same_as;  ///< an earlier gradient that this one equals: both are one tensor
  TENON_FIELDS(input, kind, text, readable, sizes, same_as)
};

/// The gradient of a result, which the kernel reads.
struct RowGrad {
  std::string name;
  size_t result = 0;
  RowKind kind = RowKind::kElement;
  bool always = false;    ///< the node has no other
  bool optional = false;  ///< the kernel knows that it is 0 where it is absent
  TENON_FIELDS(name, result, kind, always, optional)
};

/// The derivative of a `rowwise` entry.
struct RowGradients {
  std::vector<RowGrad> grads;
  RowKernel kernel;
  std::vector<RowGradient> gradients;
  std::vector<RowConversion> conversions;
  std::vector<expr::NamedText> defaults;
  bool dtype = false;
  std::vector<std::string> operators;
  TENON_FIELDS(grads, kernel, gradients, conversions, defaults, dtype, operators)
};

}  // namespace tenon::codegen::ir
