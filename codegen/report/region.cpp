#include "codegen/report/region.h"

namespace tenon::codegen {
namespace {

// Without the C library's view of letters, which depends on the locale.
bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

}  // namespace

Location word_end(const Location& begin) {
  if (!begin.valid()) return begin;
  const std::string_view line = begin.file->line(begin.line);
  const size_t start = begin.column - 1;
  if (start >= line.size()) return begin;
  size_t end = start;
  while (end < line.size()) {
    if (is_word(line[end])) {
      ++end;
      continue;
    }
    const size_t join = line[end] == '.' ? 1 : line.substr(end, 2) == "::" ? 2 : 0;
    if (end == start || join == 0 || end + join >= line.size() || !is_word(line[end + join])) break;
    end += join;
  }
  if (end == start) {
    const size_t length = utf8_length(line, start);
    end = start + (length == 0 ? 1 : length);
  }
  Location result = begin;
  result.column = static_cast<uint32_t>(end) + 1;
  return result;
}

Location end_of(const Diagnostic& diagnostic) {
  const Location& begin = diagnostic.location;
  const Location& end = diagnostic.end;
  const bool after =
      end.valid() && end.file == begin.file &&
      (end.line > begin.line || (end.line == begin.line && end.column > begin.column));
  return after ? end : word_end(begin);
}

bool has_fix(const Diagnostic& diagnostic) {
  const Location& place = diagnostic.location;
  if (diagnostic.suggestion.empty() || !place.valid()) return false;
  const std::string_view line = place.file->line(place.line);
  // For `**` the suggestion `pow(a, b)` says how such a thing is written, not what to put there.
  const bool at_word = place.column <= line.size() && is_word(line[place.column - 1]);
  return at_word && end_of(diagnostic).line == place.line;
}

}  // namespace tenon::codegen
