#pragma once

#include <string>
#include <vector>

#include "codegen/expr/formulas/formula.h"
#include "codegen/model/operator.h"

namespace tenon::codegen {

/// Names of the methods of Tensor that are written by hand.
const std::vector<std::string>& tensor_methods();

void add_plain_functions(const std::vector<Operator>& operators, PlainFunctions& functions);

/// The tree with `f(x, y)` for each `x.f(y)` where f is a function and no method.
expr::Formula with_plain_functions(const Operator& op, expr::Formula tree);

}  // namespace tenon::codegen
