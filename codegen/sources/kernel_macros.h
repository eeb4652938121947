#pragma once

#include <string_view>
#include <vector>

#include "codegen/sources/kernel_sources.h"

namespace tenon::codegen {

/// The definitions that uses of macros lead to: macros with parameters that the text itself
/// defines,
/// `##` included, expanded once. Each is placed where the macro is used.
std::vector<KernelDefinition> find_macro_definitions(std::string_view text);

}  // namespace tenon::codegen
