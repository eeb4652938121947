#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "codegen/schema/lexer.h"

namespace tenon::schema::detail {

/// Tokens of a text and the place that the parser has reached. A failed expectation is reported
/// once per place and gives false.
class TokenStream {
 public:
  TokenStream(std::string_view text, std::vector<ParseError>& errors)
      : errors_(errors), tokens_(tokenize(text, errors)) {}

  const Token& peek(size_t ahead = 0) const;
  bool at(TokenKind kind) const { return peek().kind == kind; }
  const Token& advance();
  bool accept(TokenKind kind);
  /// `where` continues "expected `(`".
  bool expect(TokenKind kind, std::string_view where);
  /// End of the token before the current one.
  uint32_t previous_end() const;

  bool has_errors() const { return !errors_.empty(); }
  void error(Span span, std::string message, std::string suggestion = {});
  /// "expected <wanted>, got <the current token>"; always false.
  bool unexpected(std::string_view wanted);

 private:
  std::vector<ParseError>& errors_;
  std::vector<Token> tokens_;
  size_t pos_ = 0;
};

}  // namespace tenon::schema::detail
