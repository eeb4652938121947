#include "codegen/yaml/yaml_mistakes.h"

namespace tenon::codegen {

namespace {

constexpr std::string_view kKeyCharacters = "abcdefghijklmnopqrstuvwxyz_";

bool is_quote(char c) { return c == '"' || c == '\''; }

/// The byte behind the quote that closes the one at `begin`, or npos.
size_t quote_end(const std::string& text, size_t begin, uint32_t outer) {
  const char quote = text[begin];
  for (size_t i = begin + 1; i < text.size(); ++i) {
    if (text[i] == '\\' && quote == '"') {
      ++i;
    } else if (text[i] == quote) {
      if (quote == '"' || i + 1 == text.size() || text[i + 1] != quote) return i + 1;
      ++i;
    } else if (text[i] == '\n') {
      const size_t deep = text.find_first_not_of(" \n", i);
      const size_t line = deep == std::string::npos ? 0 : text.rfind('\n', deep) + 1;
      if (deep == std::string::npos || deep - line < outer) return std::string::npos;
    }
  }
  return std::string::npos;
}

YamlMistake never_closed(const SourceFile& file, size_t begin) {
  const uint32_t line = file.line_of(begin);
  const auto column = static_cast<uint32_t>(begin - file.offset(line, 1)) + 1;
  return {{&file, line, column}, "this quote is never closed"};
}

}  // namespace

std::optional<YamlMistake> unclosed_quote(const SourceFile& file, Location mark, uint32_t outer) {
  const size_t begin = file.offset(mark.line, mark.column);
  const std::string& text = file.text();
  if (begin >= text.size() || !is_quote(text[begin])) return std::nullopt;
  if (quote_end(text, begin, outer) != std::string::npos) return std::nullopt;
  return never_closed(file, begin);
}

std::optional<YamlMistake> unclosed_quote_behind(const SourceFile& file, Location from,
                                                 uint32_t outer) {
  const std::string& text = file.text();
  for (size_t i = file.offset(from.line, from.column); i < text.size(); ++i) {
    // A quote inside a text is a character like others.
    const size_t before = i == 0 ? std::string::npos : text.find_last_not_of(" \n", i - 1);
    const bool begins = before == std::string::npos ||
                        (std::string_view("-:[{,").find(text[before]) != std::string_view::npos);
    if (!is_quote(text[i]) || !begins) continue;
    const size_t end = quote_end(text, i, outer);
    if (end == std::string::npos) return never_closed(file, i);
    i = end - 1;
  }
  return std::nullopt;
}

std::optional<YamlMistake> empty_block(const SourceFile& file, Location mark,
                                       const std::string& value) {
  const std::string_view line = file.line(mark.line);
  if (!value.empty() || mark.column > line.size()) return std::nullopt;
  const char style = line[mark.column - 1];
  if (style != '>' && style != '|') return std::nullopt;
  uint32_t below = mark.line + 1;
  size_t begin = 0;
  for (; below <= file.num_lines(); ++below) {
    begin = file.line(below).find_first_not_of(' ');
    if (begin != std::string_view::npos && file.line(below)[begin] != '#') break;
  }
  // A key or an entry: the text is empty indeed.
  const std::string_view next = file.line(below);
  if (next.empty() || next[begin] == '-' || next.find(':') != std::string_view::npos)
    return std::nullopt;
  return YamlMistake{mark, std::string("the text of `") + style +
                               "` stands below it, indented deeper than its key"};
}

std::optional<YamlMistake> stray_key(const SourceFile& file, Location mark) {
  const std::string_view line = file.line(mark.line);
  const size_t begin = mark.column - 1;
  const size_t end = line.find(':', begin);
  if (end == std::string_view::npos) return std::nullopt;
  const std::string key(line.substr(begin, end - begin));
  if (key.size() > 1 && key[0] == '-') {
    return YamlMistake{mark, "a `-` that begins an entry needs a space behind it"};
  }
  return YamlMistake{mark, "`" + key + "` belongs to no entry: indent it below the key above it"};
}

std::string advice(std::string_view line, uint32_t column) {
  const size_t indent = line.find_first_not_of(' ');
  if (indent == std::string_view::npos) return {};
  if (line[indent] == '\t') return "; indent by spaces, not by tabs";
  const size_t key = line.find_first_not_of(kKeyCharacters, indent);
  const bool is_key = key != std::string_view::npos && line.substr(key).starts_with(": ");
  if (column > 1 && indent + 1 != column && key > indent && is_key) {
    return "; the keys of an entry begin in one column: in " + std::to_string(column) +
           ", and this one in " + std::to_string(indent + 1);
  }
  const size_t colon = line.find(": ");
  if (colon == std::string_view::npos) return {};
  const size_t begin = line.find_first_not_of(' ', colon + 2);
  if (begin == std::string_view::npos) return {};
  const char first = line[begin];
  if (std::string_view("*&%@`|>").find(first) != std::string_view::npos) {
    return std::string("; a text that begins with `") + first + "` needs quotes";
  }
  if (first == '"' || first == '\'') return {};
  const bool colon_inside = line.find(": ", begin) != std::string_view::npos &&
                            (first != '{' || line.find(" ? ", begin) != std::string_view::npos);
  return colon_inside ? "; a text with a colon and a space in it needs quotes" : "";
}

}  // namespace tenon::codegen
