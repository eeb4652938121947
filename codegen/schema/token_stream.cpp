#include "codegen/schema/token_stream.h"

#include <algorithm>

namespace tenon::schema::detail {

const Token& TokenStream::peek(size_t ahead) const {
  return tokens_[std::min(pos_ + ahead, tokens_.size() - 1)];
}

const Token& TokenStream::advance() {
  const Token& token = peek();
  if (pos_ + 1 < tokens_.size()) ++pos_;
  return token;
}

bool TokenStream::accept(TokenKind kind) {
  if (!at(kind)) return false;
  advance();
  return true;
}

bool TokenStream::expect(TokenKind kind, std::string_view where) {
  if (accept(kind)) return true;
  return unexpected(std::string(describe(kind)) + " " + std::string(where));
}

uint32_t TokenStream::previous_end() const { return pos_ == 0 ? 0 : tokens_[pos_ - 1].span.end; }

void TokenStream::error(Span span, std::string message, std::string suggestion) {
  errors_.push_back({span, std::move(message), std::move(suggestion)});
}

bool TokenStream::unexpected(std::string_view wanted) {
  const Token& token = peek();
  // The lexer has already said what is wrong with an unclosed string, and the end of a truncated
  // schema is the end of everything that is still open.
  for (const ParseError& before : errors_) {
    if (before.span.begin == token.span.begin) return false;
  }
  if (token.kind == TokenKind::kUnknown && static_cast<unsigned char>(token.text[0]) >= 0x80) {
    error(token.span,
          "a name has ASCII letters, digits and _, got `" + std::string(token.text) + "`");
    return false;
  }
  const std::string got =
      token.kind == TokenKind::kEnd ? "the end" : "`" + std::string(token.text) + "`";
  error(token.span, "expected " + std::string(wanted) + ", got " + got);
  return false;
}

}  // namespace tenon::schema::detail
