#pragma once

#include <ostream>
#include <string>

#include "aten/core/tensor_base.h"

namespace tenon {

/// Prints as PyTorch's Python does:
///     tensor([[0.4963, 0.7682],
///             [0.0885, 0.1320]], dtype=torch.float64, requires_grad=True)
/// Four digits; more than 1000 elements are shown by three at each edge; scientific notation where
/// the largest is above 1e8, the smallest below 1e-4 or their ratio above 1000.
TENON_API std::ostream& operator<<(std::ostream& out, const TensorBase& tensor);
TENON_API std::string to_string(const TensorBase& tensor);

/// What printing needs of the layers above; unset ones leave their part out.
struct PrintHooks {
  TensorBase (*to_cpu)(const TensorBase& tensor) = nullptr;
  /// Name of the node that made the tensor, "AddBackward0"; empty without one.
  std::string (*grad_fn_name)(const TensorBase& tensor) = nullptr;
  /// Stands before the names of dtypes: "dtype=torch.float64".
  const char* module = "torch";
};
TENON_API PrintHooks& print_hooks();

}  // namespace tenon
