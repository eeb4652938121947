#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "codegen/yaml/source_file.h"

namespace tenon::codegen {

/// What is said of YAML that means something else than whoever wrote it, and where.
struct YamlMistake {
  Location location;
  std::string message;
};

/// The quoted text that begins at `mark`, where nothing closes it before a line that begins no
/// deeper than column `outer`, that of the entry around it. YAML readers go on to the next quote,
/// whatever stands between.
std::optional<YamlMistake> unclosed_quote(const SourceFile& file, Location mark, uint32_t outer);

/// The first such text behind `from`.
std::optional<YamlMistake> unclosed_quote_behind(const SourceFile& file, Location from,
                                                 uint32_t outer);

/// A block, `>` or `|`, whose text stands no deeper than its key and is none of it: `value` is what
/// was read.
std::optional<YamlMistake> empty_block(const SourceFile& file, Location mark,
                                       const std::string& value);

/// The line of a map outside the list of entries: `-func: ...`, or a key that is not indented.
std::optional<YamlMistake> stray_key(const SourceFile& file, Location mark);

/// What to write instead, where a line is indented otherwise than `column`, in which the keys of
/// the map around it begin (0 for none), or holds, without quotes, what YAML has a meaning for;
/// maybe "".
std::string advice(std::string_view line, uint32_t column);

}  // namespace tenon::codegen
