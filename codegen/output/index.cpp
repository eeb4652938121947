#include "codegen/output/index.h"

#include <algorithm>

namespace tenon::codegen {
namespace {

std::string one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
  return text;
}

std::string line(const char* kind, const std::string& name, const ir::Place& place,
                 const std::string& text) {
  return std::string(kind) + "\t" + name + "\t" + place.file + ":" + std::to_string(place.line) +
         "\t" + text + "\n";
}

std::string formula_line(const ir::Node& node, const ir::NodeFormula& formula) {
  std::string name = node.name + " ";
  const char* comma = "";
  for (const size_t output : formula.outputs) {
    name += comma + node.inputs[output].name;
    comma = ", ";
  }
  return line("formula", name, formula.place, one_line(formula.original));
}

}  // namespace

std::string print_index(const ir::Library& library) {
  std::string text;
  for (const ir::Entry& entry : library.operators) {
    const ir::Form& form = entry.forms[0];
    text += line("operator", entry.name, form.place, form.schema);
    for (const KernelDeclaration& declaration : entry.declarations) {
      text +=
          line("kernel", declaration.name, form.place, form.schema + "\t" + declaration.signature);
    }
    if (!entry.node) continue;
    text += line("node", entry.node->name, entry.node->place, entry.name);
    for (const ir::NodeFormula& formula : entry.node->formulas)
      text += formula_line(*entry.node, formula);
  }
  return text;
}

}  // namespace tenon::codegen
