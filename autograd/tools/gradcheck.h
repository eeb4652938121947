#pragma once

#include <functional>
#include <vector>

#include "tenon/tensor.h"

namespace tenon::autograd {

/// A function of tensors to be checked; it must give the same results each time it is called.
using CheckedFunction = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;

struct GradcheckOptions {
  double eps = 1e-6;   ///< step of the finite differences
  double atol = 1e-5;  ///< |numerical - analytical| <= atol + rtol |numerical|
  double rtol = 1e-3;
  double nondet_tol = 0;             ///< by how much two backward passes may differ
  bool check_undefined_grad = true;  ///< and, in forward mode, tangents that are zeros
  bool check_noncontiguous_grad = true;
  bool check_batched_grad = false;  ///< grad() with is_grads_batched gives the same row by row
  bool check_backward_ad = true;    ///< one of the two at least, else ValueError
  bool check_forward_ad = false;    ///< the tangents of forward mode as well
  /// Of each Jacobian J, only v^T J u for one arbitrary u and v is compared, with a tolerance of
  /// atol |u|_1 |v|_1 + rtol |v^T J u|; all elements are where that fails, for the message.
  bool fast_mode = false;
  /// Also tensors of less precision than Double, of which differences are coarse: with a larger eps
  /// and atol.
  bool any_precision = false;
  bool raise_exception = true;  ///< else the result says whether the check holds
};

/// Compares the gradients of `function` at `inputs` with central differences
/// (f(x + eps) - f(x - eps)) / (2 eps), element by element of the Jacobian of every output with
/// respect to every input that requires grad. A complex number counts as its real and imaginary
/// part, a gradient being dL/d(Re z) + i dL/d(Im z). Also checked: a second backward pass gives the
/// same; a gradient that is not contiguous gives the same; undefined gradients count as zeros.
/// NotImplementedError of an operator or a custom Function that has no derivative of the kind that
/// is asked for goes to the caller as it is. Inputs that require grad are Double or ComplexDouble
/// tensors on the CPU without overlapping elements, else ValueError. Throws Error naming output,
/// input and elements where the two differ.
TENON_API bool gradcheck(const CheckedFunction& function, const std::vector<Tensor>& inputs,
                         const GradcheckOptions& options = {});

/// gradcheck() of the gradients: of the function (inputs, grad_outputs) -> gradients of the inputs.
/// Without grad_outputs, fixed arbitrary ones are taken. check_forward_ad: forward over reverse.
TENON_API bool gradgradcheck(const CheckedFunction& function, const std::vector<Tensor>& inputs,
                             const std::vector<Tensor>& grad_outputs = {},
                             const GradcheckOptions& options = {});

}  // namespace tenon::autograd
