#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "codegen/yaml/diagnostic.h"
#include "codegen/yaml/source_file.h"

namespace tenon::codegen {

struct YamlNode;
using YamlPtr = std::shared_ptr<const YamlNode>;

/// A node of a YAML document that keeps what a generic tree loses: the place of every byte, and
/// keys that are given twice.
struct YamlNode {
  enum class Kind : uint8_t { kNull, kScalar, kSequence, kMap } kind = Kind::kNull;
  Location location;
  SourceString scalar;  // for kScalar
  bool quoted = false;
  std::vector<YamlPtr> items;                        // for kSequence
  std::vector<std::pair<YamlPtr, YamlPtr>> entries;  // for kMap, in file order

  bool is_scalar() const { return kind == Kind::kScalar; }
  bool is_sequence() const { return kind == Kind::kSequence; }
  bool is_map() const { return kind == Kind::kMap; }
  /// `{a}`: a map of names alone, which was meant for a text.
  bool is_text_in_braces() const;
  /// "a list", for messages.
  std::string_view describe() const;
};

/// The document of a file; a null node for an empty one. Malformed YAML is reported and gives an
/// empty pointer; nothing is thrown.
YamlPtr parse_yaml(const SourceFile& file, DiagnosticSink& sink);

}  // namespace tenon::codegen
