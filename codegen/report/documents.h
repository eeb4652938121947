#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "codegen/yaml/diagnostic.h"

namespace tenon::codegen {

/// {"version", "errors", "warnings", "diagnostics": [...]}; lines and columns as in the text
/// format: from 1, columns in bytes, ends exclusive.
nlohmann::ordered_json json_report(const std::vector<Diagnostic>& diagnostics);

/// A SARIF 2.1.0 log with one run; columns count code points, as SARIF has it.
nlohmann::ordered_json sarif_report(const std::vector<Diagnostic>& diagnostics);

}  // namespace tenon::codegen
