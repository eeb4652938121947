#include "codegen/model/file_kind.h"

namespace tenon::codegen {

FileKind file_kind(const YamlNode& root) {
  if (!root.is_sequence()) return FileKind::kUnknown;
  for (const YamlPtr& entry : root.items) {
    for (const auto& [key, value] : entry->entries) {
      for (const FileKind kind : {FileKind::kOperators, FileKind::kDerivatives, FileKind::kTags}) {
        if (key->is_scalar() && key->scalar.text == naming_key(kind)) return kind;
      }
    }
  }
  return FileKind::kUnknown;
}

std::string_view naming_key(FileKind kind) {
  switch (kind) {
  case FileKind::kOperators: return "func";
  case FileKind::kDerivatives: return "name";
  case FileKind::kTags: return "tag";
  case FileKind::kUnknown: return {};
  }
  return {};
}

}  // namespace tenon::codegen
