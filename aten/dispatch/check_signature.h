#pragma once

#include "aten/dispatch/kernel.h"
#include "codegen/schema/function_schema.h"

namespace tenon::detail {

/// TypeError, naming `what`, the argument, the type that the schema asks for and the one found,
/// unless the function has the operator's type.
TENON_API void check_signature(const std::string& what, const schema::FunctionSchema& schema,
                               const CppSignature& signature);

}  // namespace tenon::detail
