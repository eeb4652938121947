#include "codegen/output/index.h"

#include <algorithm>

#include "codegen/model/kernel_declarations.h"

namespace tenon::codegen {
namespace {

std::string one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
  return text;
}

std::string line(const char* kind, const std::string& name, const Json& place,
                 const std::string& text) {
  return std::string(kind) + "\t" + name + "\t" + place["file"].get<std::string>() + ":" +
         std::to_string(place["line"].get<int>()) + "\t" + text + "\n";
}

std::string formula_line(const Json& node, const Json& formula) {
  std::string name = node["name"].get<std::string>() + " ";
  const char* comma = "";
  for (const Json& output : formula["outputs"]) {
    name += comma + node["inputs"][output.get<size_t>()]["name"].get<std::string>();
    comma = ", ";
  }
  return line("formula", name, formula, one_line(formula["original"]));
}

}  // namespace

std::string emit_index(const Json& ir) {
  std::string text;
  for (const Json& entry : ir["operators"]) {
    const std::string name = entry["name"];
    const Json& form = entry["forms"][0];
    text += line("operator", name, form, form["schema"]);
    for (const Json& declaration : entry["declarations"]) {
      text += line("kernel", declaration["name"], form,
                   form["schema"].get<std::string>() + "\t" + kernel_signature(form, declaration));
    }
    const Json& node = entry["node"];
    if (node.is_null()) continue;
    text += line("node", node["name"], node, name);
    for (const Json& formula : node["formulas"]) text += formula_line(node, formula);
  }
  return text;
}

}  // namespace tenon::codegen
