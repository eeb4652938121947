#pragma once

#include <optional>
#include <string>

#include "codegen/ir/form.h"
#include "codegen/ir/kernel.h"
#include "codegen/model/operator.h"

namespace tenon::codegen {

/// How a form runs on batched tensors, as OperatorInfo has it and aten/batching/rules reads it:
/// - "": as it stands, for it calls operators and is not recorded itself
/// - "elements self other": aligned; these tensors decide the dtype
/// - "rows dim=dim rows=target": aligned; `dim` moves behind the batch
/// - "along dim=dim": all in front, `dim` behind the batch; `batched` is its own call
/// - "via _sort_rows_batched": all in front, then this operator; `batched` is another expression
/// - "inplace add.Tensor": the functional form, then a copy
/// - "out": not at all
///
/// and " random" behind it where it draws random numbers. Nothing where the entry does not say it:
/// a rule by hand, or one example after another.
std::optional<std::string> emit_batching(const Operator& op, const ir::Form& form,
                                         const std::optional<ir::ForwardKernel>& kernel);

}  // namespace tenon::codegen
