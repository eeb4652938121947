#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <string_view>

#include "aten/core/tensor_base.h"

namespace tenon {

/// Prints as PyTorch's Python does:
///     tensor([[0.4963, 0.7682],
///             [0.0885, 0.1320]], dtype=torch.float64, requires_grad=True)
/// Four digits; more than 1000 elements are shown by three at each edge; scientific notation where
/// the largest is above 1e8, the smallest below 1e-4 or their ratio above 1000: see PrintOptions.
TENON_API std::ostream& operator<<(std::ostream& out, const TensorBase& tensor);
/// `name`: what stands before the parenthesis.
TENON_API std::string to_string(const TensorBase& tensor, std::string_view name = "tensor");

/// How tensors are printed, in all threads. Set while nothing prints.
struct PrintOptions {
  int precision = 4;             ///< digits after the point
  int64_t threshold = 1000;      ///< with more elements than this only the edges are shown
  int64_t edgeitems = 3;         ///< elements of each dimension at each edge
  int64_t linewidth = 80;        ///< characters of a line, after which rows are broken
  std::optional<bool> sci_mode;  ///< scientific notation or not; unset: as the values need it
};
TENON_API PrintOptions& print_options();

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
