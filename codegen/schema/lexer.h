#pragma once

#include <string_view>
#include <vector>

#include "codegen/schema/source.h"

namespace tenon::schema {

enum class TokenKind : uint8_t {
  kEnd,
  kIdentifier,
  kNumber,  // digits, then anything a number may hold: 1, -1, 0.5, 1e-05; also the malformed `3x`
  kString,  // quoted, quotes included
  kLeftParen,
  kRightParen,
  kLeftBracket,
  kRightBracket,
  kComma,
  kDot,
  kColonColon,
  kStar,
  kQuestion,
  kExclamation,
  kBar,
  kEqual,
  kArrow,
  kUnknown,
};

/// Text of a token in an error message: "`->`", "a name", "the end".
std::string_view describe(TokenKind kind);

struct Token {
  TokenKind kind = TokenKind::kEnd;
  Span span;
  std::string_view text;  // points into the text given to tokenize()
};

/// Splits a schema into tokens; the last one is kEnd. White space, line breaks included, separates
/// tokens and is otherwise ignored. A character outside the language becomes kUnknown, an unclosed
/// string a kString that is reported in `errors`.
std::vector<Token> tokenize(std::string_view text, std::vector<ParseError>& errors);

}  // namespace tenon::schema
