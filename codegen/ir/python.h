#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "codegen/schema/fields.h"

namespace tenon::codegen::ir {

/// One row of the tables of Python's argument parser.
struct PythonParameter {
  std::string name;
  std::string kind;
  bool optional = false;
  bool has_default = false;
  int64_t size = 0;
  TENON_FIELDS(name, kind, optional, has_default, size)
};

/// How the wrapper reads one argument of the C++ call.
struct PythonArgument {
  std::string read;  ///< the conversion
  size_t at = 0;     ///< of the parameter
  std::string default_text;
  TENON_FIELDS(read, at, default_text)
};

/// The arguments of a factory's form with `out` that must agree.
struct PythonChecked {
  size_t dtype = 0, out = 0;
  TENON_FIELDS(dtype, out)
};

/// One form of an operator as Python calls it.
struct PythonCall {
  std::string ident, name, schema, cpp_namespace, module, signature;
  std::vector<std::string> return_kinds;
  std::vector<PythonParameter> parameters;
  std::vector<PythonArgument> arguments;
  size_t positional = 0;
  int self = -1;           ///< its parameter, or -1
  int again = -1;          ///< the parameter that is returned, or -1
  int requires_grad = -1;  ///< the parameter, or -1
  std::optional<PythonChecked> checked;
  std::string returns;             ///< nothing, named, value
  std::vector<std::string> names;  ///< of a named result
  bool function = false, method = false;
  TENON_FIELDS(ident, name, schema, cpp_namespace, module, signature, return_kinds, parameters,
               arguments, positional, self, again, requires_grad, checked, returns, names, function,
               method)
};

/// The line of an overload in `_C.pyi`.
struct PythonStub {
  std::string parameters, result;
  TENON_FIELDS(parameters, result)
};

/// A function or method with its overloads.
struct PythonFunction {
  std::string name, module;
  bool method = false;
  std::string ident;
  std::vector<std::string> calls;
  std::vector<std::string> expression;
  std::vector<PythonStub> stubs;  ///< of `_C.pyi`
  TENON_FIELDS(name, module, method, ident, calls, expression, stubs)
};

}  // namespace tenon::codegen::ir
