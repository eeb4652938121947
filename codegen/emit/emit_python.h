#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/ir/library.h"

namespace tenon::codegen {

/// One form of an operator as Python calls it. Empty where a type of it does not exist in Python.
std::optional<ir::PythonCall> emit_python_call(const schema::FunctionSchema& schema,
                                               const ir::Form& form, const std::string& module);

/// Adds to the file the functions and methods that Python has of the operators at `members`.
void emit_python(const std::vector<ir::Entry>& operators, const std::vector<size_t>& members,
                 ir::File& file);

/// Turns the file's calls into the stubs of its functions.
void emit_stubs(ir::File& file);

}  // namespace tenon::codegen
