#pragma once

#include "aten/dispatch/value.h"
#include "codegen/schema/type.h"

namespace tenon::detail {

/// What Value::to_int() and its like throw: the value is of another type.
class ValueMismatch : public TypeError {
 public:
  using TypeError::TypeError;
};

/// ValueMismatch unless a boxed call can take the value for an argument of the type, or give it as
/// such a result.
void check_value(const Value& value, const schema::Type& type);

}  // namespace tenon::detail
