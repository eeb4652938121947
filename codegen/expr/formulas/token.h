#pragma once

#include "codegen/expr/graph/expr_error.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::codegen::expr {

enum class TokenKind : std::uint8_t { kName, kNumber, kString, kPunctuation, kEnd };

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string text;
  std::size_t offset = 0;
};

/// Splits C++-like text. Punctuation is matched longest first, except that `>` always stands alone
/// (TokenCursor::operation joins `>>` and `>=`), so that nested template arguments close. The last
/// token is kEnd. Comments are skipped. Characters that fit nothing and unclosed strings are added
/// to `errors`.
std::vector<Token> tokenize(const std::string& text, std::vector<ExprError>& errors);

/// A mistake that ends the parse of one text.
struct SyntaxError {
  ExprError error;
};

/// A position in a token sequence, with the steps both parsers share.
class TokenCursor {
 public:
  explicit TokenCursor(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  const Token& peek(std::size_t ahead = 0) const;
  const Token& take();
  bool at(std::string_view punctuation) const;
  bool accept(std::string_view punctuation);
  /// Puts another token in the place of the current one.
  void put(Token token) { tokens_[position_] = std::move(token); }

  /// Takes `closer`, or throws a SyntaxError that says what was found and where `opener` was.
  void expect_closing(std::string_view closer, const Token& opener);

  /// The operator here, with `>`, `>`, `=` joined where they touch; empty if none is here.
  std::string operation() const;
  void skip_operation(const std::string& operation);

  /// Throws a SyntaxError at the current token.
  [[noreturn]] void fail(const std::string& message, const std::string& suggestion = "") const;

  std::size_t position() const { return position_; }
  void rewind(std::size_t position) { position_ = position; }
  std::size_t end_of_previous() const;

 private:
  std::vector<Token> tokens_;
  std::size_t position_ = 0;
};

/// `'text'`, or "the end of the text".
std::string describe(const Token& token);

}  // namespace tenon::codegen::expr
