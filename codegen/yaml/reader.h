#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/yaml/diagnostic.h"
#include "codegen/yaml/yaml.h"

namespace tenon::codegen::detail {

/// Typed views of YAML values. Each reports a value of the wrong kind, naming `what`
/// ("`variants`"), and returns nothing for it.
class Reader {
 public:
  explicit Reader(DiagnosticSink& sink) : sink_(sink) {}

  DiagnosticSink& sink() { return sink_; }

  /// A text; the surrounding white space does not count.
  std::optional<SourceString> text(const YamlNode& node, std::string_view what);
  std::optional<LocatedName> name(const YamlNode& node, std::string_view what);
  /// True or False.
  std::optional<bool> boolean(const YamlNode& node, std::string_view what);
  /// "a, b" or [a, b].
  std::vector<LocatedName> names(const YamlNode& node, std::string_view what);
  /// The name's index in `words`; else an error that suggests the nearest.
  std::optional<size_t> word(const LocatedName& name, const std::vector<std::string>& words,
                             std::string_view what);

  void wrong_kind(const YamlNode& node, std::string_view what, std::string_view wanted);
  /// Reports keys that are given twice, and keys that are no text. `visit(name, key, value)` is
  /// called for the first use of each.
  template <typename Visit>
  void map(const YamlNode& node, Visit visit) {
    std::vector<LocatedName> seen;
    for (const auto& [key, value] : node.entries) {
      if (is_new_key(*key, seen)) visit(seen.back(), *key, *value);
    }
  }

 private:
  bool is_new_key(const YamlNode& key, std::vector<LocatedName>& seen);

  DiagnosticSink& sink_;
};

/// Bytes `begin` to `end` of the text, places kept.
SourceString slice(const SourceString& text, size_t begin, size_t end);
/// `text` without white space at its ends, places kept.
SourceString trimmed(const SourceString& text);
/// Parts of "a, b, c" with their places; empty parts are left out.
std::vector<LocatedName> split_names(const SourceString& text);
/// Those parts as "a, b, c".
std::string join_names(const SourceString& text);

}  // namespace tenon::codegen::detail
