#include "codegen/schema/parse_default.h"

#include <charconv>

namespace tenon::schema::detail {

namespace {

// Deep enough for any use, shallow enough for the stack when the text is hostile.
constexpr int kMaxNesting = 16;

bool parse_value(TokenStream& tokens, DefaultValue& result, int depth);

bool parse_number(TokenStream& tokens, const Token& token, DefaultValue& result) {
  if (std::optional<int64_t> whole = whole_number(token.text)) {
    // C++ would take it for an octal number.
    const size_t first = token.text.find_first_not_of("+-");
    if (token.text[first] == '0' && first + 1 < token.text.size()) {
      tokens.error(token.span, "`" + std::string(token.text) + "` begins with a superfluous 0",
                   std::to_string(*whole));
      return false;
    }
    result.value = *whole;
    return true;
  }
  std::string_view digits = token.text;
  if (digits.front() == '+') digits.remove_prefix(1);
  double value = 0;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool is_integer = digits.find_first_not_of("-0123456789") == std::string_view::npos;
  if (status != std::errc() || end != digits.data() + digits.size() || is_integer) {
    tokens.error(token.span, "`" + std::string(token.text) + "` is no number, or out of range");
    return false;
  }
  result.value = value;
  return true;
}

bool parse_string(TokenStream& tokens, const Token& token, DefaultValue& result) {
  const std::string_view text = token.text;
  if (text.size() < 2 || text.back() != text.front()) return false;
  if (text.find('\n') != std::string_view::npos) {
    tokens.error(token.span, "a string ends on its line; write a line break as `\\n`");
    return false;
  }
  StringValue value;
  for (size_t i = 1; i + 1 < text.size(); ++i) {
    char c = text[i];
    if (c == '\\' && i + 2 < text.size()) {
      c = text[++i];
      if (c == 'n') c = '\n';
      if (c == 't') c = '\t';
    }
    value.text += c;
  }
  result.value = std::move(value);
  return true;
}

bool parse_list(TokenStream& tokens, DefaultValue& result, int depth) {
  if (depth >= kMaxNesting) {
    tokens.error(tokens.peek().span, "the default is nested too deeply");
    return false;
  }
  tokens.advance();
  ListValue items;
  result.text = "[";
  if (!tokens.at(TokenKind::kRightBracket)) {
    do {
      DefaultValue item;
      if (!parse_value(tokens, item, depth + 1)) return false;
      if (!items.empty()) result.text += ',';
      result.text += item.text;
      items.push_back(std::move(item));
    } while (tokens.accept(TokenKind::kComma));
  }
  result.text += ']';
  result.value = std::move(items);
  return tokens.expect(TokenKind::kRightBracket, "or `,` in the list");
}

bool parse_value(TokenStream& tokens, DefaultValue& result, int depth) {
  const Token token = tokens.peek();
  result.text = token.text;
  switch (token.kind) {
  case TokenKind::kNumber: tokens.advance(); return parse_number(tokens, token, result);
  case TokenKind::kString: tokens.advance(); return parse_string(tokens, token, result);
  case TokenKind::kIdentifier:
    tokens.advance();
    if (token.text == "None") {
      result.value = NoneValue{};
    } else if (token.text == "True" || token.text == "False") {
      result.value = token.text == "True";
    } else {
      result.value = NameValue{std::string(token.text)};
    }
    return true;
  case TokenKind::kLeftBracket: return parse_list(tokens, result, depth);
  default: return tokens.unexpected("a default value");
  }
}

}  // namespace

std::optional<int64_t> whole_number(std::string_view text) {
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  int64_t value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool parse_default(TokenStream& tokens, DefaultValue& result) {
  return parse_value(tokens, result, 0);
}

}  // namespace tenon::schema::detail
