#pragma once

#include <map>
#include <string>
#include <string_view>

#include "aten/dispatch/operator_entry.h"
#include "codegen/schema/function_schema.h"

namespace tenon::ops_test {

/// An operator of the registry with the forms that follow from it.
struct Forms {
  OperatorEntry* op = nullptr;
  schema::FunctionSchema schema;
  OperatorEntry* inplace = nullptr;  ///< add_.Tensor for add.Tensor
  OperatorEntry* out = nullptr;      ///< add.out for add.Tensor
  bool derived = false;              ///< this is another's in-place or out form

  /// Whether the operator itself writes to its first argument: fill_, copy_.
  bool writes_self() const { return !schema.args.empty() && schema.args[0].is_mutable(); }
};

/// Every operator of the registry by "name.overload" without namespace.
const std::map<std::string, Forms, std::less<>>& all_forms();

}  // namespace tenon::ops_test
