#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/ir/rows.h"
#include "codegen/schema/fields.h"

namespace tenon::codegen::ir {

/// What the gradients of an entry are computed from, by names.
struct GradientCall {
  std::vector<std::string> grads;      ///< of results
  std::vector<std::string> results;    ///< `result`, or `result0` of several
  std::vector<std::string> arguments;  ///< in the schema's order, numbers included
  std::vector<std::string> elements;   ///< those that the shape follows from
  std::vector<std::string> inputs;     ///< arguments that have a gradient
  TENON_FIELDS(grads, results, arguments, elements, inputs)
};

struct CallParameter {
  std::string name, type, owned;  ///< C++
  std::string schema;             ///< as PyTorch reads it
  bool tensor = false, optional = false;
  RowKind kind = RowKind::kElement;
  TENON_FIELDS(name, type, owned, schema, tensor, optional, kind)
};

/// An operator of PyTorch: the entry's, or the one that computes its gradients.
struct TorchCall {
  std::string name, ident;
  std::vector<CallParameter> parameters;
  std::vector<RowKind> results;
  /// How `vmap` calls it: `aligned` (the batch before all dimensions), `shifted` (as well, and the
  /// row's dimensions are counted from the batch on) or `composed` (by operators).
  std::string batched;
  TENON_FIELDS(name, ident, parameters, results, batched)
};

/// What kernels without the library need of a `pointwise` or `rowwise` entry (--target c, torch,
/// stable).
struct Standalone {
  /// What makes a row: `all`, `numbers` (text), or an argument: `number`, `optional_number`,
  /// `list`, `optional_list`, `sizes`; empty if pointwise.
  std::string over;
  std::string dims;                   ///< the numbers, or the argument's name
  std::string keepdim;                ///< C++
  std::vector<std::string> elements;  ///< arguments that the shape of a call follows from
  std::vector<std::string> composed;  ///< each result made of operators; empty if dtypes differ
  bool widens = false;                ///< a result has one value per row: computed in float
  std::vector<std::string> called;    ///< the operators that it and its gradients are made of
  std::optional<GradientCall> gradients;
  TorchCall forward;
  std::optional<TorchCall> backward;
  TENON_FIELDS(over, dims, keepdim, elements, composed, widens, called, gradients, forward,
               backward)
};

}  // namespace tenon::codegen::ir
