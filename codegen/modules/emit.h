#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "codegen/modules/entry.h"

namespace tenon::codegen::modules {

/// What the templates of codegen/module_templates render: `operators` are families, each with the
/// statements of its classes in both languages, and `files` what to write of them. `operators` are
/// the base names of the library's operators. Mistakes in expressions go to `sink`.
nlohmann::ordered_json emit(const Declarations& declarations,
                            const std::set<std::string>& operators, DiagnosticSink& sink);

}  // namespace tenon::codegen::modules
