#pragma once

#include "codegen/expr/graph/graph.h"

#include <complex>
#include <map>
#include <string>

namespace tenon::codegen::expr {

using RealBindings = std::map<std::string, double>;
using ComplexBindings = std::map<std::string, std::complex<double>>;

/// The value of `node` with every variable bound by name; masks give 1 or 0. Throws
/// std::invalid_argument naming the variable that is not bound, or the intrinsic that is not
/// defined on complex numbers.
double evaluate(const Graph& graph, NodeId node, const RealBindings& variables);
std::complex<double> evaluate(const Graph& graph, NodeId node, const ComplexBindings& variables);

/// One intrinsic on numbers; used by constant folding too.
double apply_op(Op op, const double* arguments);
std::complex<double> apply_op(Op op, const std::complex<double>* arguments);

}  // namespace tenon::codegen::expr
