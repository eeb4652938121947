#pragma once

#include "codegen/ir/form.h"
#include "codegen/model/variants.h"

namespace tenon::codegen {

/// What every output needs to know of one schema (an entry's own, or a derived form of it): names,
/// C++ parameters with and without folded TensorOptions, results, arguments that decide the
/// dispatch.
ir::Form emit_form(const Operator& op, const VariantSchema& form);

}  // namespace tenon::codegen
