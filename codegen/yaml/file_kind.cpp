#include "codegen/yaml/file_kind.h"

#include <algorithm>

namespace tenon::codegen {
namespace {

bool has_key(const YamlNode& map, std::string_view name) {
  return std::any_of(map.entries.begin(), map.entries.end(), [&](const auto& entry) {
    return entry.first->is_scalar() && entry.first->scalar.text == name;
  });
}

}  // namespace

FileKind file_kind(const YamlNode& root) {
  if (has_key(root, naming_key(FileKind::kBackend))) return FileKind::kBackend;
  if (!root.is_sequence()) return FileKind::kUnknown;
  for (const YamlPtr& entry : root.items) {
    // An entry of operators may be an alias or a definition instead.
    if (has_key(*entry, "alias") || has_key(*entry, "define")) return FileKind::kOperators;
    // Upstream's deprecated.yaml: old signatures, each with the call that it stands for.
    if (has_key(*entry, "aten")) return FileKind::kUnknown;
    for (const FileKind kind : {FileKind::kOperators, FileKind::kDerivatives, FileKind::kTags}) {
      if (has_key(*entry, naming_key(kind))) return kind;
    }
  }
  return FileKind::kUnknown;
}

std::string_view naming_key(FileKind kind) {
  switch (kind) {
  case FileKind::kOperators: return "func";
  case FileKind::kDerivatives: return "name";
  case FileKind::kTags: return "tag";
  case FileKind::kBackend: return "backend";
  case FileKind::kUnknown: return {};
  }
  return {};
}

}  // namespace tenon::codegen
