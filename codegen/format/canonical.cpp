#include "codegen/format/canonical.h"

#include <algorithm>
#include <array>

#include "codegen/yaml/reader.h"
#include "codegen/yaml/short_schema.h"

namespace tenon::codegen {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

// Words that some YAML version reads as a boolean or as nothing.
bool is_reserved(std::string text) {
  constexpr std::array<std::string_view, 9> kWords = {"true", "false", "yes",  "no", "on",
                                                      "off",  "null",  "none", "y"};
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text == "n" || std::find(kWords.begin(), kWords.end(), text) != kWords.end();
}

}  // namespace

std::string canonical_text(std::optional<ValueForm> form, const std::string& text) {
  if (!form) return text;
  switch (*form) {
  case ValueForm::kSchema: return canonical_schema(text);
  case ValueForm::kFlag:
  case ValueForm::kOutputs: return text == "true" ? "True" : text == "false" ? "False" : text;
  case ValueForm::kBackends:
    return text == "true" || text == "false" ? canonical_text(ValueForm::kFlag, text)
                                             : canonical_key(text);
  case ValueForm::kDispatch:
  case ValueForm::kDtypes:
  case ValueForm::kNames:
  case ValueForm::kVariants:
  case ValueForm::kTags: return canonical_key(text);
  default: return text;
  }
}

std::string canonical_key(const std::string& text) { return detail::join_names({text, {}, {}}); }

std::optional<std::string> plain_scalar(const std::string& text, bool in_flow) {
  if (text.empty() || !is_letter(text[0]) || is_reserved(text)) return std::nullopt;
  if (text.back() == ' ' || text.back() == ':') return std::nullopt;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    const bool ends = (c == ':' || c == ' ') && (c == ':' ? next == ' ' : next == '#');
    if (ends || c < ' ' || c > '~') return std::nullopt;
    if (in_flow && (std::string_view(",[]{}").find(c) != std::string_view::npos || c == ':')) {
      return std::nullopt;
    }
  }
  return text;
}

std::string quoted_scalar(const std::string& text) {
  std::string result;
  const bool single = text.find_first_of("\"\\") != std::string::npos;
  const char quote = single ? '\'' : '"';
  result += quote;
  for (const char c : text) {
    result += c;
    if (single && c == quote) result += c;
  }
  return result + quote;
}

}  // namespace tenon::codegen
