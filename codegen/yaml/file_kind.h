#pragma once

#include <string_view>

#include "codegen/yaml/yaml.h"

namespace tenon::codegen {

enum class FileKind : uint8_t { kUnknown, kOperators, kDerivatives, kTags, kBackend };

/// What a file holds: a list of entries, by their key `func`, `name` or `tag`, or a map with the
/// key `backend` (docs/backends.md). kUnknown where it is neither.
FileKind file_kind(const YamlNode& root);

/// "func", "name", "tag", "backend", "".
std::string_view naming_key(FileKind kind);

}  // namespace tenon::codegen
