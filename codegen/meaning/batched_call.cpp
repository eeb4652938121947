#include "codegen/meaning/batched_call.h"

#include <algorithm>

namespace tenon::codegen {
namespace {

std::string without_spaces(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (!std::isspace(static_cast<unsigned char>(c))) result += c;
  }
  return result;
}

}  // namespace

std::optional<std::vector<std::string>> moved_dimensions(const Operator& op) {
  const std::string text = without_spaces(op.batched->text);
  const std::string head = op.base_name() + "(";
  if (!text.starts_with(head) || !text.ends_with(")")) return std::nullopt;
  std::vector<std::string> dims;
  std::string argument;
  size_t position = 0;
  for (size_t i = head.size(); i < text.size(); ++i) {
    if (i + 1 < text.size() && text[i] != ',') {
      argument += text[i];
      continue;
    }
    const size_t equals = argument.find('=');
    std::string name = argument.substr(equals == std::string::npos ? 0 : equals + 1);
    const bool moved = name.ends_with("+1");
    if (moved) name.resize(name.size() - 2);
    // Each argument as itself, by its place or its name.
    const auto& args = op.schema.args;
    const std::string of = equals != std::string::npos ? argument.substr(0, equals)
                           : position < args.size()    ? args[position].name
                                                       : "";
    if (of != name) return std::nullopt;
    if (moved) dims.push_back(name);
    argument.clear();
    ++position;
  }
  if (position != op.schema.args.size()) return std::nullopt;
  return dims;
}

std::string batched_name(const Operator& op) {
  Operator hidden;
  hidden.schema = op.schema;
  hidden.schema.name = "_" + op.base_name() + "_batched";
  return hidden.name();
}

}  // namespace tenon::codegen
