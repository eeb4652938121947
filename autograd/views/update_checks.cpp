#include "autograd/views/update_checks.h"

#include "autograd/generated_support/generated_support.h"

namespace tenon::autograd {

void check_needs_no_grad(const char* op, const char* name, const Tensor& argument) {
  TENON_CHECK(!compute_requires_grad(argument), "[", op, "] has no derivative, so ", name,
              " must not require grad: use it under no_grad, or on detach()");
}

void check_needs_no_grad(const char* op, const char* name, const std::optional<Tensor>& argument) {
  if (argument) check_needs_no_grad(op, name, *argument);
}

}  // namespace tenon::autograd
