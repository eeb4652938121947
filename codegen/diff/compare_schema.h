#pragma once

#include "codegen/diff/change.h"
#include "codegen/schema/function_schema.h"

namespace tenon::codegen {

/// Every value that may be given for the type `before` may be given for `after`: `int` for `int?`,
/// `SymInt`, `float`, `Scalar`, `int[2]`; `T[2]` for `T[]`.
bool accepts(const schema::Type& before, const schema::Type& after);

/// The changes from one schema to another of the same name: arguments, returns, annotations.
void compare_schemas(const schema::FunctionSchema& before, const schema::FunctionSchema& after,
                     ChangeList& changes);

}  // namespace tenon::codegen
