#pragma once

#include "codegen/yaml/file_kind.h"
#include "codegen/yaml/yaml.h"

namespace tenon::codegen {

/// Two files hold the same entries: as many, each with the same keys in any order, the same values
/// up to spellings that mean the same (canonical_text).
bool same_data(const YamlNode& a, const YamlNode& b, FileKind kind);

}  // namespace tenon::codegen
