#pragma once

#include "aten/registration/boxing.h"
#include "autograd/generated_support/formulas.h"
#include "tenon/tensor.h"

namespace tenon::autograd {

/// A call of an operator as formulas of forward mode read it.
struct TENON_API ForwardCall {
  const Stack& arguments;  ///< as they were before the call
  const std::vector<Tensor>& results;
  /// For each argument the tangents of its tensors; undefined: zero.
  const std::vector<std::vector<Tensor>>& tangents;
  bool in_place;  ///< the call changes its first argument

  bool has_tangent(size_t argument) const;
  /// Zeros where there is none; undefined for an optional tensor that is absent.
  Tensor tangent(size_t argument) const;
  std::vector<Tensor> tangents_of_list(size_t argument) const;
};

/// Adds one term of a formula to those before it.
TENON_API void add_term(Tensor& sum, Tensor term, bool negative);

}  // namespace tenon::autograd
