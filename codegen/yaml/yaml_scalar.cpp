#include "codegen/yaml/yaml_scalar.h"

namespace tenon::codegen {

namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n'; }

// Position in a file that knows its line and column.
class Cursor {
 public:
  Cursor(const SourceFile& file, Location at)
      : text_(file.text()), pos_(file.offset(at.line, at.column)), line_(at.line),
        column_(at.column) {}

  bool done() const { return pos_ >= text_.size(); }
  char peek(size_t ahead = 0) const {
    return pos_ + ahead < text_.size() ? text_[pos_ + ahead] : '\0';
  }
  void advance(size_t count = 1) {
    for (; count > 0 && !done(); --count) {
      if (text_[pos_++] == '\n') {
        ++line_;
        column_ = 1;
      } else {
        ++column_;
      }
    }
  }
  void skip_blanks() {
    while (!done() && is_blank(peek())) advance();
  }
  uint32_t line() const { return line_; }
  uint32_t column() const { return column_; }

 private:
  const std::string& text_;
  size_t pos_;
  uint32_t line_;
  uint32_t column_;
};

void skip_properties(Cursor& cursor) {
  while (cursor.peek() == '&' || cursor.peek() == '!') {
    while (!cursor.done() && !is_blank(cursor.peek())) cursor.advance();
    cursor.skip_blanks();
  }
}

// Source length of the escape at a backslash: \n 2, \x41 4, \u0041 6, \U00000041 10.
size_t escape_length(const Cursor& cursor) {
  switch (cursor.peek(1)) {
  case 'x': return 4;
  case 'u': return 6;
  case 'U': return 10;
  default: return 2;
  }
}

// Bytes of `value` from `i` on that one escape stands for: one character.
size_t character_length(const std::string& value, size_t i) {
  size_t end = i + 1;
  while (end < value.size() && (static_cast<unsigned char>(value[end]) & 0xC0) == 0x80) ++end;
  return end - i;
}

}  // namespace

SourceString locate_scalar(const SourceFile& file, Location mark, const std::string& value) {
  SourceString result;
  result.text = value;
  result.location = mark;
  Cursor cursor(file, mark);
  skip_properties(cursor);

  const char style = cursor.peek();
  const bool is_single = style == '\'';
  const bool is_double = style == '"';
  if (is_single || is_double) {
    cursor.advance();
  } else if (style == '|' || style == '>') {
    while (!cursor.done() && cursor.peek() != '\n') cursor.advance();
    cursor.skip_blanks();
  }
  result.location = {&file, cursor.line(), cursor.column()};
  const SourceString unmapped = result;

  uint32_t next_line = cursor.line(), next_column = cursor.column();
  const auto place = [&](size_t offset) {
    if (result.segments.empty() || cursor.line() != next_line || cursor.column() != next_column) {
      result.segments.push_back({static_cast<uint32_t>(offset), cursor.line(), cursor.column()});
    }
    next_line = cursor.line();
    next_column = cursor.column() + 1;
  };

  for (size_t i = 0; i < value.size();) {
    const char c = value[i];
    if (is_double && cursor.peek() == '\\') {
      if (cursor.peek(1) == '\n') {  // joins two lines
        cursor.advance(2);
        cursor.skip_blanks();
        continue;
      }
      place(i);
      cursor.advance(escape_length(cursor));
      i += character_length(value, i);
      continue;
    }
    if (is_blank(c)) {  // as written, or what remains of a line break
      place(i);
      if (is_blank(cursor.peek())) cursor.advance();
      ++i;
      continue;
    }
    if (cursor.peek() != c) cursor.skip_blanks();
    if (is_double && cursor.peek() == '\\') continue;
    if (cursor.peek() != c) return unmapped;
    place(i);
    cursor.advance(is_single && c == '\'' ? 2 : 1);
    ++i;
  }
  // One past the end: just after the last byte.
  place(value.size());
  return result;
}

}  // namespace tenon::codegen
