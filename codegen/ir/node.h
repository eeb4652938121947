#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "codegen/ir/kernel.h"
#include "codegen/ir/place.h"
#include "codegen/ir/rows.h"
#include "codegen/schema/fields.h"

namespace tenon::codegen::ir {

enum class InputKind : uint8_t { kTensor, kOptional, kList };

struct NodeInput {
  std::string name;
  InputKind kind = InputKind::kTensor;
  // Where its gradient is: after those of the inputs before it, of which a list has many.
  size_t tensors_before = 0;
  std::vector<std::string> lists_before;
  TENON_FIELDS(name, kind, tensors_before, lists_before)
};

enum class SavedKind : uint8_t {
  kTensor,
  kOptionalTensor,
  kTensorList,
  kOptionalTensorList,
  kResult,
  kResultList,
  kValue,
  kResultValue
};

/// What backward keeps.
struct SavedValue {
  std::string name;
  std::string shown;  ///< PyTorch's name for it
  SavedKind kind = SavedKind::kValue;
  std::string type, init;       ///< C++; empty of results
  std::string of;               ///< kResultValue: the result in `init`
  std::optional<size_t> index;  ///< of results and their values
  std::optional<bool> is_self;  ///< of whole arguments
  std::set<size_t> users;       ///< inputs whose gradient needs it
  bool pointwise = false;       ///< a kernel reads it
  bool guarded = false;         ///< kept only if a user can be asked for
  bool shared = false;          ///< several formulas read it
  bool of_result = false;       ///< it is saved after the call
  TENON_FIELDS(name, shown, kind, type, init, of, index, is_self, users, pointwise, guarded, shared,
               of_result)
};

/// Gradients as C++.
struct NodeFormula {
  std::vector<size_t> outputs;  ///< indices of inputs
  std::string text;
  std::string original;
  bool not_implemented = false;
  Place place;
  bool uses_grads = false;
  std::vector<std::string> uses;  ///< saved variables
  TENON_FIELDS(outputs, text, original, not_implemented, place, uses_grads, uses)
};

enum class GradientKind : uint8_t {
  kKernel,
  kGrad,  ///< the gradient itself
  kZero,
  kOperators  ///< too many tensors for one kernel
};

/// A gradient that a kernel can compute.
struct PointwiseGradient {
  size_t input = 0;
  GradientKind kind = GradientKind::kKernel;
  std::string text;  ///< C++ made of differentiable operators, for double backward
  std::string readable;
  std::vector<std::string> uses;
  TENON_FIELDS(input, kind, text, readable, uses)
};

enum class TangentRule : uint8_t { kLinear, kElementWise, kElementWiseOfReals, kFormula };

/// What the formulas of tangents read.
struct ForwardValue {
  std::string name;
  bool is_result = false;
  size_t index = 0;  ///< of the argument or result
  std::string type;  ///< C++ of an argument
  TENON_FIELDS(name, is_result, index, type)
};

struct Tangent {
  std::string name;
  size_t index = 0;  ///< of the argument
  bool is_list = false;
  TENON_FIELDS(name, index, is_list)
};

struct TangentTerm {
  std::string text;
  bool negative = false;
  std::vector<Tangent> tangents;
  std::vector<RowConversion> conversions;  ///< of a `rowwise` entry
  TENON_FIELDS(text, negative, tangents, conversions)
};

struct TangentFormula {
  std::vector<size_t> outputs;
  std::string original;
  std::vector<TangentTerm> terms;
  TENON_FIELDS(outputs, original, terms)
};

/// How forward mode computes the tangents of results.
struct Forward {
  TangentRule rule = TangentRule::kLinear;
  uint64_t covered = 0, uncovered = 0;  ///< arguments as bits
  std::vector<ForwardValue> values;
  std::string row_shape;  ///< C++ of the call's RowShape, of a `rowwise` entry
  std::vector<TangentFormula> formulas;
  TENON_FIELDS(rule, covered, uncovered, values, row_shape, formulas)
};

/// The backward node of an entry.
struct Node {
  std::string name, ident;
  Place place;
  std::vector<NodeInput> inputs;
  size_t num_results = 0;
  std::vector<bool> differentiable_outputs;
  std::vector<SavedValue> saved;
  std::vector<NodeFormula> formulas;
  std::vector<PointwiseGradient> pointwise;
  std::optional<RowGradients> rowwise;
  std::optional<Forward> forward;
  std::vector<GradientKernel> kernels;
  std::vector<std::string> operators, headers;
  TENON_FIELDS(name, ident, place, inputs, num_results, differentiable_outputs, saved, formulas,
               pointwise, rowwise, forward, kernels, operators, headers)
};

}  // namespace tenon::codegen::ir
