#pragma once

#include <functional>

#include "aten/dispatch/kernel.h"

namespace tenon {

/// The derivative of an operator that is defined at run time.
struct BoxedDerivative {
  /// What backward has: undefined tensors for gradients that are zero everywhere, none for tensors
  /// that were not saved.
  struct Call {
    const OperatorEntry& op;
    const Stack& gradients;  ///< of each result
    const Stack& results;
    const Stack& arguments;
    const std::vector<bool>& wanted;  ///< for each argument, whether its gradient is asked for
    /// The sizes of each tensor, a list of numbers; none for other values and lists.
    const Stack& argument_sizes;
    const Stack& result_sizes;
  };
  /// Gives the gradient of each argument, none if it is zero: a tensor, or for a list of tensors a
  /// list. If it records, it is made of operators, so that it can be differentiated itself.
  std::function<Stack(const Call& call)> backward;
  /// Bit i: tensor argument or result i is kept for backward. Other arguments always are.
  uint64_t saved_arguments = ~uint64_t{0};
  uint64_t saved_results = ~uint64_t{0};
};

/// A kernel for DispatchKey::Autograd that calls the operator and records its derivative. Error in
/// a library without the autograd layer. The operator's results must not be views of arguments.
TENON_API BoxedKernel recorded_with(BoxedDerivative derivative);

namespace detail {
TENON_API void set_maker_of_recorded_kernels(BoxedKernel (*maker)(BoxedDerivative derivative));
}  // namespace detail
}  // namespace tenon
