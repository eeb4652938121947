#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/format/layout.h"
#include "codegen/model/keys.h"

namespace tenon::codegen {

/// Prints one entry, or the map that a whole file is, in a layout that is understood().
class EntryPrinter {
 public:
  EntryPrinter(const SourceFile& file, const Layout& layout, FileKind kind)
      : file_(file), layout_(layout), kind_(kind) {}

  /// The lines without line breaks; nothing where the entry has a form that is left alone.
  std::optional<std::vector<std::string>> print(const YamlNode& entry);

 private:
  using Lines = std::vector<std::string>;

  /// A key with its comments and its value.
  struct Chunk {
    Lines comments;  // on lines of their own, before the key
    Lines lines;
    size_t rank = 0;  // place in the entry
  };

  Chunk pair(const YamlNode& key, const YamlNode& value, size_t indent, bool top);
  void block(const YamlNode& value, size_t indent, std::optional<ValueForm> form, Lines& lines);
  void sequence(const YamlNode& value, size_t indent, std::optional<ValueForm> form, Lines& lines);
  /// On one line, or nothing.
  std::optional<std::string> inline_value(const YamlNode& value, std::optional<ValueForm> form,
                                          bool in_flow);
  std::optional<std::string> scalar(const YamlNode& value, std::optional<ValueForm> form,
                                    bool in_flow);
  std::optional<std::string> flow(const YamlNode& value, std::optional<ValueForm> form);
  std::string key_text(const YamlNode& key, bool in_flow);
  /// As written, its further lines moved by the change of the key's indentation.
  void raw(Extent extent, size_t old_indent, size_t indent, Lines& lines);

  /// Comments that begin before `offset` and were not taken yet.
  Lines take_comments(size_t offset);
  /// The comment after `offset` on the same line, or "".
  std::string take_trailing(size_t offset);

  const SourceFile& file_;
  const Layout& layout_;
  FileKind kind_;
  size_t next_comment_ = 0;
  bool failed_ = false;
};

}  // namespace tenon::codegen
