#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/expr/graph/graph.h"
#include "codegen/ir/kernel.h"
#include "codegen/ir/library.h"
#include "codegen/model/operator.h"

namespace tenon::codegen {

/// One kernel of the engine: what it reads, and its body for floating and complex types.
ir::Kernel emit_kernel(const std::string& ident, const expr::Graph& graph,
                       const std::vector<expr::NodeId>& outputs,
                       const std::vector<std::string>& inputs,
                       const std::vector<std::string>& scalars);

/// The types that kernels of a fused part compute in, F32 and F64; nothing for other operators.
std::optional<std::vector<std::string>> fused_types(const Operator& op);
/// Removes the loops of other types from the kernel of a fused part.
void keep_fused_types(const Operator& op, ir::Kernel& kernel);

/// C++ of the number that stands for an argument where it is absent.
std::string default_text(const schema::Argument& argument, double number);

/// The forward kernel of a `pointwise` entry whose expressions were checked.
ir::ForwardKernel emit_pointwise(const Operator& op);

/// Overloads of one operator, whose kernels are one source file: a long expression of tensors and
/// numbers, `zeta(Scalar self, Tensor other)`, gets the body of the overload of tensors alone.
void share_bodies(const std::vector<ir::Entry*>& overloads);

}  // namespace tenon::codegen
