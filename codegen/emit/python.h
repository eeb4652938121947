#pragma once

#include "codegen/emit/form.h"

namespace tenon::codegen {

/// One form of an operator as Python calls it: {"ident", "name", "namespace", "signature",
/// "positional", "self", "parameters": [{"name", "kind", "optional", "has_default", "size", ...}],
/// "arguments": [{"read", "at", "default"}], "requires_grad", "checked", "returns", "names",
/// "again", ...}. Null where a type of it does not exist in Python.
Json emit_python_call(const schema::FunctionSchema& schema, const Json& form,
                      const std::string& cpp_namespace, const std::string& module);

/// The functions and methods that Python has of the operators at `members`: {"calls": [call...],
/// "functions": [{"name", "module", "method", "ident", "calls": [ident...], "expression"}]}.
Json emit_python(const Json& operators, const std::vector<size_t>& members);

}  // namespace tenon::codegen
