#include "codegen/expr/formulas/token.h"

#include "codegen/expr/formulas/foreign.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace tenon::codegen::expr {
namespace {

constexpr std::array<std::string_view, 19> kLongPunctuation = {
    "<<=", "<<", "<=", "==", "!=", "&&", "||", "->", "::", "+=",
    "-=",  "*=", "/=", "%=", "&=", "|=", "^=", "**", "//"};
constexpr std::string_view kSinglePunctuation = "+-*/%&|^!~<>=?:;,.()[]{}";

bool is_name_start(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_name_part(char c) { return is_name_start(c) || is_digit(c); }

std::size_t number_end(const std::string& text, std::size_t i) {
  while (i < text.size()) {
    const bool exponent_sign =
        (text[i] == '+' || text[i] == '-') && (text[i - 1] == 'e' || text[i - 1] == 'E');
    if (!is_name_part(text[i]) && text[i] != '.' && !exponent_sign) break;
    ++i;
  }
  return i;
}

/// The end of a run of bytes of other characters, so that it is reported once.
std::size_t foreign_end(const std::string& text, std::size_t i) {
  ++i;
  while (i < text.size() && static_cast<unsigned char>(text[i]) >= 0x80) ++i;
  return i;
}

/// What is said of such a run behind `tokens`.
ExprError foreign_character(const std::string& text, std::size_t begin, std::size_t end,
                            const std::vector<Token>& tokens) {
  const std::string run = text.substr(begin, end - begin);
  if (run == "@") {
    return {begin, 1, "'@' is not an operator here: tensor code calls matmul(a, b)", "", 0};
  }
  const std::string sign = sign_of_character(run);
  const bool in_name = !tokens.empty() && tokens.back().kind == TokenKind::kName &&
                       tokens.back().offset + tokens.back().text.size() == begin;
  const bool before_name = end < text.size() && is_name_part(text[end]);
  const bool is_ascii = static_cast<unsigned char>(run[0]) < 0x80;
  if (is_ascii || !sign.empty() || (!in_name && !before_name)) {
    return {begin, end - begin, "unexpected character '" + run + "'", sign, 0};
  }
  return {begin, end - begin, "a name has ASCII letters, digits and _, got '" + run + "'", "", 0};
}

}  // namespace

std::vector<Token> tokenize(const std::string& text, std::vector<ExprError>& errors) {
  std::vector<Token> tokens;
  std::size_t i = 0;
  const auto add = [&](TokenKind kind, std::size_t end) {
    tokens.push_back({kind, text.substr(i, end - i), i});
    i = end;
  };
  while (i < text.size()) {
    const char c = text[i];
    if (std::isspace(static_cast<unsigned char>(c))) {
      ++i;
    } else if (text.compare(i, 2, "/*") == 0) {
      const std::size_t end = text.find("*/", i + 2);
      if (end == std::string::npos) errors.push_back({i, 2, "this comment is not closed", "*/", 0});
      i = end == std::string::npos ? text.size() : end + 2;
    } else if (is_name_start(c)) {
      std::size_t end = i;
      while (end < text.size() && is_name_part(text[end])) ++end;
      add(TokenKind::kName, end);
    } else if (is_digit(c) || (c == '.' && i + 1 < text.size() && is_digit(text[i + 1]))) {
      add(TokenKind::kNumber, number_end(text, i + 1));
    } else if (c == '"' || c == '\'') {
      std::size_t end = i + 1;
      while (end < text.size() && text[end] != c) end += text[end] == '\\' ? 2 : 1;
      if (end >= text.size())
        errors.push_back({i, text.size() - i, "this string is not closed", std::string(1, c), 0});
      add(TokenKind::kString, std::min(end + 1, text.size()));
    } else if (kSinglePunctuation.find(c) != std::string_view::npos) {
      std::size_t length = 1;
      for (std::string_view candidate : kLongPunctuation)
        if (text.compare(i, candidate.size(), candidate) == 0)
          length = std::max(length, candidate.size());
      add(TokenKind::kPunctuation, i + length);
    } else {
      const std::size_t end = foreign_end(text, i);
      errors.push_back(foreign_character(text, i, end, tokens));
      i = end;
    }
  }
  tokens.push_back({TokenKind::kEnd, "", text.size()});
  return tokens;
}

std::string describe(const Token& token) {
  return token.kind == TokenKind::kEnd ? "the end of the text" : "'" + token.text + "'";
}

const Token& TokenCursor::peek(std::size_t ahead) const {
  return tokens_[std::min(position_ + ahead, tokens_.size() - 1)];
}

const Token& TokenCursor::take() {
  const Token& token = peek();
  if (token.kind != TokenKind::kEnd) ++position_;
  return token;
}

bool TokenCursor::at(std::string_view punctuation) const {
  return peek().kind == TokenKind::kPunctuation && peek().text == punctuation;
}

bool TokenCursor::accept(std::string_view punctuation) {
  if (!at(punctuation)) return false;
  ++position_;
  return true;
}

void TokenCursor::expect_closing(std::string_view closer, const Token& opener) {
  if (accept(closer)) return;
  const std::string wanted(closer);
  if (peek().kind == TokenKind::kEnd)
    throw SyntaxError{{opener.offset, opener.text.size(),
                       "this '" + opener.text + "' is never closed: expected '" + wanted + "'", "",
                       0}};
  if (at("**")) fail("'**' is not an operator here", "pow(a, b)");
  fail("expected '" + wanted + "', got " + describe(peek()));
}

std::string TokenCursor::operation() const {
  if (peek().kind != TokenKind::kPunctuation) return "";
  std::string joined = peek().text;
  if (joined != ">") return joined;
  for (std::size_t ahead = 1; ahead <= 2; ++ahead) {
    const Token& next = peek(ahead);
    const bool touches = next.offset == peek().offset + joined.size();
    if (!touches || next.kind != TokenKind::kPunctuation) break;
    if (next.text == "=" || next.text == "==") return next.text == "=" ? joined + "=" : joined;
    if (next.text != ">" || ahead == 2) break;
    joined += ">";
  }
  return joined;
}

void TokenCursor::skip_operation(const std::string& operation) {
  position_ += operation[0] == '>' ? operation.size() : 1;
}

void TokenCursor::fail(const std::string& message, const std::string& suggestion) const {
  const Token& token = peek();
  throw SyntaxError{
      {token.offset, std::max<std::size_t>(token.text.size(), 1), message, suggestion, 0}};
}

std::size_t TokenCursor::end_of_previous() const {
  return position_ == 0 ? 0 : tokens_[position_ - 1].offset + tokens_[position_ - 1].text.size();
}

}  // namespace tenon::codegen::expr
