#include "codegen/schema/source.h"

#include <algorithm>

namespace tenon::schema {

std::string format_error(std::string_view text, const ParseError& error) {
  const size_t at = std::min<size_t>(error.span.begin, text.size());
  const size_t before = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
  const size_t line_begin = before == std::string_view::npos ? 0 : before + 1;
  const size_t line_end = std::min(text.find('\n', at), text.size());
  const size_t column = at - line_begin;

  std::string out = "column " + std::to_string(column + 1) + ": " + error.message;
  if (!error.suggestion.empty()) out += "; did you mean '" + error.suggestion + "'?";
  out += "\n  ";
  out += text.substr(line_begin, line_end - line_begin);
  out += "\n  " + std::string(column, ' ') + "^\n";
  return out;
}

}  // namespace tenon::schema
