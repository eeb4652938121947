#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "codegen/model/model.h"
#include "codegen/yaml/file_kind.h"

namespace tenon::codegen {

/// JSON Schema (draft 7) of files of this kind, from the tables that the loader and the checks use:
/// editors complete and check keys, words, tags and dispatch keys with it. What takes more than the
/// form of one entry (types in a schema, names in a formula, what refers to what) is for `tenonc
/// check`. With no `tags`, any tag is valid.
nlohmann::ordered_json json_schema(FileKind kind, Dialect dialect, const std::vector<Tag>& tags);

}  // namespace tenon::codegen
