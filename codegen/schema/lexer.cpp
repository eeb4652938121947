#include "codegen/schema/lexer.h"

namespace tenon::schema {

namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_alpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_continuation_byte(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

class Lexer {
 public:
  Lexer(std::string_view text, std::vector<ParseError>& errors) : text_(text), errors_(errors) {}

  std::vector<Token> run() {
    std::vector<Token> tokens;
    tokens.reserve(text_.size() / 3 + 1);
    do {
      while (pos_ < text_.size() && is_space(text_[pos_])) ++pos_;
      const size_t begin = pos_;
      const TokenKind kind = next();
      tokens.push_back({kind,
                        {static_cast<uint32_t>(begin), static_cast<uint32_t>(pos_)},
                        text_.substr(begin, pos_ - begin)});
    } while (tokens.back().kind != TokenKind::kEnd);
    return tokens;
  }

 private:
  char peek(size_t ahead = 0) const {
    return pos_ + ahead < text_.size() ? text_[pos_ + ahead] : '\0';
  }

  TokenKind take(TokenKind kind, size_t length = 1) {
    pos_ += length;
    return kind;
  }

  TokenKind next() {
    if (pos_ >= text_.size()) return TokenKind::kEnd;
    const char c = peek();
    if (is_alpha(c)) {
      while (is_alpha(peek()) || is_digit(peek())) ++pos_;
      return TokenKind::kIdentifier;
    }
    if (c == '-' && peek(1) == '>') return take(TokenKind::kArrow, 2);
    const bool signed_number =
        (c == '-' || c == '+') && (is_digit(peek(1)) || is_alpha(peek(1)) || peek(1) == '.');
    if (is_digit(c) || signed_number || (c == '.' && is_digit(peek(1)))) return number();
    switch (c) {
    case '(': return take(TokenKind::kLeftParen);
    case ')': return take(TokenKind::kRightParen);
    case '[': return take(TokenKind::kLeftBracket);
    case ']': return take(TokenKind::kRightBracket);
    case ',': return take(TokenKind::kComma);
    case '.': return take(TokenKind::kDot);
    case '*': return take(TokenKind::kStar);
    case '?': return take(TokenKind::kQuestion);
    case '!': return take(TokenKind::kExclamation);
    case '|': return take(TokenKind::kBar);
    case '=': return take(TokenKind::kEqual);
    case '"':
    case '\'': return string();
    case ':':
      if (peek(1) == ':') return take(TokenKind::kColonColon, 2);
      break;
    default: break;
    }
    ++pos_;
    while (is_continuation_byte(peek())) ++pos_;
    return TokenKind::kUnknown;
  }

  TokenKind number() {
    ++pos_;
    while (true) {
      const char c = peek();
      const char last = text_[pos_ - 1];
      const bool exponent_sign = (c == '-' || c == '+') && (last == 'e' || last == 'E');
      if (!is_digit(c) && !is_alpha(c) && c != '.' && !exponent_sign) break;
      ++pos_;
    }
    return TokenKind::kNumber;
  }

  TokenKind string() {
    const size_t begin = pos_;
    const char quote = text_[pos_++];
    while (pos_ < text_.size() && text_[pos_] != quote) {
      pos_ += text_[pos_] == '\\' && pos_ + 1 < text_.size() ? 2 : 1;
    }
    if (pos_ < text_.size()) {
      ++pos_;
    } else {
      errors_.push_back({{static_cast<uint32_t>(begin), static_cast<uint32_t>(pos_)},
                         "this string has no closing quote",
                         {}});
    }
    return TokenKind::kString;
  }

  std::string_view text_;
  std::vector<ParseError>& errors_;
  size_t pos_ = 0;
};

}  // namespace

std::string_view describe(TokenKind kind) {
  switch (kind) {
  case TokenKind::kEnd: return "the end";
  case TokenKind::kIdentifier: return "a name";
  case TokenKind::kNumber: return "a number";
  case TokenKind::kString: return "a string";
  case TokenKind::kLeftParen: return "`(`";
  case TokenKind::kRightParen: return "`)`";
  case TokenKind::kLeftBracket: return "`[`";
  case TokenKind::kRightBracket: return "`]`";
  case TokenKind::kComma: return "`,`";
  case TokenKind::kDot: return "`.`";
  case TokenKind::kColonColon: return "`::`";
  case TokenKind::kStar: return "`*`";
  case TokenKind::kQuestion: return "`?`";
  case TokenKind::kExclamation: return "`!`";
  case TokenKind::kBar: return "`|`";
  case TokenKind::kEqual: return "`=`";
  case TokenKind::kArrow: return "`->`";
  case TokenKind::kUnknown: return "a character outside the language";
  }
  return {};
}

std::vector<Token> tokenize(std::string_view text, std::vector<ParseError>& errors) {
  return Lexer(text, errors).run();
}

}  // namespace tenon::schema
