#include "codegen/sources/kernel_macros.h"

#include <cctype>
#include <map>

namespace tenon::codegen {
namespace {

/// A macro with parameters, as a file defines it.
struct Macro {
  std::vector<std::string> parameters;
  std::string body;
};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

std::string trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\n");
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(" \t\n") - begin + 1));
}

/// "a, (b, c)" at its outer commas.
std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (i < text.size() && (c != ',' || depth > 0)) continue;
    parts.push_back(trimmed(text.substr(begin, i - begin)));
    begin = i + 1;
  }
  return parts;
}

/// The word at `at`, which moves past it.
std::string take_word(std::string_view text, size_t& at) {
  const size_t begin = at;
  while (at < text.size() && is_word(text[at])) ++at;
  return std::string(text.substr(begin, at - begin));
}

std::map<std::string, Macro> macros_of(std::string_view text) {
  constexpr std::string_view kDefine = "#define ";
  std::map<std::string, Macro> macros;
  for (size_t at = text.find(kDefine); at != std::string_view::npos;
       at = text.find(kDefine, at + 1)) {
    size_t end = at;
    std::string line;
    for (; end < text.size() && text[end] != '\n'; ++end) {
      const bool continued = text[end] == '\\' && end + 1 < text.size() && text[end + 1] == '\n';
      line += continued ? ' ' : text[end];
      end += continued;
    }
    size_t inside = kDefine.size();
    const std::string name = take_word(line, inside);
    const size_t close = line.find(')', inside);
    if (inside >= line.size() || line[inside] != '(' || close == std::string::npos) continue;
    const std::string_view parameters =
        std::string_view(line).substr(inside + 1, close - inside - 1);
    macros[name] = {split(parameters), line.substr(close + 1)};
  }
  return macros;
}

std::string expand(const Macro& macro, const std::vector<std::string>& arguments) {
  std::string text;
  for (size_t i = 0; i < macro.body.size();) {
    if (macro.body.compare(i, 2, "##") == 0) {
      while (!text.empty() && text.back() == ' ') text.pop_back();
      i = macro.body.find_first_not_of(' ', i + 2);
      if (i == std::string::npos) break;
      continue;
    }
    if (!is_word(macro.body[i])) {
      text += macro.body[i++];
      continue;
    }
    std::string word = take_word(macro.body, i);
    for (size_t k = 0; k < macro.parameters.size() && k < arguments.size(); ++k) {
      if (macro.parameters[k] != word) continue;
      word = arguments[k];
      break;
    }
    text += word;
  }
  return text;
}

}  // namespace

std::vector<KernelDefinition> find_macro_definitions(std::string_view text) {
  std::vector<KernelDefinition> found;
  const std::map<std::string, Macro> macros = macros_of(text);
  if (macros.empty()) return found;
  const std::vector<CppToken> tokens = cpp_tokens(text);
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    const auto macro = macros.find(std::string(tokens[i].text));
    if (macro == macros.end() || tokens[i + 1].text != "(") continue;
    int depth = 0;
    size_t close = i + 1;
    for (; close < tokens.size(); ++close) {
      depth += tokens[close].text == "(" ? 1 : tokens[close].text == ")" ? -1 : 0;
      if (depth == 0) break;
    }
    if (close == tokens.size()) break;
    const size_t begin = tokens[i + 1].offset + 1, end = tokens[close].offset;
    const std::string expanded = expand(macro->second, split(text.substr(begin, end - begin)));
    for (KernelDefinition one : find_definitions(expanded)) {
      one.offset = tokens[i].offset;
      one.end = end + 1;
      found.push_back(std::move(one));
    }
  }
  return found;
}

}  // namespace tenon::codegen
