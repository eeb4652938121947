#pragma once

#include "aten/dispatch/value.h"
#include "codegen/schema/default_value.h"

namespace tenon {

/// An argument's default as a boxed call takes it.
TENON_API Value default_argument(const schema::DefaultValue& value, const schema::Type& type);

}  // namespace tenon
