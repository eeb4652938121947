#pragma once

#include <ostream>
#include <string>

#include "codegen/ir/library.h"
#include "codegen/model/model.h"

namespace tenon::codegen {

/// Prints what follows from the entry of `name`: its forms and where each comes from, what runs on
/// each backend, shapes and dtypes, what backward saves and why, gradients, generated files. A
/// form's name leads to its entry; a base name (`add`) to all its entries. Prints an error with the
/// nearest name to `errors` and returns false when there is no such operator.
bool explain(const Model& model, const ir::Library& library, const std::string& name,
             std::ostream& out, std::ostream& errors);

}  // namespace tenon::codegen
