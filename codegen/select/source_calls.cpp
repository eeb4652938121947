#include "codegen/select/source_calls.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "codegen/sources/kernel_sources.h"

namespace tenon::codegen {
namespace {

namespace fs = std::filesystem;

bool is_name(std::string_view token) {
  return std::isalpha(static_cast<unsigned char>(token[0])) || token[0] == '_';
}

/// The last entry of a constructor's list of initialisers looks like a function: `: size_(n) {`.
bool follows_initialiser(std::string_view text, size_t offset) {
  while (offset > 0 && std::isspace(static_cast<unsigned char>(text[offset - 1]))) --offset;
  if (offset == 0) return false;
  const char before = text[offset - 1];
  return before == ',' || (before == ':' && (offset < 2 || text[offset - 2] != ':'));
}

/// Parts of the text that no other file can call: `namespace {` and what Highway compiles for each
/// instruction set.
std::vector<std::pair<size_t, size_t>> private_parts(std::string_view text) {
  const auto tokens = cpp_tokens(text);
  std::vector<std::pair<size_t, size_t>> parts;
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (tokens[i].text != "namespace") continue;
    size_t open = i + 1;
    while (open < tokens.size() && (is_name(tokens[open].text) || tokens[open].text == "::"))
      ++open;
    if (open == tokens.size() || tokens[open].text != "{") continue;
    if (open != i + 1 && tokens[open - 1].text != "HWY_NAMESPACE") continue;
    int depth = 0;
    for (size_t k = open; k < tokens.size(); ++k) {
      if (tokens[k].text == "{") ++depth;
      if (tokens[k].text == "}" && --depth == 0) {
        parts.emplace_back(tokens[open].offset, tokens[k].offset);
        break;
      }
    }
  }
  return parts;
}

/// The functions that are in no other, and what is between them.
void split_functions(SourceText& file) {
  const auto hidden = private_parts(file.text);
  const auto is_private = [&](size_t offset) {
    return std::any_of(hidden.begin(), hidden.end(), [&](const auto& part) {
      return part.first < offset && offset < part.second;
    });
  };
  size_t at = 0;
  for (const KernelDefinition& one : find_definitions(file.text)) {
    if (one.offset < at || follows_initialiser(file.text, one.offset)) continue;
    file.rest += file.text.substr(at, one.offset - at) + "\n";
    file.functions.push_back({one.name, one.qualified, is_private(one.offset),
                              file.text.substr(one.offset, one.end - one.offset)});
    at = one.end;
  }
  file.rest += file.text.substr(at);
}

std::vector<std::string> includes_of(const std::string& text) {
  std::vector<std::string> found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("#include \"", 0) != 0) continue;
    const size_t begin = line.find('"') + 1;
    found.push_back(line.substr(begin, line.find('"', begin) - begin));
  }
  return found;
}

}  // namespace

SourceCalls calls_of(std::string_view text) {
  const auto tokens = cpp_tokens(text);
  SourceCalls calls;
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    const std::string_view token = tokens[i].text;
    const std::string_view before = i ? tokens[i - 1].text : std::string_view(";");
    if (!is_name(token)) continue;
    const std::string name(token);
    const std::string_view after = tokens[i + 1].text;
    const bool in_ops = before == "::" && i >= 2 && tokens[i - 2].text == "ops";
    if (after == "::" && in_ops) calls.functions.insert(name);
    if (after != "(") continue;
    if (before == "." || before == "->") {
      calls.methods.insert(name);
    } else if (before == "::" && i >= 2 && tokens[i - 2].text == "std") {
      continue;
    } else if (before == "::" && i >= 2 && tokens[i - 2].text == "native") {
      calls.kernels.insert(name);
    } else {
      calls.functions.insert(name);
    }
  }
  return calls;
}

std::string SourceText::needed_by(const std::set<std::string>& kernels) const {
  std::string needed = rest;
  std::set<size_t> taken;
  std::set<std::string> mentioned;
  const auto mention = [&](std::string_view part) {
    for (const CppToken& token : cpp_tokens(part)) {
      if (is_name(token.text)) mentioned.emplace(token.text);
    }
  };
  mention(rest);
  for (bool grown = true; grown;) {
    grown = false;
    for (size_t i = 0; i < functions.size(); ++i) {
      const SourceFunction& f = functions[i];
      const bool wanted = f.is_kernel && kernels.contains(f.name);
      if (!wanted && !mentioned.contains(f.name)) continue;
      if (!taken.insert(i).second) continue;
      needed += "\n" + f.text;
      mention(f.text);
      grown = true;
    }
  }
  return needed;
}

std::map<std::string, SourceText> read_sources(const std::string& root,
                                               const std::vector<std::string>& folders) {
  std::map<std::string, SourceText> files;
  for (const std::string& folder : folders) {
    if (!fs::is_directory(fs::path(root) / folder)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(root) / folder)) {
      const std::string extension = entry.path().extension();
      if (extension != ".cpp" && extension != ".cu" && extension != ".h" && extension != ".cuh") {
        continue;
      }
      std::ifstream in(entry.path(), std::ios::binary);
      std::ostringstream text;
      text << in.rdbuf();
      SourceText file;
      file.text = std::move(text).str();
      file.includes = includes_of(file.text);
      split_functions(file);
      files.emplace(fs::relative(entry.path(), root).generic_string(), std::move(file));
    }
  }
  return files;
}

}  // namespace tenon::codegen
