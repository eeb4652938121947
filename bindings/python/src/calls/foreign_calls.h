#pragma once

#include <memory>

#include "aten/dispatch/operator_entry.h"
#include "bindings/python/src/calls/caster.h"
#include "codegen/schema/function_schema.h"

/// Calls of operators from where there is no interpreter: the arrays are another library's memory,
/// everything else is known before.
namespace tenon::python {

/// An operator with the arguments of one call of it.
struct RecordedCall {
  const OperatorEntry* entry = nullptr;
  const schema::FunctionSchema* schema = nullptr;
  Stack arguments;
};

/// What a boxed call from Python leaves here as well, while it is set.
extern thread_local RecordedCall* recorded_call;

void add_foreign_calls(nb::module_& module);

}  // namespace tenon::python
