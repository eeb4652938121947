#pragma once

#include <vector>

#include "codegen/model/derivative.h"
#include "codegen/model/family.h"

namespace tenon::codegen {

/// A form without an entry of its own in derivatives.yaml that another operator's formulas
/// differentiate.
struct InheritedDerivative {
  enum class From : uint8_t {
    kFunctional,  // add_ and add.out from add
    kMutable,     // a generated functional form from the form that writes
    kView,        // select_copy from select
    kScalar,      // _foreach_add from add, element by element
  };
  const Form* form;
  const Derivative* derivative;
  From from;
};

/// Everything that is inherited within a model of these parts. Points into both arguments.
/// Generated out forms inherit nothing: they are not differentiable.
std::vector<InheritedDerivative> inherit_derivatives(const std::vector<Family>& families,
                                                     const std::vector<Operator>& operators,
                                                     const std::vector<Derivative>& derivatives);

}  // namespace tenon::codegen
