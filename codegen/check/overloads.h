#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "codegen/check/value_type.h"
#include "codegen/model/model.h"

namespace tenon::codegen {

/// One parameter of the C++ API.
struct Parameter {
  schema::Type type;
  bool is_options = false;  // dtype, layout, device, pin_memory in one
  bool has_default = false;
  const schema::Argument* argument = nullptr;  // the first of those that are in one
};

/// One overload of an operator in C++.
struct Overload {
  const Operator* op;
  const VariantSchema* form;
  std::vector<Parameter> parameters;
  const schema::Argument* object = nullptr;  // of a method: self
};
using Overloads = std::unordered_map<std::string, std::vector<Overload>>;

/// Sorted.
std::vector<std::string> names_of(const Overloads& overloads);

/// Points into both.
Overload overload_of(const Operator& op, const VariantSchema& form, bool method);

/// Takes the arguments by number and kind.
bool takes(const Overload& overload, const std::vector<ValueType>& arguments);

/// Those of the overloads that C++ prefers to all others.
std::vector<const Overload*> preferred(const std::vector<Overload>& overloads,
                                       const std::vector<ValueType>& arguments);

/// What a call gives, where all overloads that take the arguments agree.
ValueType result_of(const std::vector<const Overload*>& overloads);

/// A result of the call may lie in the memory of what is given for `argument`.
bool shares_memory(const Overload& overload, const schema::Argument& argument);

}  // namespace tenon::codegen
