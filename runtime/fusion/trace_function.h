#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "autograd/func.h"

/// Functions of tensors as compositions of operators. docs/transforms.md.
namespace tenon::fusion {

/// What a function has done with its inputs, as an entry of native_functions.yaml's form.
struct TracedFunction {
  std::string operator_name;  ///< "fused::f0123...", which says what the entry depends on
  std::string yaml;
  std::vector<size_t> inputs;      ///< which of the inputs it reads, in the operator's order
  std::vector<Tensor> captured;    ///< tensors that it read besides, the next arguments
  std::vector<ScalarType> dtypes;  ///< floating dtypes that it computes with
  size_t num_results = 0;
};

/// Calls f on meta tensors of the inputs' sizes and records its operators. A tensor that f changes
/// in place must be one that f has made. Error "[fuse] aten::item: ..." for an operator that needs
/// the values of a tensor, that writes to an input, or that no composition can call.
TENON_API TracedFunction trace(const func::ListFunction& f, const std::vector<Tensor>& inputs);

/// Whether this thread runs a function for its trace.
TENON_API bool is_tracing();

}  // namespace tenon::fusion
