#pragma once

#include <ostream>
#include <string>

#include "codegen/emit/form.h"

namespace tenon::codegen {

/// Prints what follows from the entry of `name`: forms, how each backend runs it, what backward
/// saves and computes, generated files. Prints an error with the nearest name to `errors` and
/// returns false when there is no such operator.
bool explain(const Model& model, const Json& ir, const std::string& name, std::ostream& out,
             std::ostream& errors);

}  // namespace tenon::codegen
