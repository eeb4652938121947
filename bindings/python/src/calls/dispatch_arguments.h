#pragma once

#include <vector>

#include "aten/dispatch/operator_entry.h"
#include "bindings/python/src/calls/caster.h"
#include "codegen/schema/function_schema.h"

/// What `__torch_dispatch__` is given, and what it gives.
namespace tenon::python {

struct CallArguments {
  nb::object args;                  ///< a tuple
  nb::object keywords;              ///< a dict
  std::vector<nb::object> tensors;  ///< tensors and lists of tensors among them
};

/// Whether a class or mode sees the operator, and not the operators that it is made of.
bool shown_to_python(const OperatorEntry& op);

/// The OpOverload under which Python sees the operator: `torch.ops.aten.add.Tensor`.
nb::object overload_object(const OperatorEntry& op);

/// The arguments as PyTorch passes them: without those at the end, and without keywords, that are
/// their defaults; numbers that stand in a tensor's place as numbers.
CallArguments to_python_arguments(const OperatorEntry& op, const schema::FunctionSchema& schema,
                                  const Value* values);

/// Puts the results of Python's function on the stack. A result that is a written argument is that
/// argument, of `arguments`, whatever the function gave.
void read_python_results(const OperatorEntry& op, const schema::FunctionSchema& schema,
                         nb::handle result, const std::vector<Value>& arguments, Stack& stack);

}  // namespace tenon::python
