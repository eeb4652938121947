#pragma once

#include <ostream>

#include "codegen/modules/entry.h"

namespace tenon::codegen::modules {

/// Prints what follows from the entry of `name`: its classes and files, arguments, parameters and
/// buffers, checks, forward, state dict. False if there is no such module.
bool explain_module(const Declarations& declarations, const std::string& name, std::ostream& out);

}  // namespace tenon::codegen::modules
