#pragma once

#include <string>
#include <vector>

#include "aten/dispatch/registration.h"
#include "aten/dispatch/value.h"
#include "autograd/func.h"

/// Functions of tensors as compositions of operators. docs/transforms.md.
namespace tenon::fusion {

/// Part of a function: a composition, or an operator that is called between compositions. Tensors
/// are numbered: the inputs, the captured ones, then the results of the steps.
struct TracedStep {
  std::string operator_name;   ///< of a composition: "fused::f0123...", which depends on its text
  std::string yaml;            ///< its entry, in native_functions.yaml's form; empty: an operator
  std::vector<size_t> inputs;  ///< numbers of the tensors that it takes, in the operator's order
  size_t num_results = 0;
  const OperatorEntry* op = nullptr;  ///< a composition's once it is built
  Stack arguments;                    ///< of an operator, whose tensors others replace
  bool records_gradients = true;
};

/// What a function has done with its inputs.
struct TracedFunction {
  std::vector<TracedStep> steps;
  size_t num_inputs = 0;
  std::vector<Tensor> captured;    ///< tensors that it read besides
  std::vector<size_t> results;     ///< numbers of tensors
  std::vector<ScalarType> dtypes;  ///< floating dtypes that it computes with

  /// Whether an input required a gradient that was recorded, and whether another trace is faster
  /// for calls that differ in it.
  bool records_gradients = false, depends_on_gradients = false;

  /// Whether one composition takes inputs, then captured tensors, and gives the results.
  TENON_API bool is_one_operator() const;
};

/// Builds and loads the compositions. `python`: an interpreter that has Jinja2.
TENON_API void build(TracedFunction& traced, const std::string& python = "");
/// Runs the steps, which are built.
TENON_API func::Tensors run(const TracedFunction& traced, const func::Tensors& inputs,
                            const func::Tensors& captured);

/// Calls f on meta tensors of the inputs' sizes and records its operators. An operator that writes
/// to a tensor that f is given, that is of another library, or whose arguments no composition can
/// write is a step. Error "[fuse] aten::item: ..." for an operator that needs the values of a
/// tensor, or that changes memory which two tensors share.
TENON_API TracedFunction trace(const func::ListFunction& f, const std::vector<Tensor>& inputs);

/// Whether gradients of a call with these inputs are recorded.
TENON_API bool records_gradients(const std::vector<Tensor>& inputs);

/// Whether this thread runs a function for its trace.
TENON_API bool is_tracing();

}  // namespace tenon::fusion
