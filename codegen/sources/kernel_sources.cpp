#include "codegen/sources/kernel_sources.h"
#include "codegen/sources/kernel_macros.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

namespace tenon::codegen {
namespace {

namespace fs = std::filesystem;

bool is_name_start(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool is_name_part(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

using Token = CppToken;

/// The tokens that matter for finding a definition; literals are dropped.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<Token> run() {
    std::vector<Token> tokens;
    while (at_ < text_.size()) {
      if (skip()) continue;
      const size_t begin = at_;
      if (is_name_start(text_[at_])) {
        while (at_ < text_.size() && is_name_part(text_[at_])) ++at_;
        if (skip_raw_string(text_.substr(begin, at_ - begin))) continue;
      } else {
        at_ += starts("::") || starts("->") ? 2 : 1;
      }
      tokens.push_back({text_.substr(begin, at_ - begin), begin});
      line_start_ = false;
    }
    return tokens;
  }

 private:
  bool starts(std::string_view prefix) const { return text_.substr(at_, prefix.size()) == prefix; }

  void skip_to(std::string_view end, size_t from) {
    const size_t found = text_.find(end, from);
    at_ = found == std::string_view::npos ? text_.size() : found + end.size();
  }

  /// To the end of the line, past continued ones.
  void skip_line() {
    while (at_ < text_.size() && text_[at_] != '\n') at_ += text_[at_] == '\\' ? 2 : 1;
  }

  void skip_quoted(char quote) {
    for (++at_; at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n'; ++at_) {
      if (text_[at_] == '\\') ++at_;
    }
    ++at_;
  }

  /// R"delimiter(...)delimiter" after its prefix was read as a name.
  bool skip_raw_string(std::string_view prefix) {
    if (prefix.back() != 'R' || prefix.size() > 3 || at_ >= text_.size() || text_[at_] != '"') {
      return false;
    }
    const size_t open = text_.find('(', at_);
    if (open == std::string_view::npos) return false;
    const std::string end = ")" + std::string(text_.substr(at_ + 1, open - at_ - 1)) + "\"";
    skip_to(end, open);
    return true;
  }

  bool skip() {
    const char c = text_[at_];
    if (c == '\n') {
      line_start_ = true;
      ++at_;
    } else if (std::isspace(static_cast<unsigned char>(c))) {
      ++at_;
    } else if (starts("//")) {
      skip_line();
    } else if (starts("/*")) {
      skip_to("*/", at_ + 2);
    } else if (c == '#' && line_start_) {
      skip_line();
    } else if (c == '"' || c == '\'') {
      skip_quoted(c);
    } else if (std::isdigit(static_cast<unsigned char>(c))) {
      // A number with its separators: 1'000'000.
      while (at_ < text_.size() && (is_name_part(text_[at_]) || text_[at_] == '\'')) ++at_;
    } else {
      return false;
    }
    return true;
  }

  std::string_view text_;
  size_t at_ = 0;
  bool line_start_ = true;
};

/// Index after the parenthesis that closes the one at `open`, or the end.
size_t after_parentheses(const std::vector<Token>& tokens, size_t open) {
  int depth = 0;
  for (size_t i = open; i < tokens.size(); ++i) {
    if (tokens[i].text == "(") ++depth;
    if (tokens[i].text == ")" && --depth == 0) return i + 1;
  }
  return tokens.size();
}

/// Index of the body that follows the parameters, perhaps after `noexcept` or `-> type`, or none.
std::optional<size_t> find_body(const std::vector<Token>& tokens, size_t i) {
  const auto text = [&] { return i < tokens.size() ? tokens[i].text : std::string_view(); };
  if (text() == "noexcept") ++i;
  if (text() == "->") {
    while (!text().empty() && text() != "{" && text() != ";") ++i;
  }
  return text() == "{" ? std::optional(i) : std::nullopt;
}

/// Offset after the brace that closes the one at `open`.
size_t body_end(const std::vector<Token>& tokens, size_t open) {
  int depth = 0;
  for (size_t i = open; i < tokens.size(); ++i) {
    if (tokens[i].text == "{") ++depth;
    if (tokens[i].text == "}" && --depth == 0) return tokens[i].offset + 1;
  }
  return tokens.back().offset + tokens.back().text.size();
}

bool is_keyword(std::string_view name) {
  return name == "if" || name == "for" || name == "while" || name == "switch" || name == "catch";
}

}  // namespace

std::vector<CppToken> cpp_tokens(std::string_view text) { return Lexer(text).run(); }

std::vector<KernelDefinition> find_definitions(std::string_view text) {
  const std::vector<Token> tokens = cpp_tokens(text);
  std::vector<KernelDefinition> found;
  for (size_t i = 1; i + 1 < tokens.size(); ++i) {
    if (tokens[i + 1].text != "(" || !is_name_start(tokens[i].text[0])) continue;
    if (is_keyword(tokens[i].text)) continue;
    const auto body = find_body(tokens, after_parentheses(tokens, i + 1));
    if (!body) continue;
    const bool qualified = i >= 2 && tokens[i - 1].text == "::" && tokens[i - 2].text == "native";
    found.push_back(
        {std::string(tokens[i].text), qualified, tokens[i].offset, body_end(tokens, *body)});
  }
  return found;
}

bool KernelSources::add(const std::string& path) {
  if (!fs::is_directory(path)) {
    if (!fs::exists(path)) return false;
    add_file(path);
    return true;
  }
  std::vector<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(path)) {
    const std::string extension = entry.path().extension();
    if (extension == ".cpp" || extension == ".cu") found.push_back(entry.path().string());
  }
  std::sort(found.begin(), found.end());
  for (const auto& file : found) add_file(file);
  return true;
}

void KernelSources::add_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  files_.push_back({path, std::move(text).str()});
  for (const auto& find : {find_definitions, find_macro_definitions}) {
    for (const KernelDefinition& one : find(files_.back().text)) {
      auto& known = one.qualified ? qualified_ : unqualified_;
      known.emplace(one.name, Place{files_.size() - 1, one.offset});
    }
  }
}

}  // namespace tenon::codegen
