#pragma once

#include <optional>
#include <string>

#include "codegen/schema/function_schema.h"

namespace tenon::codegen {

/// The schema with every difference between the forms of one operator removed: in-place underscore
/// or
/// `_functional`, overload, out arguments, TensorOptions, annotations, defaults, names of returns.
/// A written argument that is not returned becomes a return. Operators of equal signature are forms
/// of one another.
schema::FunctionSchema signature(const schema::FunctionSchema& schema);

/// The signature of a view and of what copies instead: `_copy` is dropped from the name.
schema::FunctionSchema view_signature(const schema::FunctionSchema& schema);

/// The functional form that `autogen` makes of an in-place, mutable or out schema: it returns what
/// the other writes, `running_mean_out` for an argument that was written and not returned. Of a
/// mutable schema its name ends in `_functional`, because overloads must not differ in annotations
/// alone.
schema::FunctionSchema autogen_functional(const schema::FunctionSchema& schema);

/// The out form that `autogen` makes of a schema: `out` for self of an in-place schema or for a
/// sole return, else out0, out1, ... for the returns that hold tensors. Only plain tensors are
/// returned. Empty where there is nothing to write to.
std::optional<schema::FunctionSchema> autogen_out(const schema::FunctionSchema& schema);

}  // namespace tenon::codegen
