#pragma once

#include <string_view>

#include "codegen/model/yaml.h"

namespace tenon::codegen {

enum class FileKind : uint8_t { kUnknown, kOperators, kDerivatives, kTags };

/// What a file holds, by the key of its entries: `func`, `name` or `tag`. kUnknown where the root
/// is no list with such an entry.
FileKind file_kind(const YamlNode& root);

/// "func", "name", "tag", "".
std::string_view naming_key(FileKind kind);

}  // namespace tenon::codegen
