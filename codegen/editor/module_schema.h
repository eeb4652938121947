#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tenon::codegen {

/// JSON Schema (draft 7) of modules.yaml and of files of a user's own modules, from the keys of
/// their entries.
nlohmann::ordered_json modules_schema(const std::vector<std::string>& module_keys,
                                      const std::vector<std::string>& function_keys);
/// JSON Schema (draft 7) of optimizers.yaml.
nlohmann::ordered_json optimizers_schema(const std::vector<std::string>& keys);

}  // namespace tenon::codegen
